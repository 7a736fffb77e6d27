"""States that constraints correct: the floors of their errors are higher than those of other states.

Corrections at the ends of steps, and multipliers inside of them, leave errors in the states of a mechanism.
These errors do not shrink with the step, and no measurement at the start of a step shows them. A state is
free of them if a correction leaves it as it is, to the bit, and its derivative does not depend on states that
are corrected. A state is unknown until an estimate of its error has gone through the corrections; until then
it counts as moved.
"""

from __future__ import annotations

from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values

FREE, UNKNOWN, MOVED = 1.0, 0.0, -1.0  # in `StateSizes.free`
PERTURBATION = 1e-6  # of a state, or of 1: large enough to change every derivative that depends on it


def may_learn(method):
    """Whether a state is left that may turn out to be moved.

    Free states count, too: a constraint that is switched on moves them.
    """
    free = method.sizes.free
    has_others = False
    for m in range(method.n):
        if free[m] != MOVED:
            has_others = True
    return has_others


def mark_corrected(system, method, t, before, after):
    """Mark the states whose estimate of the error the corrections have changed: `before` and `after` them.

    On entry and at the end, `y` is the state at the end of the step, `t`, and `c` its cache; `before` is
    overwritten.
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
        sizes.all_states.followed = 1.0  # free states have other floors from the next step on
        mark_driven(system, method, t, before)


def mark_driven(system, method, t, slope):
    """Mark the free states whose derivative depends on states that are not free.

    Those are perturbed, and a derivative that changes depends on them; `slope` is overwritten.
    """
    y = system.y
    c = system.c
    end = method.end
    free = method.sizes.free
    for m in range(method.n):
        slope[m] = c[m]
        if free[m] != FREE:
            y[m] = end[m] + PERTURBATION * max(1.0, abs(end[m]))
    status = evaluate(system, method, t)
    for m in range(method.n):
        if free[m] == FREE and (status != 0 or c[m] != slope[m]):
            free[m] = MOVED
    copy_values(y, end)
    evaluate(system, method, t)
