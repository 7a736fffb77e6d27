"""Distances of recorded points in time."""

from __future__ import annotations

import math

from cosim.errors import ModelError
from cosim.options import seconds

POINTS = 500
MOST_POINTS = 1e8


def shortest_interval(start: float, until: float) -> float:
    """The shortest distance of points between two times that keeps all of them apart, s.

    Closer ones would be rounded to the same time, and be lost.

    Examples
    --------
    >>> shortest_interval(1e15, 1e15 + 0.5)
    0.25
    """
    return 2.0 * math.ulp(max(abs(start), abs(until)))


def checked_interval(wanted: float | str | None, origin: float, start: float, until: float) -> float:
    """The distance of the recorded points of a run, s.

    Parameters
    ----------
    wanted : float or str, optional
        s, or text with a unit; a 500th of the time from `origin` unless given.
    origin : float, s
        Where the points are counted from.
    start, until : float, s
        Of the run.

    Raises
    ------
    ModelError
        It is not more than 0, or infinite; it makes too many points, or points that no times tell apart.
    """
    interval = (until - origin) / POINTS if wanted is None else seconds(wanted, "output_interval")
    if not 0.0 < interval < math.inf:
        raise ModelError.of("output interval", f"is {interval} s, needs a finite time, more than 0")
    points = (until - start) / interval
    if points > MOST_POINTS:
        text = f"{interval:g} s makes {points:.3g} points up to {until:g} s; {MOST_POINTS:g} at most"
        raise ModelError.of("output interval", text)
    shortest = shortest_interval(start, until)
    if interval < shortest:
        raise ModelError.of(
            "output interval",
            f"is {interval:g} s, where times up to {until:g} s cannot tell points closer than {shortest:g} s "
            "apart: give more, or start nearer to 0 s",
        )
    return interval
