"""Simplified Newton's method for one implicit stage."""

from __future__ import annotations

import math

from cosim import walk
from cosim_integrators.implicit.layout import (
    CONVERGENCE,
    EPSILON,
    EVALUATIONS,
    FACTOR,
    FAILED_TIME,
    ITERATIONS,
    NEWTON,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    RATE,
    TOLERANCE,
    V_BASE,
    V_RIGHT,
    V_WEIGHT,
    WORST,
    larger,
    power,
    vector,
)
from cosim_integrators.implicit.matrices import solve_real

MOST_ITERATIONS = 10
DIVERGING = 0.99
ROUNDING = 1e-10  # a correction, relative to the state, that may be all rounding when it no longer shrinks


def set_weights(y, settings, scale, weight):
    """``weight`` = 1 / tolerance of each state, from the size that it has now."""
    for m in range(y.shape[0]):
        weight[m] = 1.0 / (settings[TOLERANCE] * max(scale[m], abs(y[m])))


def judge(iteration, most, size, previous, previous_rate, settings, memory, work):
    """Whether an iteration goes on: 1 it has converged, 0 it goes on, else NOT_CONVERGED.

    `size` is that of the correction, in tolerances. Leaves the rate of convergence in ``work[RATE]``
    (the mean of the last two) and, where it is too slow, by how much the step should be shortened.

    References
    ----------
    E. Hairer, G. Wanner, RADAU5 (radau5.f), loop of the simplified Newton iteration.
    """
    wanted = settings[NEWTON]
    if size == 0.0:
        return 1
    expected = memory[CONVERGENCE]
    if iteration > 1:
        ratio = size / previous
        rate = ratio if iteration == 2 else math.sqrt(ratio * previous_rate)
        work[RATE] = rate
        slow = rate >= DIVERGING
        work[FACTOR] = 0.5
        if not slow:
            expected = rate / (1.0 - rate)
            left = expected * size * power(rate, max(0, most - 1 - iteration)) / wanted
            if left >= 1.0:
                slow = True
                excess = min(20.0, max(1e-4, left))
                work[FACTOR] = 0.8 * math.pow(excess, -1.0 / (4.0 + most - 1 - iteration))
            memory[CONVERGENCE] = max(expected, EPSILON)
        if slow:
            return 1 if size * settings[TOLERANCE] <= ROUNDING else NOT_CONVERGED
    if expected * size <= wanted:
        return 1
    if iteration >= most:
        work[FACTOR] = 0.5
        return NOT_CONVERGED
    return 0


def begin_iteration(memory):
    """What is expected of the first correction grows a little with each iteration begun."""
    memory[CONVERGENCE] = math.pow(max(memory[CONVERGENCE], EPSILON), 0.8)


def solve_stage(
    table, ints, first, last, t, y, p, d, k, h, c, weighted, settings, memory, work, lu, pattern
):
    """Solve ``y = base + weighted f(t, y)`` from the guess in `y`; the factors are those of `weighted`.

    Returns OK, NOT_FINITE, NOT_CONVERGED or 1 + the index of a block that failed.
    """
    n = y.shape[0]
    base = vector(work, V_BASE, n)
    right = vector(work, V_RIGHT, n)
    weight = vector(work, V_WEIGHT, n)
    begin_iteration(memory)
    slowest = work[RATE]
    work[RATE] = 0.0
    previous = 0.0
    rate = 0.0
    for iteration in range(1, MOST_ITERATIONS + 1):
        work[EVALUATIONS] += 1.0
        work[ITERATIONS] += 1.0
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            work[FAILED_TIME] = t
            return status
        for m in range(n):
            right[m] = c[m] - (y[m] - base[m]) / weighted
        solve_real(lu, pattern, right)
        size = 0.0
        for m in range(n):
            correction = abs(right[m]) * weight[m]
            if correction > size or correction != correction:
                size = larger(size, correction)
                work[WORST] = float(m)
        if size - size != 0.0:
            work[FAILED_TIME] = t
            return NOT_FINITE
        verdict = judge(iteration, MOST_ITERATIONS, size, previous, rate, settings, memory, work)
        if verdict < 0:
            return verdict
        for m in range(n):
            y[m] += right[m]
        if verdict == 1:
            work[RATE] = max(slowest, work[RATE])
            return OK
        rate = size / previous if iteration > 1 else 0.0
        previous = size
    return NOT_CONVERGED
