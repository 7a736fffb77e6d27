"""The base classes that plugins derive from."""
