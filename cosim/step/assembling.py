"""Finding a state that meets the constraints, as a kernel function."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import Corrections, OdeSystem
from cosim.step.larger import larger
from cosim.step.projection import (
    LOOSE,
    NOT_MET,
    has_constraints,
    project,
)
from cosim_compiler.record import rows_of

MEET_SIGNATURE = "TIiifFFFIFFIiiF>i"
MOST = 100
LONGEST = 0.5  # largest change of a coordinate in one step, rad or m
NEAR = 1e-3  # a position error from which the corrections of steps go on


def meet_constraints(table, ints, first, last, t, y, p, d, k, h, c, projection, nq, nu, spare):
    """As `assemble_system`; the kernel function that is called by its address."""
    corrections = rows_of(Corrections, projection, 0, 1)[0]
    return assemble_system(
        OdeSystem(table, ints, first, last, y, p, d, k, h, c), corrections, t, nq, nu, spare
    )


def assemble_system(system, corrections, t, nq, nu, spare):
    """Change coordinates, then speeds, as little as it takes until every constraint is met.

    `c` is that of `y` on entry; `spare` has room for two states. Returns 0, `NOT_MET`, or 1 + the index of a
    block that raised.
    """
    y = system.y
    n = system.size
    given = spare[:n]
    nearest = spare[n : 2 * n]
    for m in range(n):
        given[m] = y[m]
    status = project(system, corrections, t)
    if status != NOT_MET or not has_constraints(corrections):
        return status
    for m in range(n):
        y[m] = given[m]
    error = position_error(system, corrections, t)
    for _ in range(MOST):
        if error <= LOOSE or error == math.inf:
            break
        for m in range(n):
            nearest[m] = y[m]
        factor = 1.0
        shorter = math.inf
        while factor > 1e-4:
            move_part_of_way(system, corrections, t, nq, nu, factor)
            shorter = position_error(system, corrections, t)
            if shorter < error:
                break
            for m in range(n):
                y[m] = nearest[m]
            position_error(system, corrections, t)
            factor *= 0.5
        if not shorter < error:
            break
        error = shorter
    if error <= NEAR:
        return project(system, corrections, t)
    return NOT_MET


def move_part_of_way(system, corrections, t, nq, nu, factor):
    """Take a part of Newton's step, in which no coordinate changes by more than `LONGEST`."""
    y = system.y
    system.evaluate_rows(corrections.prepare, corrections.move, t)
    longest = 0.0
    for m in range(nq, nq + nu):
        y[m] = factor * y[m]
        longest = larger(longest, abs(y[m]))
    if longest > 0.0:
        part = min(1.0, LONGEST / longest)
        for m in range(nq, nq + nu):
            y[m] = y[m] * part
    system.evaluate(t)
    system.evaluate_rows(corrections.move, corrections.speeds, t)
    system.evaluate_rows(corrections.normalize, corrections.prepare, t)


def position_error(system, corrections, t):
    """The largest position error; infinite where it cannot be computed."""
    if system.evaluate(t) != 0:
        return math.inf
    error = system.errors(corrections).position
    return error if error - error == 0.0 else math.inf
