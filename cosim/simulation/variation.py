"""States and their tangents over a stretch of time, in a kernel function: Gragg's extrapolated midpoint rule.

What the tangents follow is the solution itself, through the states that the run has computed.

References
----------
E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, chapter II.9.
"""

from __future__ import annotations

from cosim.walker import walk_tangents

ROUNDS = 5
"""Rows of the extrapolation table: order 10."""
VARIATION_SIGNATURE = "TIiiffFFIFFFFFFFF>i"


def follow_variation(
    table, ints, first, last, t, length, p, d, k, h, c, states, rates, p_dots, d_dots, c_dots, work
):
    """Move states and tangents on by a time; 0, or 1 + the index of a block that failed.

    Parameters
    ----------
    table : ndarray of int64
        Of tangents, see `SystemTangents`.
    states : ndarray
        The states, then their tangents along each direction. Moved on.
    rates : ndarray
        The tangent of the time along each direction.
    p_dots, d_dots, c_dots : ndarray
        Tangents of parameters, discrete variables and the cache, one direction after the other.
    work : ndarray
        ``2 + (ROUNDS + 3) * len(states)`` numbers; the first one is the estimated error afterwards, in parts
        of the size of each state or tangent (of 1 where it is smaller).
    """
    size = len(states)
    start = work[2 : 2 + size]
    before = work[2 + size : 2 + 2 * size]
    slope = work[2 + 2 * size : 2 + 3 * size]
    for m in range(size):
        start[m] = states[m]
    work[0] = 0.0
    for j in range(ROUNDS):
        row = work[2 + (3 + j) * size : 2 + (4 + j) * size]
        steps = 2 * (j + 1)
        step = length / steps
        status = evaluate_variation(
            table, ints, first, last, t, start, p, d, k, h, c, rates, p_dots, d_dots, c_dots, slope
        )
        if status != 0:
            return status
        for m in range(size):
            before[m] = start[m]
            states[m] = start[m] + step * slope[m]
        for i in range(1, steps):
            status = evaluate_variation(
                table,
                ints,
                first,
                last,
                t + i * step,
                states,
                p,
                d,
                k,
                h,
                c,
                rates,
                p_dots,
                d_dots,
                c_dots,
                slope,
            )
            if status != 0:
                return status
            for m in range(size):
                following = before[m] + 2.0 * step * slope[m]
                before[m] = states[m]
                states[m] = following
        status = evaluate_variation(
            table, ints, first, last, t + length, states, p, d, k, h, c, rates, p_dots, d_dots, c_dots, slope
        )
        if status != 0:
            return status
        for m in range(size):
            row[m] = 0.5 * (states[m] + before[m] + step * slope[m])
        for i in range(j):
            column = j - 1 - i
            earlier = work[2 + (3 + column) * size : 2 + (4 + column) * size]
            later = work[2 + (4 + column) * size : 2 + (5 + column) * size]
            ratio = (j + 1.0) / (column + 1.0)
            for m in range(size):
                better = later[m] + (later[m] - earlier[m]) / (ratio * ratio - 1.0)
                if column == 0 and j == ROUNDS - 1:
                    work[0] = max(work[0], abs(better - earlier[m]) / max(1.0, abs(better)))
                earlier[m] = better
    for m in range(size):
        states[m] = work[2 + 3 * size + m]
    return 0


def evaluate_variation(
    table, ints, first, last, t, states, p, d, k, h, c, rates, p_dots, d_dots, c_dots, slope
):
    """The derivatives of states and tangents; 0, or 1 + the index of a block that failed."""
    count = len(rates)
    n = len(states) // (count + 1)
    for i in range(count):
        c_dot = c_dots[i * len(c) : (i + 1) * len(c)]
        status = walk_tangents(
            table, ints, first, last, t, states[:n], p, d, k, h, c,
            rates[i], states[n * (i + 1) : n * (i + 2)],
            p_dots[i * len(p) : (i + 1) * len(p)], d_dots[i * len(d) : (i + 1) * len(d)], c_dot,
        )  # fmt: skip
        if status != 0:
            return status
        for m in range(n):
            slope[n * (i + 1) + m] = c_dot[m]
    for m in range(n):
        slope[m] = c[m]
    return 0
