"""The command line's own parts: options that all commands have, JSON, and ``cosim plugins``."""
