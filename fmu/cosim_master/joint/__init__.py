"""Model Exchange participants that are solved as one system."""
