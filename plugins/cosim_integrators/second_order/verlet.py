"""Substeps of velocity Verlet, and compositions of them, as kernel functions."""

from __future__ import annotations

import math

from cosim_integrators.kit.counted_evaluation import evaluate_stage
from cosim_integrators.kit.rounding import noise_of_holds
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.second_order.fixed_steps import DIVERGED, rates_are_speeds

ITERATIONS = 100
CLOSE = 1e-14  # relative: smaller changes are rounding
NOISE = 1e-9  # changes below it that no longer shrink are rounding of large forces that cancel
PATIENCE = 10  # iterations before changes that do not shrink count as noise, or as a series
PATIENCE_OF_HOLDS = 20  # the same for the noise of held witnesses, which may hide a series that diverges
SLOW = 50  # iterations after which changes that still shrink count as a series
NEAR_1 = 1e-3  # a ratio that is nearer to 1 says nothing about the sum of a series


def solve_kick(system, method, t, begin, end, half):
    """Solve y[begin:end] = base + half c[begin:end] at `t` by repeated evaluation, from the present `c` on.

    While a witness is held, changes that shrink slowly or not at all are treated as a geometric series, since
    the force that holds it is proportional to speeds. The next values are the sum of the series, even if it
    diverges. On success state and cache belong together. Returns 0, -1 if a value is not a number, DIVERGED,
    or the status of an evaluation that failed.
    """
    y = system.y
    c = system.c
    base = method.base
    previous_largest = math.inf
    worst = begin  # the index of the largest change
    previous_change = 0.0
    factor = 1.0  # by which the last change was multiplied
    for i in range(ITERATIONS):
        has_changed = False
        largest = 0.0
        previous_worst = worst
        for m in range(begin, end):
            value = base[m] + half * c[m]
            if abs(value - y[m]) > CLOSE * (abs(base[m]) + abs(half * c[m])):
                has_changed = True
                if abs(value - y[m]) > largest:
                    largest = abs(value - y[m])
                    worst = m
            elif value != value:
                return -1
        noise = noise_of_holds(method, y) if i >= PATIENCE_OF_HOLDS else 0.0
        if not has_changed or (i >= PATIENCE and previous_largest <= largest <= max(NOISE, noise)):
            return 0
        is_slow = (i >= PATIENCE and previous_largest <= largest) or i >= SLOW
        is_series = method.slots.holds != 0 and factor == 1.0 and is_slow
        factor = 1.0
        if is_series:
            change = base[previous_worst] + half * c[previous_worst] - y[previous_worst]
            factor = sum_of_series(change / previous_change)
        previous_largest = largest
        previous_change = base[worst] + half * c[worst] - y[worst]
        for m in range(begin, end):
            y[m] = base[m] + half * c[m] if factor == 1.0 else y[m] + factor * (base[m] + half * c[m] - y[m])
        status = evaluate_stage(system, method, t)
        if status != 0:
            return status
    return DIVERGED


def sum_of_series(ratio):
    """The sum 1 + ratio + ratio^2 … = 1 / (1 - ratio), even if the series diverges; 1 if it is too large."""
    return 1.0 / (1.0 - ratio) if abs(1.0 - ratio) > NEAR_1 else 1.0


def drift_by_speeds(system, method, t, t_end):
    """Half a kick and the drift if q' = u, and a guess of the new speeds."""
    y = system.y
    c = system.c
    nq = method.nq
    base = method.base
    origin = method.origin
    step = t_end - t
    for m in range(nq, method.n):
        origin[m] = y[m]
        base[m] = y[m] + 0.5 * step * c[m]
        y[m] = base[m] + 0.5 * step * c[m]
    for m in range(nq):
        origin[m] = y[m]
        y[m] = origin[m] + step * base[nq + m]


def drift_by_rates(system, method, t, t_end):
    """The drift if q' is not u, from half a kick: the mean of N(q) at both ends."""
    y = system.y
    c = system.c
    nq = method.nq
    base = method.base
    half = 0.5 * (t_end - t)
    for m in range(nq, method.n):
        y[m] = base[m]
    status = evaluate_stage(system, method, t)
    if status != 0:
        return status
    for m in range(nq):
        base[m] = y[m] + half * c[m]
        y[m] = base[m] + half * c[m]
    status = evaluate_stage(system, method, t_end)
    return solve_kick(system, method, t_end, 0, nq, half) if status == 0 else status


def verlet_substep(system, method, t, t_end):
    """Half a kick, a drift, half a kick, from a realized state at `t` to one at `t_end`.

    The second half kick is implicit in the speeds and z, the drift takes the mean of N(q) at both ends: so
    the step is symmetric whatever forces and rates depend on.
    """
    y = system.y
    c = system.c
    n = method.n
    nq = method.nq
    base = method.base
    half = 0.5 * (t_end - t)
    has_drifted = False
    if method.memory.rates_differ == 0.0:
        drift_by_speeds(system, method, t, t_end)
        status = evaluate_stage(system, method, t_end)
        if status != 0:
            return status
        has_drifted = rates_are_speeds(method, y, c)
        if not has_drifted:
            method.memory.rates_differ = 1.0
            copy_values(y, method.origin)
    else:
        for m in range(nq, n):
            base[m] = y[m] + half * c[m]
    if not has_drifted:
        status = drift_by_rates(system, method, t, t_end)
        if status != 0:
            return status
    return solve_kick(system, method, t_end, nq, n, half)


def verlet_substeps(system, method, t, t_end):
    """Verlet steps of the lengths that the coefficients list, as parts of the whole one."""
    lengths = method.lengths
    count = lengths.shape[0]
    begin = t
    share = 0.0
    for i in range(count):
        share += lengths[i]
        end = t_end if i == count - 1 else t + share * (t_end - t)
        status = verlet_substep(system, method, begin, end)
        if status != 0:
            return status
        begin = end
    return 0
