"""One FMU: its file, declarations and functions; nothing of a co-simulation."""
