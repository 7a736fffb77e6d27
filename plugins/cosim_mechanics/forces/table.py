"""Integrals of curves through the points of a table; for kernel functions.

Table and curve are those of `cosim_signals.curves`, from the first point to the last: points (x, y), slopes m
at the points, integrals e from the first point to each.
"""

from __future__ import annotations

from cosim.kit import nearer_side
from cosim_mechanics.spatial import Reals, Slot
from cosim_signals.curves import interval, monotone_slopes, straight_slopes

TANGENT, KEPT, ERROR = 0.0, 1.0, 2.0
"""Beyond the ends of a table: the curve goes on straight, keeps its last value, or there is none."""


def slopes_at_points(x: Reals, y: Reals, straight: bool, m: Slot) -> None:
    """Write the slopes at all points: shape-preserving ones, or for straight lines those at the two ends."""
    n = len(x)
    for i in range(n - 1):
        if not x[i + 1] > x[i]:
            raise ValueError("the lengths do not increase: each must be larger than the one before")
    if straight:
        straight_slopes(x, y, 0, n - 1, m)
    else:
        monotone_slopes(x, y, 0, n - 1, m)


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


def side_of_corner(at: float, x: Reals, straight: bool, extrapolation: float) -> float:
    """The distance of a place from the nearest kink of the curve; the sign changes at each kink.

    At its points the second derivative of the curve that is not straight jumps: the error of a step across
    one is of third order.

    >>> [side_of_corner(at, (0.0, 1.0, 3.0), True, TANGENT) for at in (0.5, 1.5, 3.5)]
    [-0.5, 0.5, 2.5]
    >>> [side_of_corner(at, (0.0, 1.0, 3.0), False, KEPT) for at in (-1.0, 0.5, 1.5, 3.5)]
    [-1.0, 0.5, -0.5, 0.5]
    """
    last = len(x) - 1
    side = 1e300
    for i in range(last + 1):
        if not straight or extrapolation == KEPT or 0 < i < last:
            side = nearer_side(side, at - x[i])
    return side


def integral(at: float, x: Reals, y: Reals, m: Reals, e: Reals, straight: bool) -> float:
    """The integral of the curve from the first point to one place.

    >>> integral(2.0, (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 1.0), False)
    2.0
    """
    n = len(x)
    i = interval(x, 0, n - 1, at)
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
        # the cubic of Hermite is the line above plus s (1 - s) (a (1 - s) + b s), which is integrated here
        a = h * m[i] - d
        b = d - h * m[i + 1]
        q = s * s
        area += a * (0.5 * q - 2.0 / 3.0 * q * s + 0.25 * q * q) + b * (q * s / 3.0 - 0.25 * q * q)
    return e[i] + h * area


def inside(at: float, x: Reals, extrapolation: float) -> float:
    """The place of the table that stands for one beyond its ends, where the curve keeps its last value.

    >>> inside(3.0, (0.0, 1.0), KEPT), inside(3.0, (0.0, 1.0), TANGENT)
    (1.0, 3.0)
    """
    last = x[len(x) - 1]
    if extrapolation == ERROR and (at < x[0] or at > last):
        raise ValueError(
            'the table does not cover this length: add lengths, or set extrapolation="kept" or "tangent"'
        )
    if extrapolation != KEPT:
        return at
    return x[0] if at < x[0] else last if at > last else at
