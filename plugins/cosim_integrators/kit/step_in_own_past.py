"""Steps that read their own past, since a delay is shorter than the step.

The step is repeated with its own dense output in the histories until it no longer changes (fixed-point
iteration on the method of steps). The histories then hold the last attempt but one, which equals the step
within the tolerance of the iteration; it stays there until the step has ended, so that dense output can be
evaluated.
"""

from __future__ import annotations

import math

from cosim.kit import history_at, rarely
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.error_norm import weighted_error
from cosim_integrators.kit.explicit_dense_output import interpolate_explicit
from cosim_integrators.kit.explicit_stages import compute_extra_stages, compute_stages, finish_step
from cosim_integrators.kit.start_of_step import copy_values

MOST_ITERATIONS = 20
CLOSE = 1e-3  # tolerances: a smaller change ends the iteration
CLOSE_FIXED = 1e-6  # the same for fixed steps, where the tolerance says little
NEARLY = 0.1  # tolerances: a change that no longer shrinks may be as large as that
UNSETTLED = -3  # the status of an iteration that did not converge
AS_ERROR = 32.0  # the error that stands for it, in tolerances: the next attempt is about half as long


def reads_own_step(method, c):
    """Whether the last evaluation asked for a time after the start of the step."""
    if not method.may_read_own_step:
        return False
    farthest = 0.0
    for slot in method.overlaps:
        farthest = max(farthest, c[slot])
    return farthest > 0.0


@rarely
def clear_own_past(system, method, t):
    """Remove from the histories all entries after the start of the step, which an attempt has left."""
    if not method.may_read_own_step:
        return
    for place in method.rings:
        history_at(system.h, system.k, place).forget_after(t)


@rarely
def remember_own_past(system, method, t, t_end):
    """Write the computed step into the histories; returns 0, or 1 + the index of a failed block."""
    past = method.past
    c = system.c
    points = past.points if past.inside_first < past.inside_last else 0
    if points > 0 and method.extra_stages > 0:
        status = compute_extra_stages(system, method, t)
        if status != 0:
            return status
        method.work.dense_ready = 1.0
    for i in range(points):
        inside = t + (t_end - t) * (i + 1) / (points + 1)
        interpolate_explicit(method, inside, system.y)
        status = evaluate(system, method, inside)
        if status != 0:
            return status
        c[past.side] = -1.0
        status = system.evaluate_rows(past.inside_first, past.inside_last, inside)
        if status != 0:
            return status
    copy_values(system.y, method.end)
    if points > 0:
        status = evaluate(system, method, t_end)
        if status != 0:
            return status
    c[past.side] = 0.0
    return system.evaluate_rows(past.ahead_first, past.ahead_last, t_end)


def has_full_history(system, method):
    """Whether a history had no room for an entry."""
    flags = 0
    for place in method.rings:
        flags += history_at(system.h, system.k, place).ring.flags
    return flags > 0


@rarely
def settle_step(system, method, t, t_end):
    """Repeat a step with its own dense output as the past until it no longer changes.

    Returns 0, 1 + the index of a failed block, -1 when something is not finite, or `UNSETTLED`.
    """
    work = method.work
    y = system.y
    spare = method.spare
    close = CLOSE if method.is_controlled else CLOSE_FIXED
    before = math.inf
    for _ in range(MOST_ITERATIONS):
        work.start = t
        work.end = t_end
        work.dense_ready = 0.0
        method.progress.line_ready = 0.0
        status = remember_own_past(system, method, t, t_end)
        work.start = math.nan
        if status != 0:
            return status
        if has_full_history(system, method):
            return UNSETTLED
        copy_values(spare, method.end)
        status = compute_stages(system, method, t, t_end)
        if status == 0:
            status = finish_step(system, method, t_end)
        if status != 0:
            return status
        for m in range(method.n):
            spare[m] = y[m] - spare[m]
        change = weighted_error(method, spare, y, method.floors)
        if change <= close:
            return 0
        if not change < before:
            return 0 if change <= NEARLY else UNSETTLED
        before = change
    return UNSETTLED
