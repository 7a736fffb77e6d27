"""Noticing stiffness: error control of an explicit method then follows stability, not accuracy."""

from __future__ import annotations

import math

from cosim.kit import SETTINGS_HEADER, START, STEPS, STIFF_HITS, STIFF_MISSES, STIFF_TIME, WORK_HEADER
from cosim_integrators.kit.explicit_stages import BOUNDARY, NOTICES, STAGES, combine

EVERY = 10  # steps between two looks, until the first hit
HITS = 15
MISSES = 6
NEAR = 0.9  # of the stability region: control keeps a step that is a little shorter for long


def look_for_stiffness(y, step, tableau, settings, work):
    """After an accepted step, note whether h |lambda| is at the border of the stability region.

    The largest eigenvalue is estimated from a difference of stages at which slow motion cancels: most
    methods have two evaluations at the end of the step. Fifteen hits, with fewer than six misses in a row
    between them, are stiffness; then
    ``work[STIFF_TIME]`` is when it was noticed (0 hits: not).

    References
    ----------
    The stiffness detection in E. Hairer and G. Wanner's programs dopri5.f and dop853.f.
    """
    hits = work[STIFF_HITS]
    if tableau[NOTICES] == 0.0 or hits >= HITS or (hits == 0.0 and work[STEPS] % EVERY != 0.0):
        return
    n = y.shape[0]
    k = work[WORK_HEADER + 3 * n :]
    spare = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    relative = settings[SETTINGS_HEADER : SETTINGS_HEADER + n]
    absolute = settings[SETTINGS_HEADER + n : SETTINGS_HEADER + 2 * n]
    stages = int(tableau[STAGES])
    slopes = 0.0
    ways = 0.0
    for row in (stages + 3, stages + 4):
        combine(tableau, row, k, n, spare)
        size = 0.0
        for m in range(n):
            part = spare[m] / max(absolute[m], relative[m] * abs(y[m]))
            size += part * part
        if row == stages + 3:
            ways = size
        else:
            slopes = size
    if ways <= 0.0:
        return
    # the way is step * spare: the product of step and eigenvalue is the quotient as it stands
    if math.sqrt(slopes / ways) > NEAR * tableau[BOUNDARY]:
        work[STIFF_HITS] = hits + 1.0
        work[STIFF_MISSES] = 0.0
        work[STIFF_TIME] = work[START] + step
    elif hits > 0.0:
        work[STIFF_MISSES] += 1.0
        if work[STIFF_MISSES] >= MISSES:
            work[STIFF_HITS] = 0.0
            work[STIFF_MISSES] = 0.0
