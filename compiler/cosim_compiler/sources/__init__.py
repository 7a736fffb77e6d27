"""Facts read from the text of a function: its faults, what it writes, what its results depend on."""
