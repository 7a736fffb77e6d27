"""What the text of a function says: its faults, what it writes, what its results depend on."""
