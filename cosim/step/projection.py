"""Corrections of a solution at the end of a step, before it is accepted; every integrator goes through here.

A system lists its corrections at the end of its table (`System.projection`); the numbers behind them are

    0 … 6   first rows in the table of the corrections that normalize, that prepare a movement, that make it,
            that change speeds, and of those that an error estimate goes through: first, with the coordinates
            displaced, last; each group ends where the next begins
    7       end of the last group
    8       where in the cache four numbers lie: whether something was changed, the largest position error,
            the largest velocity error, and which part of `TOLERANCE` is allowed for these (1; 0 where they
            are to be corrected to rounding)
    9, 10   first and last row of the blocks that compute the motion (up to stage VELOCITY)

The errors are those of the last evaluation. Everything depends on time, state and cache alone, so a run that
goes on from a saved State takes the same values.

References
----------
Simbody, SimTKmath/Integrators/src/AbstractIntegratorRep.cpp (attemptDAEStep) and
Simbody/src/SimbodyMatterSubsystemRep.cpp (projectQ): the solution and the error estimate of a step are
projected before the step is judged, unless half the step would be too long, too.
"""

from __future__ import annotations

import math

from cosim.contracts.method_layout import (
    BLOCK_FAILED,
    CONSTRAINTS_NOT_MET,
    DONE,
    FAILED_BLOCK,
    FAILED_TIME,
    WORK_HEADER,
)
from cosim.walker import walk

NORMALIZE, PREPARE, MOVE, SPEEDS, ESTIMATES, DISPLACED, RATES, END_OF_CORRECTIONS, ERRORS, FIRST, LAST = (
    range(11)
)
CHANGED, POSITION_ERROR, SPEED_ERROR, ALLOWED = range(4)  # in the cache, from ERRORS on

TOLERANCE = 1e-10
CONSTRAINT_TOLERANCE = TOLERANCE  # its name in `cosim.kit`
LOOSE = 1e-7  # accepted where rounding or constraints that contradict each other allow no less
MOST = 30
NOT_MET = -4  # among the answers of steps' helpers: 0, 1 + the index of a block, -1 not finite, …


def project(table, ints, first, last, t, y, p, d, k, h, c, at):
    """Correct `y` until nothing changes; `c` is that of `y` on entry and after it.

    Returns
    -------
    int
        0; `NOT_MET` when errors remain; 1 + the index of a block that raised.
    """
    if at[NORMALIZE] == at[END_OF_CORRECTIONS]:
        return 0
    errors = at[ERRORS]
    c[errors + CHANGED] = 0.0
    walk(table, ints, at[NORMALIZE], at[PREPARE], t, y, p, d, k, h, c)
    if c[errors + CHANGED] != 0.0:
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            return status
    if at[PREPARE] == at[MOVE]:
        return 0
    before = 1e300
    for _ in range(MOST):
        error = c[errors + POSITION_ERROR]
        if error <= TOLERANCE * c[errors + ALLOWED]:
            break
        if not error < 0.9 * before:
            if error <= LOOSE:
                break
            return NOT_MET
        before = error
        walk(table, ints, at[PREPARE], at[MOVE], t, y, p, d, k, h, c)
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        walk(table, ints, at[MOVE], at[SPEEDS], t, y, p, d, k, h, c)
        if status != 0:
            return status
        walk(table, ints, at[NORMALIZE], at[PREPARE], t, y, p, d, k, h, c)
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            return status
    if not c[errors + POSITION_ERROR] <= LOOSE:
        return NOT_MET
    before = 1e300
    for _ in range(MOST):
        error = c[errors + SPEED_ERROR]
        if error <= TOLERANCE * c[errors + ALLOWED]:
            break
        if not error < 0.9 * before:
            if error <= LOOSE:
                break
            return NOT_MET
        before = error
        walk(table, ints, at[SPEEDS], at[ESTIMATES], t, y, p, d, k, h, c)
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        if status != 0:
            return status
    return 0 if c[errors + SPEED_ERROR] <= LOOSE else NOT_MET


def project_end(table, ints, first, last, t, y, p, d, k, h, c, work, at):
    """`project` for the end of a step, at `t`; `work` remembers the corrected end.

    Returns 0, `NOT_MET`, 1 + the index of a block that raised, or -1 when something is not finite.
    """
    if at[NORMALIZE] == at[END_OF_CORRECTIONS]:
        return 0
    status = project(table, ints, first, last, t, y, p, d, k, h, c, at)
    if status != 0:
        work[FAILED_TIME] = t
        return status
    n = y.shape[0]
    total = 0.0
    for m in range(n):
        work[WORK_HEADER + n + m] = y[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    return 0 if total == 0.0 else -1


def project_error(table, ints, t, y, p, d, k, h, c, error, end, at):
    """Take out of an error estimate what the corrections have taken out of the error itself.

    That is its part in the directions in which corrections go, in the same metric; of coordinates it is what
    the errors of the positions say when all are displaced by the estimate. `y`, equal to `end`, is the
    corrected end of the step, and `c` belongs to it, on entry and after it.
    """
    if at[ESTIMATES] == at[END_OF_CORRECTIONS]:
        return
    # the estimate in place of y, and y in place of h
    walk(table, ints, at[ESTIMATES], at[DISPLACED], t, error, p, d, k, y, c)
    if at[DISPLACED] == at[END_OF_CORRECTIONS]:
        return
    n = y.shape[0]
    for m in range(n):
        y[m] = end[m] - error[m]
    status = walk(table, ints, at[FIRST], at[LAST], t, y, p, d, k, h, c)
    for m in range(n):
        y[m] = end[m]
    if status == 0:
        walk(table, ints, at[DISPLACED], at[RATES], t, y, p, d, k, h, c)
        status = walk(table, ints, at[FIRST], at[LAST], t, y, p, d, k, h, c)
        for m in range(n):
            y[m] = end[m]
        if status == 0:
            walk(table, ints, at[RATES], at[END_OF_CORRECTIONS], t, error, p, d, k, y, c)
    walk(table, ints, at[FIRST], at[LAST], t, y, p, d, k, h, c)


def worth_projecting(error, order, at):
    """Whether a step with this error estimate may be accepted when both are corrected.

    Where half the step would be too long as well, the corrections are spared.
    """
    if at[PREPARE] == at[MOVE]:
        return error <= 1.0
    return error <= math.pow(2.0, order)


def failure_code(status, work, otherwise):
    """The step code for an end that could not be evaluated or corrected."""
    if status > 0:
        work[FAILED_BLOCK] = float(status - 1)
        return BLOCK_FAILED
    if status == NOT_MET:
        return CONSTRAINTS_NOT_MET
    return DONE if status == 0 else otherwise
