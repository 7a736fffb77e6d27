"""Corrections of a solution that meet constraints, and finding a start that does.

Every integrator goes through here at the end of a step, before the step is accepted. A system lists its
corrections at the end of its table (`System.corrections`): rows that normalize, that prepare a movement, that
make it, that change speeds, and those that an error estimate goes through. `Corrections` of
`cosim.contracts.method_layout` says where each group ends, `ConstraintErrors` what they leave in the cache.

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

from cosim.contracts.method_entries import AT_METHOD, AT_TIME, redo_entry, system_of
from cosim.contracts.method_layout import (
    BLOCK_FAILED,
    CONSTRAINTS_NOT_MET,
    DONE,
    Corrections,
    MethodArrays,
    OdeSystem,
    store_state,
)
from cosim.walker import Walked
from cosim_compiler.calls import gathering
from cosim_compiler.record import rows_of

TOLERANCE = 1e-10
CONSTRAINT_TOLERANCE = TOLERANCE  # its name in `cosim.kit`
LOOSE = 1e-7  # accepted where rounding or constraints that contradict each other allow no less
MOST_CORRECTIONS = 30
STILL_FALLS = 0.9  # times the previous error, at most, while corrections help
NOT_MET = -4  # among the answers of steps' helpers: 0, 1 + the index of a block, -1 not finite, …


def has_corrections(corrections):
    """Whether a system corrects its solution."""
    return corrections.normalize != corrections.end


def has_constraints(corrections):
    """Whether positions and speeds are corrected, too, beside what is normalized."""
    return corrections.prepare != corrections.move


def project(system, corrections, t):
    """Correct `y` until nothing changes; `c` is that of `y` on entry and after it.

    Returns
    -------
    int
        0; `NOT_MET` when errors remain; 1 + the index of a block that raised.
    """
    if not has_corrections(corrections):
        return 0
    errors = system.errors(corrections)
    errors.changed = 0.0
    system.evaluate_rows(corrections.normalize, corrections.prepare, t)
    if errors.changed != 0.0:
        status = system.evaluate(t)
        if status != 0:
            return status
    if not has_constraints(corrections):
        return 0
    status = project_positions(system, corrections, t)
    return status if status != 0 else project_speeds(system, corrections, t)


def correcting(error_of, correct):
    """The kernel function that corrects a solution until ``error_of(errors)`` is small or falls no more.

    It returns as `project`. `correct` makes one correction, and returns 0 or 1 + the index of a failed block.
    """

    def correct_until_met(system, corrections, t):
        errors = system.errors(corrections)
        previous = math.inf
        for _ in range(MOST_CORRECTIONS):
            error = error_of(errors)
            if error <= TOLERANCE * errors.allowed or not error < STILL_FALLS * previous:
                break
            previous = error
            status = correct(system, corrections, t)
            if status == 0:
                status = system.evaluate(t)
            if status != 0:
                return status
        return 0 if error_of(errors) <= LOOSE else NOT_MET

    return correct_until_met


def position_of(errors):
    """The largest position error."""
    return errors.position


def speed_of(errors):
    """The largest error of a speed."""
    return errors.speed


def move_positions(system, corrections, t):
    """Make one movement towards the constraints, and normalize; 0, or 1 + the index of a failed block."""
    system.evaluate_rows(corrections.prepare, corrections.move, t)
    status = system.evaluate(t)
    system.evaluate_rows(corrections.move, corrections.speeds, t)
    if status == 0:
        system.evaluate_rows(corrections.normalize, corrections.prepare, t)
    return status


def change_speeds(system, corrections, t):
    """Make one correction of the speeds; 0."""
    system.evaluate_rows(corrections.speeds, corrections.estimates, t)
    return 0


project_positions = correcting(position_of, move_positions)
project_speeds = correcting(speed_of, change_speeds)


def settle(system, method, t):
    """Correct a solution that meets its constraints once more: a step of Newton's method for each group.

    It changes nothing, but its tangent does: it makes tangents meet the tangents of the constraints.
    """
    corrections = method.corrections
    status = system.evaluate(t)
    if status != 0:
        return BLOCK_FAILED
    system.evaluate_rows(corrections.normalize, corrections.prepare, t)
    status = system.evaluate(t)
    if status == 0 and has_constraints(corrections):
        status = move_positions(system, corrections, t)
        if status == 0:
            status = system.evaluate(t)
        if status == 0:
            system.evaluate_rows(corrections.speeds, corrections.estimates, t)
            status = system.evaluate(t)
    return DONE if status == 0 else BLOCK_FAILED


settle_by_address = redo_entry(MethodArrays, settle)


def project_end(system, method, t):
    """`project` for the end of a step, at `t`; ``method.end`` becomes the corrected end.

    Returns 0, `NOT_MET`, 1 + the index of a block that raised, or -1 when something is not finite.
    """
    if not has_corrections(method.corrections):
        return 0
    status = project(system, method.corrections, t)
    if status != 0:
        method.work.failed_time = t
        return status
    return 0 if store_state(method.end, system.y, system.c) else -1


def project_error(system, method, t, error):
    """Take out of an error estimate what the corrections have taken out of the error itself.

    That is its part in the directions in which corrections go, in the same metric; of coordinates it is what
    the errors of the positions say when all are displaced by the estimate. `y`, equal to ``method.end``, is
    the corrected end of the step, and `c` belongs to it, on entry and after it.
    """
    corrections = method.corrections
    if corrections.estimates == corrections.end:
        return
    estimate = in_place_of_state(system, error)
    estimate.evaluate_rows(corrections.estimates, corrections.displaced, t)
    if corrections.displaced == corrections.end:
        return
    motion = system.with_rows(corrections.motion_first, corrections.motion_last)
    y = system.y
    end = method.end
    for m in range(method.n):
        y[m] = end[m] - error[m]
    status = motion.evaluate(t)
    for m in range(method.n):
        y[m] = end[m]
    if status == 0:
        system.evaluate_rows(corrections.displaced, corrections.rates, t)
        status = motion.evaluate(t)
        for m in range(method.n):
            y[m] = end[m]
        if status == 0:
            estimate.evaluate_rows(corrections.rates, corrections.end, t)
    motion.evaluate(t)


def in_place_of_state(system, error):
    """The system as corrections of an estimate read it: the estimate in place of y, and y in place of h."""
    return OdeSystem(
        system.table, system.ints, system.first, system.last,
        error, system.p, system.d, system.k, system.y, system.c,
    )  # fmt: skip


def worth_projecting(error, order, corrections):
    """Whether a step with this error estimate may be accepted when both are corrected.

    Where half the step would be too long as well, the corrections are spared.
    """
    if not has_constraints(corrections):
        return error <= 1.0
    return error <= math.pow(2.0, order)


def failure_code(status, work, otherwise):
    """The step code for an end that could not be evaluated or corrected; `work` is a `StepWork`."""
    if status > 0:
        work.failed_block = float(status - 1)
        return BLOCK_FAILED
    if status == NOT_MET:
        return CONSTRAINTS_NOT_MET
    return DONE if status == 0 else otherwise


MEET_SIGNATURE = "TIiifFFFIFFIiiF>i"
MOST_ATTEMPTS = 100
LONGEST = 0.5  # largest change of a coordinate in one step, rad or m
SMALLEST_PART = 1e-4  # of Newton's step that is tried
NEAR = 1e-3  # a position error from which the corrections of steps go on


@gathering((*Walked._fields, "corrections", "nq", "nu", "spare"))
def meet_constraints(*arguments):
    """Call `assemble_system` with the arguments of `walk`, `Corrections`, nq, nu and spare."""
    numbers, nq, nu, spare = arguments[AT_METHOD:]
    corrections = rows_of(Corrections, numbers, 0, 1)[0]
    return assemble_system(system_of(arguments), corrections, arguments[AT_TIME], nq, nu, spare)


def assemble_system(system, corrections, t, nq, nu, spare):
    """Project coordinates, then speeds, onto the constraints with the least change.

    `c` is that of `y` on entry; `spare` has room for two states. Returns 0, `NOT_MET`, or 1 + the index of a
    block that raised.
    """
    y = system.y
    n = system.size
    entry_state = spare[:n]
    nearest = spare[n : 2 * n]
    for m in range(n):
        entry_state[m] = y[m]
    status = project(system, corrections, t)
    if status != NOT_MET or not has_constraints(corrections):
        return status
    for m in range(n):
        y[m] = entry_state[m]
    error = position_error(system, corrections, t)
    for _ in range(MOST_ATTEMPTS):
        if error <= LOOSE or error == math.inf:
            break
        for m in range(n):
            nearest[m] = y[m]
        smaller = reduce_error(system, corrections, t, nq, nu, nearest, error)
        if not smaller < error:
            break
        error = smaller
    if error <= NEAR:
        return project(system, corrections, t)
    return NOT_MET


def reduce_error(system, corrections, t, nq, nu, nearest, error):
    """Go from `y`, equal to `nearest`, to a state with a smaller error than this, and return its error.

    Newton's step is halved until there is one. Where none is found, `y` is as before.
    """
    y = system.y
    smaller = math.inf
    factor = 1.0
    while factor > SMALLEST_PART:
        move_part_of_way(system, corrections, t, nq, nu, factor)
        smaller = position_error(system, corrections, t)
        if smaller < error:
            break
        for m in range(system.size):
            y[m] = nearest[m]
        position_error(system, corrections, t)
        factor *= 0.5
    return smaller


def move_part_of_way(system, corrections, t, nq, nu, factor):
    """Take a part of Newton's step, in which no coordinate changes by more than `LONGEST`."""
    y = system.y
    system.evaluate_rows(corrections.prepare, corrections.move, t)
    longest = 0.0
    for m in range(nq, nq + nu):
        y[m] = factor * y[m]
        longest = nan_max(longest, abs(y[m]))
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


def nan_max(a, b):
    """The larger number; NaN when the second one is (``max`` is not the same everywhere then)."""
    if b > a or b != b:
        return b
    return a
