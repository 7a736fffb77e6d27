"""Signals: sources with units, and blocks."""
