"""What the command line brings itself: options that all commands have, JSON, and ``cosim plugins``."""
