"""Measures of signals: delays, sums, integrals, sources."""
