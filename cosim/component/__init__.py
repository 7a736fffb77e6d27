"""The declarations of a component, and what follows from them."""
