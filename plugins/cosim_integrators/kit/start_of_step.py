"""The start of a step: remembered, checked, and gone back to."""

from __future__ import annotations

import math

from cosim.kit import ATTEMPTED_END, EVALUATIONS, FAILED_TIME, START, WORK_HEADER, walk


def remember_start(t, y, c, work, derivative):
    """Keep state and derivative; 0, or 1 when one of them is not finite."""
    n = y.shape[0]
    work[START] = math.nan
    total = 0.0
    for m in range(n):
        work[WORK_HEADER + m] = y[m]
        derivative[m] = c[m]
        # 0 unless one of the two is infinite or NaN.
        total += 0.0 * y[m] + 0.0 * c[m]
    if total != 0.0:
        work[FAILED_TIME] = t
        work[ATTEMPTED_END] = t
        return 1
    return 0


def go_back(table, ints, first, last, t, y, p, d, k, h, c, work):
    """Make state and cache what they were at the start; the state that failed goes to the spare vector."""
    n = y.shape[0]
    for m in range(n):
        work[WORK_HEADER + 2 * n + m] = y[m]
        y[m] = work[WORK_HEADER + m]
    work[EVALUATIONS] += 1.0
    walk(table, ints, first, last, t, y, p, d, k, h, c)
