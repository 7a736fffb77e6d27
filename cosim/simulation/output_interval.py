"""The interval between recorded points, and the times of these points."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cosim.argument_checks import read_seconds
from cosim.errors import ModelError
from cosim.rational import EXACT
from cosim.rational_doubles import rational_time
from cosim.run_data.records.recording import OutputGrid

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


@functools.lru_cache(maxsize=64)  # runs that are repeated have the same grid
def counted_grid(origin: float, interval: float) -> Mapping[str, float]:
    """The origin and the interval of output times, as multiples of their common resolution; else zeros.

    Examples
    --------
    >>> counted_grid(0.0, 0.3)
    {'origin_count': 0.0, 'interval_count': 3.0, 'resolution': 10.0}
    >>> counted_grid(1 / 3, 0.5)
    {'origin_count': 2.0, 'interval_count': 3.0, 'resolution': 6.0}
    """
    exact = [rational_time(origin), rational_time(interval)]
    if all(resolution for _, _, resolution in exact):
        resolution = math.lcm(*(resolution for _, _, resolution in exact))
        origin_count, interval_count = (
            (whole * of_time + rest) * (resolution // of_time) for whole, rest, of_time in exact
        )
        if max(resolution, abs(origin_count), abs(interval_count)) < EXACT:
            return {
                "origin_count": float(origin_count),
                "interval_count": float(interval_count),
                "resolution": float(resolution),
            }
    return {"origin_count": 0.0, "interval_count": 0.0, "resolution": 0.0}


def output_times(origin: float, interval: float, points: NDArray[np.int64]) -> NDArray[np.float64]:
    """The output times of points with these numbers, as the Step computes them (`OutputGrid.next_time`), s.

    Examples
    --------
    >>> output_times(0.0, 0.1, np.arange(4)).tolist()
    [0.0, 0.1, 0.2, 0.3]
    """
    grid = OutputGrid()
    grid.origin, grid.interval = origin, interval
    for name, count in counted_grid(origin, interval).items():
        setattr(grid, name, count)
    times = []
    for point in points.tolist():
        grid.point = float(point)
        times.append(grid.next_time())
    return np.array(times, dtype=float)


def checked_interval(requested: float | str | None, origin: float, start: float, until: float) -> float:
    """The distance of the recorded points of a run, s.

    Parameters
    ----------
    requested : float or str, optional
        s, or text with a unit; by default a 500th of the time from `origin`.
    origin : float, s
        The time of point 0.
    start, until : float, s
        The beginning and the end of the run.

    Raises
    ------
    ModelError
        The interval is not positive or not finite; or it makes too many points, or equal times.
    """
    interval = (until - origin) / POINTS if requested is None else read_seconds(requested, "output_interval")
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
