"""Co-simulations as files."""
