"""Plugins: hooks, the loader, the registry."""
