"""Which states constraints correct: their floors are not as low as those of others.

Corrections at the ends of steps, and multipliers inside of them, leave errors in all states of a mechanism
that do not shrink with the step, and that no measurement at the start of a step shows. A state has none of
them if a correction leaves it as it is, to the bit, and its derivative does not depend on states that are
corrected. Until an estimate of its error has gone through the corrections nothing is known of a state: then
it counts as one that they move.
"""

from __future__ import annotations

from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values

FREE, UNKNOWN, MOVED = 1.0, 0.0, -1.0  # in `StateSizes.free`
ASIDE = 1e-6  # of a state, or of 1: so far that all that depends on it changes


def may_learn(method):
    """Whether not all states are known to be moved; a constraint that is switched on moves what was free."""
    free = method.sizes.free
    learns = False
    for m in range(method.n):
        if free[m] != MOVED:
            learns = True
    return learns


def mark_corrected(system, method, t, before, after):
    """Note which components of an estimate of errors corrections have changed.

    `y` is the end of the step, at `t`, and `c` belongs to it, on entry and after it; `before` is overwritten.
    """
    sizes = method.sizes
    free = sizes.free
    has_new = False
    for m in range(method.n):
        if after[m] != before[m]:
            free[m] = MOVED
        elif free[m] == UNKNOWN and before[m] != 0.0:
            free[m] = FREE
            has_new = True
    if has_new:
        sizes.all_states.followed = 1.0  # their floors are others from the next step on
        mark_driven(system, method, t, before)


def mark_driven(system, method, t, slope):
    """Note which states are not free, since they move as states do that are corrected."""
    y = system.y
    c = system.c
    end = method.end
    free = method.sizes.free
    for m in range(method.n):
        slope[m] = c[m]
        if free[m] != FREE:
            y[m] = end[m] + ASIDE * max(1.0, abs(end[m]))
    status = evaluate(system, method, t)
    for m in range(method.n):
        if free[m] == FREE and (status != 0 or c[m] != slope[m]):
            free[m] = MOVED
    copy_values(y, end)
    evaluate(system, method, t)
