"""Noticing stiffness: error control of an explicit method then follows stability, not accuracy."""

from __future__ import annotations

import math

from cosim_integrators.kit.explicit_stages import STIFF_SLOPE, STIFF_WAY, combine

EVERY = 10  # steps between two estimates, until the first hit
HITS = 15
MISSES = 6
NEAR = 0.9  # of the stability region: control keeps a step that is a little shorter for long


def detect_stiffness(method, y, step):
    """After an accepted step, find out whether h |lambda| is at the border of the stability region.

    The largest eigenvalue is estimated from a difference of stages at which slow motion cancels: most
    methods have two evaluations at the end of the step. Fifteen hits, with fewer than six misses in a row
    between them, are stiffness; then ``work.stiff_time`` is when it was found (0 hits: it was not).

    References
    ----------
    The stiffness detection in E. Hairer and G. Wanner's programs dopri5.f and dop853.f.
    """
    work = method.work
    tableau = method.tableau
    hits = work.stiff_hits
    if tableau.notices_stiffness == 0.0 or hits >= HITS or (hits == 0.0 and work.steps % EVERY != 0.0):
        return
    state_size = squared_size(method, STIFF_WAY, y)
    derivative_size = squared_size(method, STIFF_SLOPE, y)
    if state_size <= 0.0:
        return
    # the way is step * spare: the product of step and eigenvalue is the quotient as it stands
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
