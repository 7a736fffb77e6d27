"""Simplified Newton's method for one implicit stage."""

from __future__ import annotations

import math

from cosim.kit import EVALUATIONS, FAILED_TIME, SETTINGS_HEADER, USUAL_ERROR, WORST, larger, walk
from cosim_integrators.implicit.layout import (
    BAD_NUMBER,
    CONVERGENCE,
    EPSILON,
    FACTOR,
    ITERATIONS,
    MORE,
    NEWTON,
    OK,
    RATE,
    ROUNDING,
    SLOW,
    TOLERANCE,
    V_BASE,
    V_LOOSE,
    V_RIGHT,
    V_SHIFT,
    V_SLOPE,
    V_START,
    V_WEIGHT,
    power,
    sizes_in,
    vector,
)
from cosim_integrators.implicit.matrices import solve_real
from cosim_integrators.kit.error_norm import usual
from cosim_integrators.kit.state_sizes import SMALLEST_FLOOR, note_births

DIVERGING = 0.99
IMPROVES = 0.5


def set_weights(y, step, method, settings, memory, work):
    """1 / tolerance of each state from the size that it has now: its own, and as if it were of size 1."""
    n = y.shape[0]
    floors = sizes_in(memory, method, n)
    slope = vector(work, V_SLOPE, n)
    weight = vector(work, V_WEIGHT, n)
    loose = vector(work, V_LOOSE, n)
    for m in range(n):
        relative = settings[SETTINGS_HEADER + m]
        large = max(settings[SETTINGS_HEADER + n + m], relative * abs(y[m]))
        own = max(floors[m], relative * max(abs(y[m]), step * abs(slope[m])))
        loose[m] = 1.0 / (method[TOLERANCE] * large)
        weight[m] = 1.0 / (method[TOLERANCE] * min(own, large)) if own > SMALLEST_FLOOR else loose[m]


def size_of_error(error, start, end, method, settings, absolute, work):
    """Largest component of the error of a step, in tolerances."""
    n = error.shape[0]
    relative = settings[SETTINGS_HEADER : SETTINGS_HEADER + n]
    worst = 0.0
    for m in range(n):
        tolerance = max(absolute[m], relative[m] * max(abs(start[m]), abs(end[m])))
        one = abs(error[m]) / (method[TOLERANCE] * tolerance)
        if one > worst or one != one:
            worst = larger(worst, one)
            work[WORST] = float(m)
    return worst


def size_of_attempt(t, step, error, end, slope, order, method, settings, memory, work):
    """As `size_of_error`, of an attempt from `t`; notes whether it may be rounding of small states.

    `slope` is a derivative at its end, or near it, `order` the exponent of the step in the error.
    """
    n = error.shape[0]
    start = vector(work, V_START, n)
    sizes = sizes_in(memory, method, n)
    note_births(t, step, end, slope, order, settings, sizes)
    work[USUAL_ERROR] = size_of_error(error, start, end, method, settings, usual(settings, n), work)
    return size_of_error(error, start, end, method, settings, sizes, work)


def is_refined(own, previous, expected, wanted):
    """Whether an iteration that has converged for states of size 1 may end for small ones, too.

    `own` is the size of the correction in tolerances of the states' own sizes, `previous` the one before.
    Where corrections hardly shrink any more, they are rounding.
    """
    return expected * own <= wanted or own > IMPROVES * previous


def own_size(correction, work):
    """Largest component of a correction, in tolerances of the states' own sizes."""
    n = correction.shape[0]
    weight = vector(work, V_WEIGHT, n)
    size = 0.0
    for m in range(n):
        size = larger(size, abs(correction[m]) * weight[m])
    return size


def judge(iteration, most, size, previous, previous_rate, method, memory, work):
    """Whether an iteration goes on: 1 it has converged, 0 it goes on, else SLOW.

    `size` is that of the correction, in tolerances. Leaves the rate of convergence in ``work[RATE]``
    (the mean of the last two) and, where it is too slow, by how much the step should be shortened.

    References
    ----------
    E. Hairer, G. Wanner, RADAU5 (radau5.f), loop of the simplified Newton iteration.
    """
    wanted = method[NEWTON]
    if size == 0.0:
        return 1
    expected = memory[CONVERGENCE]
    stalled = iteration >= most
    work[FACTOR] = 0.5
    if iteration > 1:
        ratio = size / previous
        rate = ratio if iteration == 2 else math.sqrt(ratio * previous_rate)
        work[RATE] = rate
        if rate < DIVERGING:
            expected = rate / (1.0 - rate)
            memory[CONVERGENCE] = max(expected, EPSILON)
            left = expected * size * power(rate, max(0, most - 1 - iteration)) / wanted
            if left >= 1.0 and size > method[ROUNDING]:
                work[FACTOR] = 0.8 * math.pow(min(20.0, left), -1.0 / (4.0 + max(0, most - 1 - iteration)))
                return SLOW
        else:
            stalled = True
    if expected * size <= wanted or (stalled and size <= method[ROUNDING]):
        return 1
    return SLOW if stalled else 0


def begin_iteration(memory):
    """What is expected of the first correction grows a little with each iteration begun."""
    memory[CONVERGENCE] = math.pow(max(memory[CONVERGENCE], EPSILON), 0.8)


def solve_stage(table, ints, first, last, t, y, p, d, k, h, c, weighted, method, memory, work, lu, pattern):
    """Solve ``shift (y - base) = weighted f(t, y)`` from the guess in `y`, with the factors made for it.

    Returns OK, BAD_NUMBER, SLOW or 1 + the index of a block that failed.
    """
    n = y.shape[0]
    base = vector(work, V_BASE, n)
    shift = vector(work, V_SHIFT, n)
    right = vector(work, V_RIGHT, n)
    loose = vector(work, V_LOOSE, n)
    begin_iteration(memory)
    slowest = work[RATE]
    work[RATE] = 0.0
    most = 10 + int(method[MORE])
    previous = 0.0
    previous_own = math.inf
    rate = 0.0
    verdict = 0
    for iteration in range(1, most + 1):
        work[EVALUATIONS] += 1.0
        work[ITERATIONS] += 1.0
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            work[FAILED_TIME] = t
            return status
        for m in range(n):
            right[m] = c[m] - shift[m] * (y[m] - base[m]) / weighted
        solve_real(lu, pattern, right)
        size = 0.0
        for m in range(n):
            correction = abs(right[m]) * loose[m]
            if correction > size or correction != correction:
                size = larger(size, correction)
                work[WORST] = float(m)
        if size - size != 0.0:
            work[FAILED_TIME] = t
            return BAD_NUMBER
        if verdict == 0:
            verdict = judge(iteration, most, size, previous, rate, method, memory, work)
        if verdict < 0:
            return verdict
        for m in range(n):
            y[m] += right[m]
        if verdict == 1:
            own = own_size(right, work)
            if iteration == most or is_refined(own, previous_own, memory[CONVERGENCE], method[NEWTON]):
                work[RATE] = max(slowest, work[RATE])
                return OK
            previous_own = own
        rate = size / previous if iteration > 1 else 0.0
        previous = size
    return SLOW
