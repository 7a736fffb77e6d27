"""Closed forms of elastic contacts: Hertz's depth, Mindlin's stiffness."""

from __future__ import annotations

import math

GRAVITY = 9.81
POISSON = 0.3
"""The default of the contacts."""


def hertz_depth(load: float, modulus: float, radius: float) -> float:
    """Return the depth of a sphere that carries a load, N."""
    return float((3.0 * load / (4.0 * modulus * math.sqrt(radius))) ** (2.0 / 3.0))


def mindlin_stiffness(modulus: float, radius: float, depth: float) -> float:
    """Return the tangential stiffness of a sphere that is pressed in, N/m."""
    return 4.0 * (1.0 - POISSON) / (2.0 - POISSON) * modulus * math.sqrt(radius * depth)
