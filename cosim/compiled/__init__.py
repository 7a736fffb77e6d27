"""From plain Python functions to machine code, and the walker that calls it."""
