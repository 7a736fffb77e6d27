"""Co-simulations as files, and the command that runs them."""
