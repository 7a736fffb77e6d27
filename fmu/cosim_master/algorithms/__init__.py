"""Master algorithms: in which order participants step and exchange, and how often."""
