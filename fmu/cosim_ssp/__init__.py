"""SSP 1.0 and 2.0: read into a coupling, and written."""
