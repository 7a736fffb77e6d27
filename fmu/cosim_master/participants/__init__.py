"""What takes part in a co-simulation: FMUs, systems of ours, other processes, values over time."""
