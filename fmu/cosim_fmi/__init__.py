"""One FMU: its file, what it declares, its functions; nothing of a co-simulation."""
