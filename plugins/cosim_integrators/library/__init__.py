"""Integrators of other libraries, for comparison and choice: not compiled, not lowered."""
