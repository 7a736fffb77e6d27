"""The matrices of Newton's method: factored when the step or the Jacobian changes, and solved with."""

from __future__ import annotations

from cosim.kit import call_block, tangent_of
from cosim_integrators.implicit.banded_lu import (
    band_width,
    factor_band,
    factor_complex_band,
    has_exchanges,
    solve_band,
    solve_complex_band,
)
from cosim_integrators.implicit.complex_lu import factor_complex, solve_complex
from cosim_integrators.implicit.implicit_method import OK, SINGULAR
from cosim_integrators.kit.dense_lu import lu_factor, lu_solve, lu_solve_two
from cosim_integrators.kit.start_of_step import copy_values

SAME_STEP = 1e-8  # relative: rounding of its end changes a step by less, and the matrices remain valid
MAKE, SOLVE_REAL, SOLVE_COMPLEX = 0, 1, 2  # requests to a sparse solver


def clear_foreign_matrices(method):
    """Discard matrices that belong to another State or to another time of this one."""
    matrices = method.matrices
    made_for = matrices.made_for
    if made_for.step == 0.0:
        return
    jacobian = method.jacobian
    made_from = matrices.jacobian
    if made_for.step != method.memory.factored_step:
        made_for.step = 0.0
        return
    differing = 0  # counted to the end: a loop without an early exit compares several entries at once
    for e in range(jacobian.shape[0]):
        differing += 1 if jacobian[e] != made_from[e] else 0
    if differing > 0:
        made_for.step = 0.0


def clear_matrices(method):
    """Mark the matrices as outdated."""
    method.memory.factored_step = 0.0
    method.matrices.made_for.step = 0.0


def make_matrices(method, step, shift, re, im):
    """Factor ``shift / step S - J`` and, if the method has it, ``(re + i im) / step S - J``, where needed.

    S is diagonal: ``method.shift``. The memory in the State decides for which step the matrices are made, so
    that a resumed run makes the same ones, even if they belong to a slightly different step. Returns OK or
    SINGULAR.
    """
    memory = method.memory
    matrices = method.matrices
    made_for = matrices.made_for
    needed_step = memory.factored_step
    if not (needed_step > 0.0 and abs(step - needed_step) <= SAME_STEP * step):
        needed_step = step
    if made_for.step == needed_step:
        return OK
    n = method.n
    pattern = method.pattern
    clear_matrices(method)
    method.work.factorizations += 1.0
    copy_values(matrices.jacobian, method.jacobian)
    if pattern.sparse_solver != 0:
        status = call_sparse_solver(method, MAKE, needed_step, matrices.jacobian, method.shift)
    elif pattern.is_band != 0:
        fill_band(method, matrices.real, 1, shift / needed_step, 0.0)
        status = factor_band(matrices.real, matrices.real_pivots, n, pattern.lower, pattern.upper)
        made_for.exchanged = 1.0 if has_exchanges(matrices.real_pivots, n) else 0.0
        if status == 0 and pattern.is_complex != 0:
            fill_band(method, matrices.complex, 2, re / needed_step, im / needed_step)
            status = factor_complex_band(
                matrices.complex, matrices.complex_pivots, n, pattern.lower, pattern.upper
            )
    else:
        fill(method, matrices.real, 1, shift / needed_step, 0.0)
        status = lu_factor(matrices.real, matrices.real_pivots, n)
        if status == 0 and pattern.is_complex != 0:
            fill(method, matrices.complex, 2, re / needed_step, im / needed_step)
            status = factor_complex(matrices.complex, matrices.complex_pivots, n)
    if status != 0:
        return SINGULAR
    made_for.step = needed_step
    memory.factored_step = needed_step
    return OK


def fill(method, matrix, width, re, im):
    """Fill a matrix with ``(re + i im) S - J``, row after row, `width` numbers an entry."""
    n = method.n
    starts = method.column_starts
    rows = method.entry_rows
    jacobian = method.jacobian
    diagonal = method.shift
    for i in range(width * n * n):
        matrix[i] = 0.0
    for j in range(n):
        for e in range(starts[j], starts[j + 1]):
            matrix[width * (rows[e] * n + j)] = -jacobian[e]
    for j in range(n):
        matrix[width * (j * n + j)] += re * diagonal[j]
        if width == 2:
            matrix[2 * (j * n + j) + 1] += im * diagonal[j]


def fill_band(method, matrix, width, re, im):
    """Fill a band matrix with ``(re + i im) S - J``, `width` numbers an entry."""
    pattern = method.pattern
    starts = method.column_starts
    rows = method.entry_rows
    places = method.places
    jacobian = method.jacobian
    diagonal = method.shift
    columns = band_width(pattern.lower, pattern.upper)
    for i in range(len(matrix)):
        matrix[i] = 0.0
    for j in range(method.n):
        column = places[j] + pattern.lower
        for e in range(starts[j], starts[j + 1]):
            row = places[rows[e]]
            matrix[width * (row * columns + column - row)] = -jacobian[e]
    for j in range(method.n):
        entry_at = width * (places[j] * columns + pattern.lower)
        matrix[entry_at] += re * diagonal[j]
        if width == 2:
            matrix[entry_at + 1] += im * diagonal[j]


def solve_real(method, b):
    """Replace `b` by the solution of the real system."""
    pattern = method.pattern
    if pattern.sparse_solver != 0:
        call_sparse_solver(method, SOLVE_REAL, 0.0, b, b)
    elif pattern.is_band != 0:
        matrices = method.matrices
        if pattern.is_reordered != 0:
            ordered = matrices.ordered(0)
            put_in_order(method, b, ordered)
            solve_real_band(method, ordered)
            read_order(method, ordered, b)
        else:
            solve_real_band(method, b)
    else:
        matrices = method.matrices
        lu_solve(matrices.real, matrices.real_pivots, method.n, b)


def solve_real_band(method, b):
    """Replace `b`, in the order of the band, by the solution of the real system."""
    pattern = method.pattern
    matrices = method.matrices
    exchanged = matrices.made_for.exchanged != 0.0
    solve_band(matrices.real, matrices.real_pivots, exchanged, method.n, pattern.lower, pattern.upper, b)


def solve_real_of_both(method, b, c):
    """Replace `b` and `c` by the solutions of the real system for both."""
    pattern = method.pattern
    if pattern.sparse_solver != 0 or pattern.is_band != 0:
        solve_real(method, b)
        solve_real(method, c)
    else:
        matrices = method.matrices
        lu_solve_two(matrices.real, matrices.real_pivots, method.n, b, c)


def solve_pair(method, b, c):
    """Replace b + i c by the solution of the complex system."""
    pattern = method.pattern
    if pattern.sparse_solver != 0:
        call_sparse_solver(method, SOLVE_COMPLEX, 0.0, b, c)
    elif pattern.is_band != 0:
        matrices = method.matrices
        re = matrices.ordered(0)
        im = matrices.ordered(1)
        put_in_order(method, b, re)
        put_in_order(method, c, im)
        solve_complex_band(
            matrices.complex, matrices.complex_pivots, method.n, pattern.lower, pattern.upper, re, im
        )
        read_order(method, re, b)
        read_order(method, im, c)
    else:
        matrices = method.matrices
        solve_complex(matrices.complex, matrices.complex_pivots, method.n, b, c)


@tangent_of(make_matrices, with_values=True)
def make_matrices_of_values(method, step, shift, re, im, method_dot, step_dot, shift_dot, re_dot, im_dot):
    """Make the matrices, without tangents: the results of iterations do not depend on them."""
    return make_matrices(method, step, shift, re, im)


@tangent_of(solve_real, with_values=True)
def solve_real_for_tangent(method, b, method_dot, b_dot):
    """Solve the real system for a right side and its tangent, with the same factors."""
    solve_real_of_both(method, b, b_dot)


@tangent_of(solve_pair, with_values=True)
def solve_pair_for_tangent(method, b, c, method_dot, b_dot, c_dot):
    """Solve the complex system for a right side and its tangent, with the same factors."""
    solve_pair(method, b, c)
    solve_pair(method, b_dot, c_dot)


def put_in_order(method, b, ordered):
    """``ordered`` = `b` in the order of a band."""
    places = method.places
    for j in range(method.n):
        ordered[places[j]] = b[j]


def read_order(method, ordered, b):
    """`b` = the vector ``ordered``, which is in the order of a band, in the order of the states."""
    places = method.places
    for j in range(method.n):
        b[j] = ordered[places[j]]


def call_sparse_solver(method, request, step, b, c):
    """Send a request to the sparse solver. It is called as a block, since compiled code can call those."""
    slots = method.own_slots
    return call_block(method.pattern.sparse_solver, step, b, b, b, slots, b, c, slots, request, 0)
