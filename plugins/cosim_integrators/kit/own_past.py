"""Steps that look into themselves: a delay shorter than the step.

The step is taken again with its own dense output in the histories, until nothing changes (fixed-point
iteration on the method of steps). What the last attempt but one left in the histories is as good as the
step; it stays there until the step has ended, so that dense output can be evaluated.

The integers behind those that all methods have (`cosim.contracts.method_layout`): how many slots say how
far a step looks into itself, and their offsets; the slot that tells updates the side; first and last block
of the updates "inside" and of those "ahead"; how many points inside a step are remembered; how many histories
there are, and their rings.
"""

from __future__ import annotations

import math

from cosim.kit import (
    DENSE_READY,
    END,
    EVALUATIONS,
    FIXED,
    FULL,
    RING,
    START,
    WORK_HEADER,
    forget_after,
    own_slots,
    walk,
)
from cosim_integrators.kit.dense_output import explicit_dense_output
from cosim_integrators.kit.error_norm import weighted_error
from cosim_integrators.kit.explicit_stages import (
    EXTRA,
    LINE_READY,
    finish_step,
    take_extra_stages,
    take_stages,
)

MOST = 20  # iterations
CLOSE = 1e-3  # of the tolerance: a change that small is none
CLOSE_FIXED = 1e-6  # where steps are fixed and the tolerance says little
NEARLY = 0.1  # of the tolerance: where it changes no less any more, it may stay
UNSETTLED = -3  # the iteration did not come to rest
AS_ERROR = 32.0  # what that counts as: a step about half as long comes next


def looks_into_itself(c, slots):
    """Whether the last evaluation asked for a time after the start of the step."""
    at = own_slots(slots)
    if slots.shape[0] == at:
        return False
    farthest = 0.0
    for i in range(slots[at]):
        farthest = max(farthest, c[slots[at + 1 + i]])
    return farthest > 0.0


def forget_own_past(k, h, slots, t):
    """Take out of the histories what an attempt has left after the start of the step."""
    at = own_slots(slots)
    if slots.shape[0] == at:
        return
    at += 7 + slots[at]
    for i in range(slots[at]):
        ring = slots[at + 1 + i]
        forget_after(h, k[ring : ring + RING], t)


def remember_own_past(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work, slots):
    """Put the step as it was computed into the histories; 0, or 1 + the index of a failed block."""
    n = y.shape[0]
    at = own_slots(slots)
    at += 1 + slots[at]
    points = slots[at + 5] if slots[at + 1] < slots[at + 2] else 0
    if points > 0 and tableau[EXTRA] > 0.0:
        status = take_extra_stages(table, ints, t, y, p, d, k, h, c, tableau, work, slots)
        if status != 0:
            return status
        work[DENSE_READY] = 1.0
    for i in range(points):
        inside = t + (t_end - t) * (i + 1) / (points + 1)
        explicit_dense_output(inside, tableau, work, y, y)
        work[EVALUATIONS] += 1.0
        status = walk(table, ints, first, last, inside, y, p, d, k, h, c)
        if status != 0:
            return status
        c[slots[at]] = -1.0
        status = walk(table, ints, slots[at + 1], slots[at + 2], inside, y, p, d, k, h, c)
        if status != 0:
            return status
    for m in range(n):
        y[m] = work[WORK_HEADER + n + m]
    if points > 0:
        work[EVALUATIONS] += 1.0
        status = walk(table, ints, first, last, t_end, y, p, d, k, h, c)
        if status != 0:
            return status
    c[slots[at]] = 0.0
    return walk(table, ints, slots[at + 3], slots[at + 4], t_end, y, p, d, k, h, c)


def has_full_history(k, slots):
    """Whether an entry was refused for want of room."""
    at = own_slots(slots)
    at += 7 + slots[at]
    full = 0
    for i in range(slots[at]):
        full += k[slots[at + 1 + i] + FULL]
    return full > 0


def settle_step(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, settings, work, slots):
    """Take a step again, with its own dense output as the past, until it does not change.

    Returns 0, 1 + the index of a failed block, -1 when something is not finite, or `UNSETTLED`.
    """
    n = y.shape[0]
    start = work[WORK_HEADER : WORK_HEADER + n]
    spare = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    close = CLOSE if settings[FIXED] == 0.0 else CLOSE_FIXED
    before = math.inf
    for _ in range(MOST):
        work[START] = t
        work[END] = t_end
        work[DENSE_READY] = 0.0
        work[LINE_READY] = 0.0
        status = remember_own_past(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work, slots)
        work[START] = math.nan
        if status != 0:
            return status
        if has_full_history(k, slots):
            return UNSETTLED
        for m in range(n):
            spare[m] = work[WORK_HEADER + n + m]
        status = take_stages(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work, slots)
        if status == 0:
            status = finish_step(table, ints, first, last, t_end, y, p, d, k, h, c, tableau, work)
        if status != 0:
            return status
        for m in range(n):
            spare[m] = y[m] - spare[m]
        change = weighted_error(spare, start, y, settings)
        if change <= close:
            return 0
        if not change < before:
            return 0 if change <= NEARLY else UNSETTLED
        before = change
    return UNSETTLED
