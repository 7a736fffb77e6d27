"""The points in time at which participants exchange values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import common_resolution, rational_time, shortest_interval, tick_time

EXACT = 2.0**53


@dataclass(frozen=True)
class CommunicationPoints:
    """The points ``start + i * step``, the last one clipped to `until`.

    Start and step are rational numbers (0.3 is 3/10, as for ``cosim.every``), and every point is the double
    nearest to ``start + i * step``: points and ticks that meet on paper are one time. A last step that would
    be shorter than a billionth of `step` is rounding and is not made, unless it is the only one.

    Parameters
    ----------
    start : float
        s.
    until : float
        s, at least `start`.
    step : float
        s, greater than 0.

    Raises
    ------
    ModelError
        When these numbers make no sense, or more steps than can be counted exactly.

    Examples
    --------
    >>> points = CommunicationPoints(0.0, 1.0, 0.3)
    >>> points.count, [points.time(i) for i in range(points.count + 1)]
    (4, [0.0, 0.3, 0.6, 0.9, 1.0])
    """

    start: float
    until: float
    step: float

    def __post_init__(self) -> None:
        problems = []
        shortest = shortest_interval(self.start, self.until)
        if not (math.isfinite(self.step) and self.step > 0.0):
            problems.append(
                cosim.Problem("step", f"is {self.step!r} s, needs a finite number greater than 0")
            )
        if not math.isfinite(self.start):
            problems.append(cosim.Problem("start", f"is {self.start!r} s, needs a finite number"))
        if not (math.isfinite(self.until) and self.until >= self.start):
            text = f"is {self.until!r} s, needs a finite number, at least the start ({self.start:g} s)"
            problems.append(cosim.Problem("until", text))
        if not problems and not (self.until - self.start) / self.step < 2.0**53:
            problems.append(cosim.Problem("step", f"is {self.step!r} s: too small for {self.until:g} s"))
        elif not problems and self.step < min(shortest, self.until - self.start):
            text = (
                f"is {self.step!r} s, where times up to {self.until:g} s cannot tell points closer than "
                f"{shortest:g} s apart: give more, or start nearer to 0 s"
            )
            problems.append(cosim.Problem("step", text))
        if not problems and not self.grid[-1]:
            text = (
                f"is {self.step!r} s, which cannot be counted from {self.start!r} s on in one resolution of "
                "64 bits: give times with fewer decimals"
            )
            problems.append(cosim.Problem("step", text))
        if problems:
            raise cosim.ModelError(problems)

    @cached_property
    def grid(self) -> NDArray[np.int64]:
        """For `tick_time`: whole and rest of the start, of the step, and the resolution, 0 if none fits."""
        whole, rest, of_start = rational_time(self.start)
        length, more, of_step = rational_time(self.step)
        common = common_resolution(of_start, of_step) if of_start and of_step else 0
        if not common:
            return np.zeros(5, dtype=np.int64)
        scaled = whole, rest * (common // of_start), length, more * (common // of_step), common
        return np.array(scaled, dtype=np.int64)

    @cached_property
    def count(self) -> int:
        """Number of steps."""
        exact = (self.until - self.start) / self.step
        nearest = max(round(exact), 1 if exact > 0.0 else 0)
        return nearest if abs(exact - nearest) <= 1e-9 + 1e-15 * exact else math.ceil(exact)

    def time(self, index: int) -> float:
        """The communication point `index`, s; index `count` is exactly `until`."""
        return tick_time(index, *self.grid.tolist()) if index < self.count else self.until

    def times(self, first: int, last: int) -> NDArray[np.float64]:
        """The communication points `first` … `last` - 1, the same numbers as `time` gives.

        Returns
        -------
        ndarray, shape (last - first,), s
        """
        whole, rest, length, more, resolution = self.grid.tolist()
        least, each = whole * resolution + rest, length * resolution + more
        if resolution < EXACT and abs(least) + max(last, 1) * each < EXACT:
            points = (least + each * np.arange(first, last)) / float(resolution)
        else:
            points = np.array([tick_time(i, *self.grid.tolist()) for i in range(first, last)])
        if first <= self.count < last:
            points[self.count - first :] = self.until
        return points
