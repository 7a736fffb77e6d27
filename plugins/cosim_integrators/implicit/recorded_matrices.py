"""Matrices of Newton's method on a tape, and the adjoints of solutions with them.

Matrices do not vary, so the adjoint of a solution solves the transposed system. The functions that compute
adjoints read the tape alone: it holds the factors once for each step, and each recorded solution has their
place.
"""

from __future__ import annotations

from cosim.kit import (
    Record,
    cut_tape,
    pop,
    push,
    recorded_by,
    reserve,
    rows_of,
    width_of,
)
from cosim_integrators.implicit.banded_lu import solve_band_transposed, solve_complex_band_transposed
from cosim_integrators.implicit.complex_lu import solve_complex_transposed
from cosim_integrators.implicit.implicit_method import NewtonMatrices, row_width
from cosim_integrators.implicit.matrices import make_matrices, solve_pair, solve_real, solve_real_of_both
from cosim_integrators.kit.dense_lu import lu_solve_transposed


class RecordedMatrices(Record):
    """The head of matrices on a tape; the places of states in a band follow, then `NewtonMatrices`."""

    size: float  # number of states
    width: float  # of a row
    length: float  # of all numbers of the matrices
    is_band: float
    lower: float
    upper: float
    is_reordered: float


HEADER = width_of(RecordedMatrices)


def recorded_matrices(tape, at):
    """The head of the matrices at a place on a tape."""
    return rows_of(RecordedMatrices, tape, at, 1)[0]


def places_of(tape, at):
    """The place of each state in a band."""
    n = int(recorded_matrices(tape, at).size)
    return tape[at + HEADER : at + HEADER + n]


def factors_of(tape, at):
    """The factors of recorded matrices, as on the tape."""
    head = recorded_matrices(tape, at)
    first = at + HEADER + int(head.size)
    return NewtonMatrices(int(head.size), int(head.width), 0, tape[first : first + int(head.length)])


def reverse_matrices(memory_root, work_root, tape):
    """The adjoint of `make_matrices`: its results do not vary."""
    cut_tape(tape, pop(tape))
    return 0.0, 0.0, 0.0, 0.0


@recorded_by(make_matrices, reverse_matrices)
def record_matrices(method, step, shift, re, im, *tangents_places_and_tape):
    """Make the matrices, and copy them to the tape."""
    tape = tangents_places_and_tape[8]  # behind six tangents (memory, work, numbers) and two places
    status = make_matrices(method, step, shift, re, im)
    n = method.n
    pattern = method.pattern
    matrices = method.matrices
    numbers = matrices.numbers
    length = numbers.shape[0] - pattern.entries
    at = reserve(tape, HEADER + n + length)
    head = recorded_matrices(tape, at)
    head.size = float(n)
    head.width = float(row_width(pattern))
    head.length = float(length)
    head.is_band = float(pattern.is_band)
    head.lower = float(pattern.lower)
    head.upper = float(pattern.upper)
    head.is_reordered = float(pattern.is_reordered)
    if pattern.is_reordered != 0:
        places = places_of(tape, at)
        for m in range(n):
            places[m] = float(method.places[m])
    copy = factors_of(tape, at).numbers
    for m in range(length):
        copy[m] = numbers[m]
    matrices.made_for.recorded_at = float(at)
    push(tape, float(at))
    return status


def solve_real_transposed(tape, at, b):
    """Replace `b` by the solution of the transposed real system that is at a place on a tape."""
    head = recorded_matrices(tape, at)
    factors = factors_of(tape, at)
    n = int(head.size)
    if head.is_band == 0.0:
        lu_solve_transposed(factors.real, factors.real_pivots, n, b)
        return
    ordered = factors.ordered(0)
    put_in_recorded_order(tape, at, b, ordered)
    solve_band_transposed(factors.real, factors.real_pivots, n, int(head.lower), int(head.upper), ordered)
    read_recorded_order(tape, at, ordered, b)


def solve_pair_transposed(tape, at, b, c):
    """Replace b + i c so that b - i c solves the transposed complex system at a place on a tape."""
    head = recorded_matrices(tape, at)
    factors = factors_of(tape, at)
    n = int(head.size)
    for m in range(n):
        c[m] = -c[m]
    if head.is_band == 0.0:
        solve_complex_transposed(factors.complex, factors.complex_pivots, n, b, c)
    else:
        re = factors.ordered(0)
        im = factors.ordered(1)
        put_in_recorded_order(tape, at, b, re)
        put_in_recorded_order(tape, at, c, im)
        lower = int(head.lower)
        upper = int(head.upper)
        solve_complex_band_transposed(factors.complex, factors.complex_pivots, n, lower, upper, re, im)
        read_recorded_order(tape, at, re, b)
        read_recorded_order(tape, at, im, c)
    for m in range(n):
        c[m] = -c[m]


def put_in_recorded_order(tape, at, b, ordered):
    """``ordered`` = `b` in the order of a band."""
    is_reordered = recorded_matrices(tape, at).is_reordered != 0.0
    places = places_of(tape, at)
    for m in range(ordered.shape[0]):
        ordered[int(places[m]) if is_reordered else m] = b[m]


def read_recorded_order(tape, at, ordered, b):
    """`b` = the vector ``ordered``, which is in the order of a band, in the order of the states."""
    is_reordered = recorded_matrices(tape, at).is_reordered != 0.0
    places = places_of(tape, at)
    for m in range(ordered.shape[0]):
        b[m] = ordered[int(places[m]) if is_reordered else m]


def reverse_real(memory_root, work_root, b_root, tape):
    """The adjoint of a solution of the real system."""
    first = int(pop(tape))
    at = int(pop(tape))
    n = int(recorded_matrices(tape, at).size)
    solve_real_transposed(tape, at, b_root[first : first + n])


@recorded_by(solve_real, reverse_real)
def record_real(method, b, memory_dot, work_dot, b_dot, memory_at, work_at, b_at, tape):
    """Solve the real system for a right side and its tangent, and record it on the tape."""
    solve_real_of_both(method, b, b_dot)
    push(tape, method.matrices.made_for.recorded_at)
    push(tape, float(b_at))


def reverse_pair(memory_root, work_root, b_root, c_root, tape):
    """The adjoint of a solution of the complex system."""
    second = int(pop(tape))
    first = int(pop(tape))
    at = int(pop(tape))
    n = int(recorded_matrices(tape, at).size)
    solve_pair_transposed(tape, at, b_root[first : first + n], c_root[second : second + n])


@recorded_by(solve_pair, reverse_pair)
def record_pair(method, b, c, memory_dot, work_dot, b_dot, c_dot, memory_at, work_at, b_at, c_at, tape):
    """Solve the complex system for a right side and its tangent, and record it on the tape."""
    solve_pair(method, b, c)
    solve_pair(method, b_dot, c_dot)
    push(tape, method.matrices.made_for.recorded_at)
    push(tape, float(b_at))
    push(tape, float(c_at))
