"""What a component declares, and what follows from it."""
