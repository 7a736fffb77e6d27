"""The trust in a co-simulation: the error of the coupling, and its effect on the results."""
