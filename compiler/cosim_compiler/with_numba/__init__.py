"""Compiling with numba: all that touches its inner parts."""
