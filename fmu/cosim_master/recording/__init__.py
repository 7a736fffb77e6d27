"""What is kept of a run: rows of values, to memory and to files."""
