"""Curves through the points of a table, with their integrals; for kernel functions.

A table is `x` (rising) and `y`; `m` are the slopes at the points. Straight lines go between the points, or
cubics that have these slopes; beyond both ends the curve goes on along its tangent.
"""

from __future__ import annotations

from cosim_mechanics.spatial import Reals, Slot


def slopes_at_points(x: Reals, y: Reals, straight: bool, m: Slot) -> None:
    """Write the slopes at all points: shape-preserving ones, or for straight lines those at the two ends.

    References
    ----------
    F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput. 5 (1984): weighted harmonic means of the secants.

    Examples
    --------
    >>> slopes = [0.0, 0.0, 0.0]
    >>> slopes_at_points((0.0, 1.0, 2.0), (0.0, 1.0, 2.0), False, slopes)
    >>> slopes
    [1.0, 1.0, 1.0]
    """
    n = len(x)
    for i in range(n - 1):
        if not x[i + 1] > x[i]:
            raise ValueError("the table does not rise: each length has to be larger than the one before")
    first = (y[1] - y[0]) / (x[1] - x[0])
    last = (y[n - 1] - y[n - 2]) / (x[n - 1] - x[n - 2])
    m[0] = first
    m[n - 1] = last
    if straight or n == 2:
        return
    for i in range(1, n - 1):
        h0 = x[i] - x[i - 1]
        h1 = x[i + 1] - x[i]
        d0 = (y[i] - y[i - 1]) / h0
        d1 = (y[i + 1] - y[i]) / h1
        m[i] = 0.0
        if d0 * d1 > 0.0:
            m[i] = 3.0 * (h0 + h1) / ((2.0 * h1 + h0) / d0 + (h1 + 2.0 * h0) / d1)
    m[0] = end_slope(x[1] - x[0], x[2] - x[1], first, (y[2] - y[1]) / (x[2] - x[1]))
    before = (y[n - 2] - y[n - 3]) / (x[n - 2] - x[n - 3])
    m[n - 1] = end_slope(x[n - 1] - x[n - 2], x[n - 2] - x[n - 3], last, before)


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


def energies_at_points(x: Reals, y: Reals, m: Reals, straight: bool, e: Slot) -> None:
    """Write the integral of the curve from the first point to each.

    >>> integrals = [0.0, 0.0]
    >>> energies_at_points((0.0, 2.0), (1.0, 3.0), (1.0, 1.0), True, integrals)
    >>> integrals
    [0.0, 4.0]
    """
    e[0] = 0.0
    for i in range(len(x) - 1):
        h = x[i + 1] - x[i]
        bend = 0.0 if straight else h * h * (m[i] - m[i + 1]) / 12.0
        e[i + 1] = e[i] + 0.5 * h * (y[i] + y[i + 1]) + bend


def interval(x: Reals, at: float) -> int:
    """Index of the interval that holds `at`; -1 before the table, n - 1 beyond it.

    >>> [interval((0.0, 1.0, 2.0), at) for at in (-0.5, 0.0, 1.5, 2.5)]
    [-1, 0, 1, 2]
    """
    low = -1
    high = len(x)
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= at:
            low = middle
        else:
            high = middle
    return low


def value(at: float, x: Reals, y: Reals, m: Reals, straight: bool) -> float:
    """The curve at one place.

    >>> value(1.5, (0.0, 1.0, 2.0), (0.0, 1.0, 2.0), (1.0, 1.0, 1.0), False)
    1.5
    """
    n = len(x)
    i = interval(x, at)
    if i < 0:
        return y[0] + m[0] * (at - x[0])
    if i >= n - 1:
        return y[n - 1] + m[n - 1] * (at - x[n - 1])
    h = x[i + 1] - x[i]
    s = (at - x[i]) / h
    d = y[i + 1] - y[i]
    if straight:
        return y[i] + s * d
    a = h * m[i] - d
    b = d - h * m[i + 1]
    return y[i] + s * d + s * (1.0 - s) * (a * (1.0 - s) + b * s)


def integral(at: float, x: Reals, y: Reals, m: Reals, e: Reals, straight: bool) -> float:
    """The integral of the curve from the first point to one place.

    >>> integral(2.0, (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0), False)
    2.0
    """
    n = len(x)
    i = interval(x, at)
    if i < 0:
        r = at - x[0]
        return y[0] * r + 0.5 * m[0] * r * r
    if i >= n - 1:
        r = at - x[n - 1]
        return e[n - 1] + y[n - 1] * r + 0.5 * m[n - 1] * r * r
    h = x[i + 1] - x[i]
    s = (at - x[i]) / h
    d = y[i + 1] - y[i]
    area = s * y[i] + 0.5 * s * s * d
    if not straight:
        a = h * m[i] - d
        b = d - h * m[i + 1]
        q = s * s
        area += a * (0.5 * q - 2.0 / 3.0 * q * s + 0.25 * q * q) + b * (q * s / 3.0 - 0.25 * q * q)
    return e[i] + h * area
