"""Corrections of an accepted solution: the one helper that every integrator goes through.

A system lists its corrections in `System.projection`; the numbers behind its table are

    0 … 3   first rows in the table of the corrections that normalize, that prepare a movement, that make it,
            and that change speeds; each group ends where the next begins
    4       end of the last group
    5       where in the cache three numbers lie: whether something was changed, the largest position error,
            the largest velocity error

The errors are those of the last evaluation. Everything depends on time, state and cache alone, so a run that
goes on from a saved State takes the same values.
"""

from __future__ import annotations

import math

from cosim.compiled.walker import walk
from cosim.integration.layout import (
    BLOCK_FAILED,
    DONE,
    FAILED_BLOCK,
    FAILED_TIME,
    NO_CONVERGENCE,
    START,
    WORK_HEADER,
)
from cosim.integration.start_of_step import go_back

NORMALIZE, PREPARE, MOVE, SPEEDS, END, ERRORS = range(6)
PROJECT_SIGNATURE = "TIiifFFFIFFTI>i"

TOLERANCE = 1e-10
LOOSE = 1e-7  # accepted where rounding or constraints that contradict each other allow no less
MOST = 30
NOT_MET = -1


def project(table, ints, first, last, t, y, p, d, k, h, c, corrections, at):
    """Correct `y` until nothing changes; `c` is that of `y` on entry and after it.

    Returns
    -------
    int
        0; `NOT_MET` when errors remain; 1 + the index of a block that raised.
    """
    if at[NORMALIZE] == at[END]:
        return 0
    errors = at[ERRORS]
    c[errors] = 0.0
    walk(corrections, ints, at[NORMALIZE], at[PREPARE], t, y, p, d, k, h, c)
    if c[errors] != 0.0:
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            return status
    if at[PREPARE] == at[END]:
        return 0
    before = 1e300
    for _ in range(MOST):
        error = c[errors + 1]
        if error <= TOLERANCE:
            break
        if not error < 0.9 * before:
            if error <= LOOSE:
                break
            return NOT_MET
        before = error
        walk(corrections, ints, at[PREPARE], at[MOVE], t, y, p, d, k, h, c)
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        walk(corrections, ints, at[MOVE], at[SPEEDS], t, y, p, d, k, h, c)
        if status != 0:
            return status
        walk(corrections, ints, at[NORMALIZE], at[PREPARE], t, y, p, d, k, h, c)
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            return status
    if not c[errors + 1] <= LOOSE:
        return NOT_MET
    before = 1e300
    for _ in range(MOST):
        error = c[errors + 2]
        if error <= TOLERANCE:
            break
        if not error < 0.9 * before:
            if error <= LOOSE:
                break
            return NOT_MET
        before = error
        walk(corrections, ints, at[SPEEDS], at[END], t, y, p, d, k, h, c)
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            return status
    return 0 if c[errors + 2] <= LOOSE else NOT_MET


FINISH_SIGNATURE = "TIiifFFFIFFFTI>i"


def finish_projected(table, ints, first, last, t, y, p, d, k, h, c, work, corrections, at):
    """Correct the end of a step, at `t`, in the State and in the end that `work` remembers.

    Where that is impossible, state and cache are those of the start again, if there is one.
    """
    status = project(table, ints, first, last, t, y, p, d, k, h, c, corrections, at)
    n = y.shape[0]
    if status == 0:
        for m in range(n):
            work[WORK_HEADER + n + m] = y[m]
        return DONE
    work[FAILED_TIME] = t
    start = work[START]
    if not math.isnan(start):
        go_back(table, ints, first, last, start, y, p, d, k, h, c, work)
    if status > 0:
        work[FAILED_BLOCK] = float(status - 1)
        return BLOCK_FAILED
    return NO_CONVERGENCE
