"""Directions as people type them. Not for kernel functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def direction_parameter(description: str, default: Any = None) -> Any:
    """Declare a parameter that is a direction: everything that `direction` reads."""
    return cosim.parameter(
        shape=3, default=default, convert=direction, description=description, elements="xyz"
    )


def direction(value: Any) -> NDArray[np.float64]:
    """A unit vector from ``"x"``, ``"y"``, ``"z"`` (``"-x"`` …) or three numbers of any length but zero.

    >>> direction("-z").tolist()
    [-0.0, -0.0, -1.0]
    >>> direction((3, 4, 0)).tolist()
    [0.6, 0.8, 0.0]
    """
    if isinstance(value, str):
        sign = -1.0 if value.startswith("-") else 1.0
        if value.lstrip("-") not in AXES or value.count("-") > 1:
            raise ValueError(f"axis is '{value}', needs x, y, z, -x, -y, -z or three numbers")
        return sign * np.array(AXES[value.lstrip("-")])
    try:
        vector = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise ValueError(f"axis is {value!r}, needs x, y, z, -x, -y, -z or three numbers")
    length = float(np.sqrt(vector @ vector))
    if length == 0.0:
        raise ValueError("axis is a vector of length zero, which has no direction")
    return vector / length
