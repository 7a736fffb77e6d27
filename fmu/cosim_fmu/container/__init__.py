"""A whole co-simulation as one FMU."""
