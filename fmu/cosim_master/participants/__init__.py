"""Participants: FMUs, systems of this package, other processes, values over time."""
