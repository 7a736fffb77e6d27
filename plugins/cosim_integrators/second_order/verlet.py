"""Substeps of velocity Verlet, and compositions of them, as kernel functions."""

from __future__ import annotations

import math

from cosim.kit import MEMORY_HEADER, WORK_HEADER
from cosim_integrators.second_order.driver import DIVERGED, evaluate, rates_are_speeds

ITERATIONS = 100
CLOSE = 1e-14  # relative: as near to the solution of its equations as rounding lets a step come
NOISE = 1e-9  # may be left where it shrinks no more: large forces that cancel leave their rounding
PATIENCE = 10  # iterations, before that is believed


def settle(table, ints, first, last, t, y, p, d, k, h, c, work, base, begin, end, half):
    """Solve y[begin:end] = base + half c[begin:end] at `t` by repeated evaluation, from the present `c` on.

    On success state and cache belong together.
    """
    before = math.inf
    for i in range(ITERATIONS):
        change = False
        largest = 0.0
        for m in range(begin, end):
            value = base[m] + half * c[m]
            if abs(value - y[m]) > CLOSE * (abs(base[m]) + abs(half * c[m])):
                change = True
                largest = max(largest, abs(value - y[m]))
            elif value != value:
                return -1
        if not change or (i >= PATIENCE and before <= largest <= NOISE):
            return 0
        before = largest
        for m in range(begin, end):
            y[m] = base[m] + half * c[m]
        status = evaluate(table, ints, first, last, t, y, p, d, k, h, c, work)
        if status != 0:
            return status
    return DIVERGED


def drift_by_speeds(t, t_end, y, c, nq, base, origin):
    """Half a kick and the drift where q' = u; new speeds are guessed."""
    step = t_end - t
    for m in range(nq, y.shape[0]):
        origin[m] = y[m]
        base[m] = y[m] + 0.5 * step * c[m]
        y[m] = base[m] + 0.5 * step * c[m]
    for m in range(nq):
        origin[m] = y[m]
        y[m] = origin[m] + step * base[nq + m]


def verlet_substep(table, ints, first, last, t, t_end, y, p, d, k, h, c, nq, memory, work):
    """Half a kick, a drift, half a kick, from a realized state at `t` to one at `t_end`.

    The second half kick is implicit in the speeds and z, the drift is the trapezoid of N(q) at both ends: so
    the step is symmetric whatever forces and rates depend on.
    """
    n = y.shape[0]
    base = work[WORK_HEADER + 5 * n : WORK_HEADER + 6 * n]
    origin = work[WORK_HEADER + 6 * n : WORK_HEADER + 7 * n]
    half = 0.5 * (t_end - t)
    if memory[MEMORY_HEADER] == 0.0:
        drift_by_speeds(t, t_end, y, c, nq, base, origin)
        status = evaluate(table, ints, first, last, t_end, y, p, d, k, h, c, work)
        if status != 0:
            return status
        if rates_are_speeds(y, c, nq):
            return settle(table, ints, first, last, t_end, y, p, d, k, h, c, work, base, nq, n, half)
        memory[MEMORY_HEADER] = 1.0
        for m in range(n):
            y[m] = origin[m]
    else:
        for m in range(nq, n):
            base[m] = y[m] + half * c[m]
    for m in range(nq, n):
        y[m] = base[m]
    status = evaluate(table, ints, first, last, t, y, p, d, k, h, c, work)
    if status != 0:
        return status
    for m in range(nq):
        base[m] = y[m] + half * c[m]
        y[m] = base[m] + half * c[m]
    status = evaluate(table, ints, first, last, t_end, y, p, d, k, h, c, work)
    if status == 0:
        status = settle(table, ints, first, last, t_end, y, p, d, k, h, c, work, base, 0, nq, half)
    if status == 0:
        status = settle(table, ints, first, last, t_end, y, p, d, k, h, c, work, base, nq, n, half)
    return status


def verlet_substeps(table, ints, first, last, t, t_end, y, p, d, k, h, c, coefficients, memory, work):
    """Verlet steps of the lengths that the coefficients list, as parts of the whole one."""
    nq = int(coefficients[0])
    count = coefficients.shape[0] - 2
    begin = t
    done = 0.0
    for i in range(count):
        done += coefficients[2 + i]
        end = t_end if i == count - 1 else t + done * (t_end - t)
        status = verlet_substep(table, ints, first, last, begin, end, y, p, d, k, h, c, nq, memory, work)
        if status != 0:
            return status
        begin = end
    return 0
