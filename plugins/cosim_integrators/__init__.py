"""Integrators: explicit Runge–Kutta methods with and without error control."""
