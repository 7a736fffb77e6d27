"""Chooses the length of the first step, as a kernel function."""

from __future__ import annotations

import math

from cosim.kit import nan_max
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.state_sizes import floor_of

ROUNDING = 1e-15  # of the largest state: a smaller state counts as 0
# the constants of the algorithm in the reference of `choose_first_step`
SMALLEST_GUESS = 1e-6  # s, where states or derivatives are too small to tell a time
SMALL = 1e-5  # tolerances
SHARE = 0.01  # of the time in which a state changes by its size, and of the tolerance


def first_tolerance(method, m, value, largest_so_far, largest):
    """The tolerance of state `m` at the first step.

    `largest_so_far` is the largest value that it has had, `largest` that of all states. A state at 0 is
    expected to become as large as the largest state, but at most 1; if all are 0, as large as 1.
    """
    size = max(abs(value), largest_so_far)
    if size <= ROUNDING * largest:
        size = min(1.0, largest) if largest > 0.0 else 1.0
    return max(floor_of(method, m, size), method.relative_tolerances[m] * abs(value))


def choose_first_step(system, method, t, largest_so_far):
    """The length of a first step; `y` is as before, and the cache is not that of `y`.

    From the size of the first derivative and, after a small explicit Euler step, of the second one.
    `largest_so_far` are the largest values that the states have had.

    References
    ----------
    E. Hairer, S. P. Nørsett, G. Wanner, "Solving Ordinary Differential Equations I", section II.4,
    starting step size; norm and tolerance are those of the error control here.
    """
    settings = method.settings
    y = system.y
    c = system.c
    n = method.n
    start = method.start
    derivative = method.end
    size = 0.0
    slope = 0.0
    largest = 0.0
    for m in range(n):
        largest = nan_max(largest, max(abs(y[m]), largest_so_far[m]))
    for m in range(n):
        start[m] = y[m]
        derivative[m] = c[m]
        tolerance = first_tolerance(method, m, y[m], largest_so_far[m], largest)
        size = nan_max(size, abs(y[m]) / tolerance)
        slope = nan_max(slope, abs(c[m]) / tolerance)
    guess = SMALLEST_GUESS
    if size > SMALL and slope > SMALL:
        guess = SHARE * size / slope
    guess = min(guess, settings.largest_step)
    for m in range(n):
        y[m] = start[m] + guess * derivative[m]
    status = evaluate(system, method, t + guess)
    curvature = 0.0
    if status == 0:
        for m in range(n):
            tolerance = first_tolerance(method, m, start[m], largest_so_far[m], largest)
            curvature = nan_max(curvature, abs(c[m] - derivative[m]) / tolerance / guess)
    rate = nan_max(slope, curvature)
    chosen = max(SMALLEST_GUESS, 1e-3 * guess)
    if rate > 1e-15:
        chosen = math.pow(SHARE / rate, 1.0 / settings.error_order)
    chosen = min(100.0 * guess, chosen)
    copy_values(y, start)
    # A trial point where the derivative does not exist says only that the step must be small.
    return chosen if status == 0 and 0.0 < chosen < math.inf else 1e-3 * guess
