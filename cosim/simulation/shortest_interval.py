"""How close together points in time may be."""

from __future__ import annotations

import math


def shortest_interval(start: float, until: float) -> float:
    """The shortest distance of points between two times that keeps all of them apart, s.

    Closer ones would be rounded to the same time, and be lost.

    Examples
    --------
    >>> shortest_interval(1e15, 1e15 + 0.5)
    0.25
    """
    return 2.0 * math.ulp(max(abs(start), abs(until)))
