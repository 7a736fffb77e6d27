"""Instances of an FMU: made, kept for the next run, their states, clocks and log messages."""
