"""Plugins: the hook, kinds, the loader, the registry."""
