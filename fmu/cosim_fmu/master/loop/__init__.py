"""A run: the start, communication steps in Python or compiled, figures."""
