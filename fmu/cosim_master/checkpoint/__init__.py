"""A whole co-simulation in a file."""
