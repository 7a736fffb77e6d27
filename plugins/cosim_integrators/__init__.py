"""Integrators: explicit Runge–Kutta methods with and without error control."""

import cosim.kit

__getattr__, __dir__ = cosim.kit.late_names(__name__)
