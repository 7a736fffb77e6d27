"""Detects stiff systems, where stability and not accuracy limits the steps of an explicit method."""

from __future__ import annotations

import math

from cosim_integrators.kit.explicit_stages import STIFF_SLOPE, STIFF_STATE, combine

EVERY = 10  # steps between two estimates, until the first hit
HITS = 15  # as in dopri5.f
MISSES = 6  # as in dopri5.f
NEAR = 0.9  # of the stability limit: error control may stay a little below it for many steps


def detect_stiffness(method, y, step):
    """After an accepted step, check whether h |lambda| is at the border of the stability region.

    The largest eigenvalue is estimated from a difference of stages in which slow motion cancels: most methods
    have two evaluations at the end of the step. A step at the border is a hit. After `HITS` hits, with fewer
    than `MISSES` misses in a row between them, the system counts as stiff; ``work.stiff_time`` is the time of
    the last hit.

    References
    ----------
    The stiffness detection in E. Hairer and G. Wanner's programs dopri5.f and dop853.f.
    """
    work = method.work
    tableau = method.tableau
    hits = work.stiff_hits
    if tableau.notices_stiffness == 0.0 or hits >= HITS or (hits == 0.0 and work.steps % EVERY != 0.0):
        return
    state_size = squared_size(method, STIFF_STATE, y)
    derivative_size = squared_size(method, STIFF_SLOPE, y)
    if state_size <= 0.0:
        return
    # the difference of states is step * spare: so this quotient is the step times the eigenvalue
    if math.sqrt(derivative_size / state_size) > NEAR * tableau.stability_limit:
        work.stiff_hits = hits + 1.0
        work.stiff_misses = 0.0
        work.stiff_time = work.start + step
    elif hits > 0.0:
        work.stiff_misses += 1.0
        if work.stiff_misses >= MISSES:
            work.stiff_hits = 0.0
            work.stiff_misses = 0.0


def squared_size(method, row, y):
    """Sum of the squares of a combination of stages, over the tolerances."""
    spare = method.spare
    relative = method.relative_tolerances
    absolute = method.absolute_tolerances
    combine(method, method.stages + row, spare)
    size = 0.0
    for m in range(method.n):
        part = spare[m] / max(absolute[m], relative[m] * abs(y[m]))
        size += part * part
    return size
