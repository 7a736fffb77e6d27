"""Integration methods, with fixed steps (s) or None, that are exact for the motions of these tests."""

from __future__ import annotations

ERROR_CONTROLLED = (
    *("bdf", "bogacki_shampine", "dormand_prince", "dormand_prince_853", "esdirk43", "heun"),
    *("implicit_euler", "radau3", "radau5", "runge_kutta_3", "runge_kutta_merson", "trapezoid", "tsitouras"),
)
ALWAYS_FIXED = ("explicit_euler", "runge_kutta_4")


OF_SECOND_ORDER = ("generalized_alpha", "semi_implicit_euler", "velocity_verlet", "yoshida_4")


OF_LIBRARIES = ("scipy_bdf", "scipy_dop853", "scipy_lsoda", "scipy_radau")


EVERY = (
    *((method, None) for method in (*ERROR_CONTROLLED, *OF_LIBRARIES)),
    *((method, step) for method in (*ERROR_CONTROLLED, *ALWAYS_FIXED) for step in (0.1, 0.037)),
)
"""Every method that integrates a straight line exactly, up to rounding."""


EVERY_OF_SECOND_ORDER = (
    *EVERY,
    ("generalized_alpha", None),
    *((method, step) for method in OF_SECOND_ORDER for step in (0.1, 0.037)),
)
"""The same, and methods for equations of second order."""
