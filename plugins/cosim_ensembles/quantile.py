"""Quantiles over the recorded points of a run."""

from __future__ import annotations

import math
from collections.abc import Callable


def sort(values):
    """Sort in place by heapsort, which needs no further memory and is fast in every case."""
    count = len(values)
    for start in range(count // 2 - 1, -1, -1):
        sift(values, start, count)
    for end in range(count - 1, 0, -1):
        largest = values[0]
        values[0] = values[end]
        values[end] = largest
        sift(values, 0, end)


def sift(values, start, end):
    """Sift an element down to its place in a heap."""
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and values[child] < values[child + 1]:
            child += 1
        if not values[root] < values[child]:
            return
        moved = values[root]
        values[root] = values[child]
        values[child] = moved
        root = child


def interpolated(values, share):
    """The quantile of some values, linear between two of them; sorts the values in place."""
    for i in range(len(values)):
        if values[i] != values[i]:
            return math.nan
    sort(values)
    rank = share * (len(values) - 1)
    below = int(rank)
    above = min(below + 1, len(values) - 1)
    return values[below] + (rank - below) * (values[above] - values[below])


def quantile_of(share: float) -> Callable[..., float]:
    """The reduction that gives this quantile of the recorded values."""

    def quantile(times, values):
        return interpolated(values, share)

    return quantile
