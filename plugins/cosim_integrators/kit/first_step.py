"""Choosing the first step, as a kernel function."""

from __future__ import annotations

import math

from cosim.kit import END, ERROR_ORDER, EVALUATIONS, LARGEST, SETTINGS_HEADER, WORK_HEADER, larger, walk
from cosim_integrators.kit.state_sizes import floor_of

ROUNDING = 1e-15  # of the largest state: what is smaller may be 0


def first_tolerance(m, value, known, largest, settings, n):
    """The tolerance of a state where steps begin, and the largest state is of that size.

    `known` is the largest value that it has had. What is 0 may become as large as the largest state; where
    all are 0, as large as 1.
    """
    size = max(abs(value), known)
    if size <= ROUNDING * largest:
        size = min(1.0, largest) if largest > 0.0 else 1.0
    return max(floor_of(size, settings, n, m), settings[SETTINGS_HEADER + m] * abs(value))


def choose_first_step(table, ints, first, last, t, y, p, d, k, h, c, known, settings, work):
    """Put a first step into ``work[END]``; state and cache are as before.

    From the size of the first derivative and, after a small explicit Euler step, of the second one.
    Returns 0, or 1 + the index of a block that failed at the start.

    References
    ----------
    E. Hairer, S. P. Nørsett, G. Wanner, "Solving Ordinary Differential Equations I", section II.4,
    starting step size; norm and tolerance are those of the error control here.
    """
    n = y.shape[0]
    start = work[WORK_HEADER : WORK_HEADER + n]
    derivative = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    size = 0.0
    slope = 0.0
    largest = 0.0
    for m in range(n):
        largest = larger(largest, max(abs(y[m]), known[m]))
    for m in range(n):
        start[m] = y[m]
        derivative[m] = c[m]
        tolerance = first_tolerance(m, y[m], known[m], largest, settings, n)
        size = larger(size, abs(y[m]) / tolerance)
        slope = larger(slope, abs(c[m]) / tolerance)
    guess = 1e-6
    if size > 1e-5 and slope > 1e-5:
        guess = 0.01 * size / slope
    guess = min(guess, settings[LARGEST])
    for m in range(n):
        y[m] = start[m] + guess * derivative[m]
    work[EVALUATIONS] += 1.0
    status = walk(table, ints, first, last, t + guess, y, p, d, k, h, c)
    curvature = 0.0
    if status == 0:
        for m in range(n):
            tolerance = first_tolerance(m, start[m], known[m], largest, settings, n)
            curvature = larger(curvature, abs(c[m] - derivative[m]) / tolerance / guess)
    rate = larger(slope, curvature)
    chosen = max(1e-6, 1e-3 * guess)
    if rate > 1e-15:
        chosen = math.pow(0.01 / rate, 1.0 / settings[ERROR_ORDER])
    chosen = min(100.0 * guess, chosen)
    # A trial point where the derivative does not exist says only that the step must be small.
    work[END] = chosen if status == 0 and 0.0 < chosen < math.inf else 1e-3 * guess
    for m in range(n):
        y[m] = start[m]
    work[EVALUATIONS] += 1.0
    return walk(table, ints, first, last, t, y, p, d, k, h, c)
