"""The declarations of an FMU."""
