"""Steps of a few units in the last place of the time, which are too short for libraries."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
SHORTEST = 16
"""Units in the last place; libraries refuse steps of less than two to four."""


def is_too_short(t: float, t_stop: float) -> bool:
    """Whether `t_stop` is so close to `t` that a library may refuse to take the step.

    Examples
    --------
    >>> is_too_short(0.3, 0.1 + 0.2), is_too_short(0.3, 0.4), is_too_short(0.0, 5e-324)
    (True, False, True)
    """
    return t_stop - t <= SHORTEST * math.ulp(max(abs(t), abs(t_stop)))


class ShortStep:
    """A step along a straight line: exact to rounding, since the square of its length is negligible."""

    jacobians = factorizations = 0

    def __init__(self, evaluation: Callable[[float, Vector], Vector], t: float, y: Vector) -> None:
        self.t, self.y = t, y
        self._start, self._y_start, self._rate = t, y, evaluation(t, y)

    def step(self, t_stop: float) -> bool:
        """Take the step to `t_stop`."""
        self.t, self.y = t_stop, self.at(t_stop)
        return True

    def at(self, t: float) -> Vector:
        """The states at a time, on the line of the short step."""
        return self._y_start + (t - self._start) * self._rate
