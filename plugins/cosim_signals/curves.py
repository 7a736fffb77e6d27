"""Curves through the points of a table; for kernel functions.

A table is `x` and `y`, from the point `first` to the point `last`, between which x rises; `m` are the slopes
at the points. Straight lines go between the points, or cubics that have these slopes; beyond both ends the
curve goes on along its tangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = Sequence[float] | NDArray[np.float64]
Slot = Any  # a view of an array that is written to


def straight_slopes(x: Reals, y: Reals, first: int, last: int, m: Slot) -> None:
    """Write the slopes of straight lines at the two ends; 0 for a single point.

    >>> slopes = [0.0, 9.0, 0.0]
    >>> straight_slopes((0.0, 1.0, 2.0), (0.0, 1.0, 3.0), 0, 2, slopes)
    >>> slopes
    [1.0, 9.0, 2.0]
    """
    if last == first:
        m[first] = 0.0
        return
    m[first] = (y[first + 1] - y[first]) / (x[first + 1] - x[first])
    m[last] = (y[last] - y[last - 1]) / (x[last] - x[last - 1])


def monotone_slopes(x: Reals, y: Reals, first: int, last: int, m: Slot) -> None:
    """Write slopes that keep the shape of the table: no overshoot, rising where the table rises.

    References
    ----------
    F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984): weighted harmonic means of the secants.

    Examples
    --------
    >>> slopes = [0.0, 0.0, 0.0]
    >>> monotone_slopes((0.0, 1.0, 2.0), (0.0, 1.0, 2.0), 0, 2, slopes)
    >>> slopes
    [1.0, 1.0, 1.0]
    """
    straight_slopes(x, y, first, last, m)
    if last - first < 2:
        return
    d_first = m[first]
    d_last = m[last]
    for i in range(first + 1, last):
        h0 = x[i] - x[i - 1]
        h1 = x[i + 1] - x[i]
        d0 = (y[i] - y[i - 1]) / h0
        d1 = (y[i + 1] - y[i]) / h1
        m[i] = 0.0
        if d0 * d1 > 0.0:
            m[i] = 3.0 * (h0 + h1) / ((2.0 * h1 + h0) / d0 + (h1 + 2.0 * h0) / d1)
    second = (y[first + 2] - y[first + 1]) / (x[first + 2] - x[first + 1])
    before = (y[last - 1] - y[last - 2]) / (x[last - 1] - x[last - 2])
    m[first] = end_slope(x[first + 1] - x[first], x[first + 2] - x[first + 1], d_first, second)
    m[last] = end_slope(x[last] - x[last - 1], x[last - 1] - x[last - 2], d_last, before)


def end_slope(h0: float, h1: float, d0: float, d1: float) -> float:
    """Slope at an end from the two secants next to it, limited so that the shape is kept.

    >>> end_slope(1.0, 1.0, 1.0, 3.0)
    0.0
    """
    slope = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
    if slope * d0 <= 0.0:
        return 0.0
    if d0 * d1 <= 0.0 and abs(slope) > 3.0 * abs(d0):
        return 3.0 * d0
    return slope


def spline_slopes(x: Reals, y: Reals, first: int, last: int, m: Slot, work: Slot) -> None:
    """Write the slopes of the cubic spline, whose first two derivatives are continuous.

    At the second and the last but one point the third one is, too ("not a knot"). Two points give a line,
    three a parabola. `work` is as long as `m`.

    References
    ----------
    C. de Boor, *A Practical Guide to Splines*, chapter IV (not opened here); SciPy, ``CubicSpline``, is the
    same curve.

    Examples
    --------
    >>> slopes = [0.0] * 4
    >>> spline_slopes((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 8.0, 27.0), 0, 3, slopes, [0.0] * 4)
    >>> [round(slope, 12) for slope in slopes]
    [0.0, 3.0, 12.0, 27.0]
    """
    straight_slopes(x, y, first, last, m)
    if last - first < 2:
        return
    h0 = x[first + 1] - x[first]
    h1 = x[first + 2] - x[first + 1]
    d0 = (y[first + 1] - y[first]) / h0
    d1 = (y[first + 2] - y[first + 1]) / h1
    if last - first == 2:
        bend = (d1 - d0) / (h0 + h1)
        m[first] = d0 - bend * h0
        m[first + 1] = d0 + bend * h0
        m[last] = d1 + bend * h1
        return
    # Gaussian elimination, row by row: afterwards slope[i] + work[i] slope[i + 1] = m[i].
    work[first] = (h0 + h1) / h1
    m[first] = ((h0 + 2.0 * (h0 + h1)) * h1 * d0 + h0 * h0 * d1) / ((h0 + h1) * h1)
    for i in range(first + 1, last):
        h0 = x[i] - x[i - 1]
        h1 = x[i + 1] - x[i]
        d0 = (y[i] - y[i - 1]) / h0
        d1 = (y[i + 1] - y[i]) / h1
        pivot = 2.0 * (h0 + h1) - h1 * work[i - 1]
        work[i] = h0 / pivot
        m[i] = (3.0 * (h1 * d0 + h0 * d1) - h1 * m[i - 1]) / pivot
    ends = x[last] - x[last - 2]
    right = (h1 * h1 * d0 + (2.0 * ends + h1) * h0 * d1) / ends
    m[last] = (right - ends * m[last - 1]) / (h0 - ends * work[last - 1])
    for j in range(last - first):
        i = last - 1 - j
        m[i] = m[i] - work[i] * m[i + 1]


def interval(x: Reals, first: int, last: int, at: float) -> int:
    """Index of the interval that holds `at`; first - 1 before the table, `last` from its last point on.

    >>> [interval((0.0, 1.0, 2.0), 0, 2, at) for at in (-0.5, 0.0, 1.5, 2.5)]
    [-1, 0, 1, 2]
    """
    low = first - 1
    high = last + 1
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= at:
            low = middle
        else:
            high = middle
    return low


def value(at: float, x: Reals, y: Reals, m: Reals, first: int, last: int, straight: bool) -> float:
    """The curve at one place.

    >>> value(1.5, (0.0, 1.0, 2.0), (0.0, 1.0, 2.0), (1.0, 1.0, 1.0), 0, 2, False)
    1.5
    """
    i = interval(x, first, last, at)
    if i < first:
        return y[first] + m[first] * (at - x[first])
    if i >= last:
        return y[last] + m[last] * (at - x[last])
    h = x[i + 1] - x[i]
    s = (at - x[i]) / h
    d = y[i + 1] - y[i]
    if straight:
        return y[i] + s * d
    a = h * m[i] - d
    b = d - h * m[i + 1]
    return y[i] + s * d + s * (1.0 - s) * (a * (1.0 - s) + b * s)


def derivatives(
    at: float, x: Reals, y: Reals, m: Reals, first: int, last: int, straight: bool
) -> tuple[float, float, float]:
    """The first three derivatives of the curve at one place; at a point those that follow it.

    >>> derivatives(0.5, (0.0, 1.0), (0.0, 1.0), (0.0, 3.0), 0, 1, False)  # x cubed
    (0.75, 3.0, 6.0)
    """
    i = interval(x, first, last, at)
    if i < first:
        return m[first], 0.0, 0.0
    if i >= last:
        return m[last], 0.0, 0.0
    h = x[i + 1] - x[i]
    d = y[i + 1] - y[i]
    if straight:
        return d / h, 0.0, 0.0
    s = (at - x[i]) / h
    a = h * m[i] - d
    b = d - h * m[i + 1]
    c = a * (1.0 - s) + b * s
    slope = d + (1.0 - 2.0 * s) * c + s * (1.0 - s) * (b - a)
    bend = 2.0 * ((1.0 - 2.0 * s) * (b - a) - c)
    return slope / h, bend / (h * h), 6.0 * (a - b) / (h * h * h)
