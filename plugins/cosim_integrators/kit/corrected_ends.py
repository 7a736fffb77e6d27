"""Which states are corrected by constraints: their absolute tolerances have a higher floor.

Corrections at the ends of steps, and multipliers inside steps, leave errors in the states of a mechanism.
These errors do not shrink with the step, and no measurement at the start of a step shows them. A state is

- FREE of them if a correction leaves it unchanged, to the bit, and its derivative does not depend on
corrected
  states;
- UNKNOWN until an error estimate that is not zero has passed through the corrections; it is treated as MOVED;
- MOVED otherwise.
"""

from __future__ import annotations

from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values

FREE, UNKNOWN, MOVED = 1.0, 0.0, -1.0  # in `StateSizes.free`
PERTURBATION = 1e-6  # of a state, or of 1: large enough to change every derivative that depends on it


def may_learn(method):
    """Whether any state is FREE or UNKNOWN: a constraint that is switched on later moves free ones, too."""
    free = method.sizes.free
    has_others = False
    for m in range(method.n):
        if free[m] != MOVED:
            has_others = True
    return has_others


def mark_corrected(system, method, t, before, after):
    """Mark the states whose error estimate the corrections have changed.

    `before` and `after` are the estimates before and after the corrections; `before` is overwritten. `y` and
    `c` are state and cache at the end of the step, time `t`, on entry and on return.
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
    """Mark the free states whose derivative depends on states that are not free as MOVED.

    States that are not free are perturbed: a derivative that changes depends on them. `slope` is overwritten.
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
