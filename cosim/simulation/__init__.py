"""Step(): events, the continuous phase, and what a run records."""
