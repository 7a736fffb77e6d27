"""Finding a state that meets the constraints, as a kernel function."""

from __future__ import annotations

import math

from cosim.step.larger import larger
from cosim.step.projection import (
    ERRORS,
    LOOSE,
    MOVE,
    NORMALIZE,
    NOT_MET,
    POSITION_ERROR,
    PREPARE,
    SPEEDS,
    project,
)
from cosim.walker import walk

MEET_SIGNATURE = "TIiifFFFIFFIiiF>i"
MOST = 100
LONGEST = 0.5  # largest change of a coordinate in one step, rad or m
NEAR = 1e-3  # a position error from which the corrections of steps go on


def meet_constraints(table, ints, first, last, t, y, p, d, k, h, c, at, nq, nu, spare):
    """Change coordinates, then speeds, as little as it takes until every constraint is met.

    `c` is that of `y` on entry; `spare` has room for two states. Returns 0, `NOT_MET`, or 1 + the index of a
    block that raised.
    """
    n = y.shape[0]
    for m in range(n):
        spare[m] = y[m]
    status = project(table, ints, first, last, t, y, p, d, k, h, c, at)
    if status != NOT_MET or at[PREPARE] == at[MOVE]:
        return status
    for m in range(n):
        y[m] = spare[m]
    error = position_error(table, ints, first, last, t, y, p, d, k, h, c, at)
    for _ in range(MOST):
        if error <= LOOSE or error == math.inf:
            break
        for m in range(n):
            spare[n + m] = y[m]
        factor = 1.0
        shorter = math.inf
        while factor > 1e-4:
            take_short_step(table, ints, first, last, t, y, p, d, k, h, c, at, nq, nu, factor)
            shorter = position_error(table, ints, first, last, t, y, p, d, k, h, c, at)
            if shorter < error:
                break
            for m in range(n):
                y[m] = spare[n + m]
            position_error(table, ints, first, last, t, y, p, d, k, h, c, at)
            factor *= 0.5
        if not shorter < error:
            break
        error = shorter
    if error <= NEAR:
        return project(table, ints, first, last, t, y, p, d, k, h, c, at)
    return NOT_MET


def take_short_step(table, ints, first, last, t, y, p, d, k, h, c, at, nq, nu, factor):
    """A part of Newton's step, in which no coordinate changes by more than `LONGEST`."""
    walk(table, ints, at[PREPARE], at[MOVE], t, y, p, d, k, h, c)
    longest = 0.0
    for m in range(nq, nq + nu):
        y[m] = factor * y[m]
        longest = larger(longest, abs(y[m]))
    if longest > 0.0:
        part = min(1.0, LONGEST / longest)
        for m in range(nq, nq + nu):
            y[m] = y[m] * part
    walk(table, ints, first, last, t, y, p, d, k, h, c)
    walk(table, ints, at[MOVE], at[SPEEDS], t, y, p, d, k, h, c)
    walk(table, ints, at[NORMALIZE], at[PREPARE], t, y, p, d, k, h, c)


def position_error(table, ints, first, last, t, y, p, d, k, h, c, at):
    """The largest position error; infinite where it cannot be computed."""
    if walk(table, ints, first, last, t, y, p, d, k, h, c) != 0:
        return math.inf
    error = c[at[ERRORS] + POSITION_ERROR]
    return error if error - error == 0.0 else math.inf
