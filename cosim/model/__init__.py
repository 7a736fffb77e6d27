"""Models: parts and connections, in Python and in files."""
