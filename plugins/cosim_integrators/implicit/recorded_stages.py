"""The adjoints of all stages of a collocation method, by the implicit function theorem.

The stages z_i solve f_i(start + z_i) = (T L T^-1 / step z)_i. Given the adjoints r of all z_i, the adjoints x
of the derivatives f_i solve the transposed system. In the variables T' x its matrix is (L / step - J)', which
is solved with the factors of Newton's method. Their Jacobian J is an older one, so the solution is corrected:
the adjoints of the blocks of the stages, which are on the tape, give its residual, as in `recorded_stage`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosim.kit import (
    WORK_HEADER,
    Record,
    as_table,
    cut_tape,
    end_of_tape,
    pop,
    push,
    recorded_by,
    reserve,
    reverse_walk,
    rows_of,
    width_of,
)
from cosim_integrators.implicit.collocation_method import INVERSE_AT, TRANSFORM_AT, WIDTH
from cosim_integrators.implicit.collocation_stages import solve_stages, stages_iteration, tangent_collocation
from cosim_integrators.implicit.implicit_method import FAMILY
from cosim_integrators.implicit.newton import MOST_TANGENT_ITERATIONS
from cosim_integrators.implicit.recorded_matrices import solve_pair_transposed, solve_real_transposed
from cosim_integrators.implicit.recorded_stage import (
    STARTS_AT,
    TAPE_AT,
    RootStarts,
    StageDots,
    StageRecording,
    largest,
    needs_correction,
    record_evaluation,
)


class RecordedStages(Record):
    """The head of stages on a tape; T and T^-1 follow, row after row, then room for `StageVectors`."""

    size: float  # number of states
    stages: float  # number of stages
    step: float  # s
    has_real_system: float  # 1.0 where L has a real eigenvalue besides its pair, else 0.0
    shift: float  # that real eigenvalue
    pair_real: float  # the complex pair of eigenvalues of L
    pair_imaginary: float
    matrices_at: float  # where on the tape the factors of Newton's method begin
    y_at: float  # where in the root of y the states begin
    c_at: float  # where in the root of the cache the derivatives begin
    start_at: float  # where in the root of the work the states at the start begin
    z_at: float  # where in the root of the work the z_i begin
    derivatives_at: float  # where in the root of the work the f_i begin
    walks_end: float  # where on the tape the blocks of the stages end


class StageVectors(NamedTuple):
    """Room on a tape for vectors with the numbers of all stages."""

    residual: Any  # of the adjoint equations, with the solution so far
    solution: Any  # adjoints of the derivatives of the stages
    transformed: Any  # in the variables in which L is block-diagonal
    shifted: Any  # L' / step times the transformed ones


HEADER, TABLE = width_of(RecordedStages), WIDTH * WIDTH
record_iterations = stages_iteration(record_evaluation)


def multiply_transposed(matrix, stages, n, source, out):
    """``out_i`` = sum_j M_ji source_j, for vectors of the stages."""
    for i in range(stages):
        for m in range(n):
            total = 0.0
            for j in range(stages):
                total += matrix[j, i] * source[j * n + m]
            out[i * n + m] = total


def solve_transformed(head, tape, u):
    """Replace `u`, of the transformed unknowns, by the solution of their transposed systems."""
    n = int(head.size)
    at = int(head.matrices_at)
    pair = int(head.stages) - 2
    if head.has_real_system != 0.0:
        solve_real_transposed(tape, at, u[:n])
    solve_pair_transposed(tape, at, u[pair * n : pair * n + n], u[pair * n + n : pair * n + 2 * n])


def shift_transformed(head, v, out):
    """``out`` = L' / step v."""
    n = int(head.size)
    pair = int(head.stages) - 2
    for m in range(pair * n):
        out[m] = head.shift / head.step * v[m]
    for m in range(n):
        a = v[pair * n + m]
        b = v[pair * n + n + m]
        out[pair * n + m] = (head.pair_real * a + head.pair_imaginary * b) / head.step
        out[pair * n + n + m] = (head.pair_real * b - head.pair_imaginary * a) / head.step


def reverse_walks(y_root, p_root, d_root, h_root, c_root, work_root, tape, head, x, residual):
    """Compute the adjoints of the blocks of all stages from the adjoints x of their derivatives.

    Adds the adjoint of each stage's states to its part of `residual` and to those of the start. Returns the
    adjoint of the time.
    """
    n = int(head.size)
    stages = int(head.stages)
    y_at = int(head.y_at)
    c_at = int(head.c_at)
    start_at = int(head.start_at)
    cut_tape(tape, head.walks_end)
    t_bar = 0.0
    for back in range(stages):
        first = (stages - 1 - back) * n
        for m in range(n):
            c_root[c_at + m] += x[first + m]
        t_bar += reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
        for m in range(n):
            residual[first + m] += y_root[y_at + m]
            work_root[start_at + m] += y_root[y_at + m]
            y_root[y_at + m] = 0.0
    return t_bar


def vectors_on_tape(tape, at, size):
    """The vectors behind the head and the two matrices of stages at a place on a tape."""
    first = at + HEADER + 2 * TABLE
    return StageVectors(
        tape[first : first + size],
        tape[first + size : first + 2 * size],
        tape[first + 2 * size : first + 3 * size],
        tape[first + 3 * size : first + 4 * size],
    )


def solve_transposed(head, tape, transform, inverse, vectors):
    """Solve the transposed system for the residual, with the factors of Newton's method."""
    n = int(head.size)
    stages = int(head.stages)
    multiply_transposed(transform, stages, n, vectors.residual, vectors.transformed)
    solve_transformed(head, tape, vectors.transformed)
    multiply_transposed(inverse, stages, n, vectors.transformed, vectors.solution)


def subtract_explained(head, inverse, vectors):
    """Subtract L' / step times the solution from the residual; `reverse_walks` adds J' times it."""
    shift_transformed(head, vectors.transformed, vectors.shifted)
    multiply_transposed(inverse, int(head.stages), int(head.size), vectors.shifted, vectors.transformed)
    for m in range(vectors.residual.shape[0]):
        vectors.residual[m] -= vectors.transformed[m]


def reverse_stages(y_root, p_root, d_root, h_root, c_root, memory_root, work_root, tape):
    """The adjoint of all stages; returns the adjoints of both ends of the step, which vary together."""
    at = int(pop(tape))
    head = rows_of(RecordedStages, tape, at, 1)[0]
    size = int(head.stages) * int(head.size)
    z_at = int(head.z_at)
    f_at = int(head.derivatives_at)
    first = at + HEADER
    transform = as_table(tape[first : first + TABLE], WIDTH, WIDTH)
    inverse = as_table(tape[first + TABLE : first + 2 * TABLE], WIDTH, WIDTH)
    vectors = vectors_on_tape(tape, at, size)
    residual = vectors.residual
    x = vectors.solution
    for m in range(size):
        residual[m] = work_root[z_at + m]
        work_root[z_at + m] = 0.0
        x[m] = work_root[f_at + m]
        work_root[f_at + m] = 0.0
    t_bar = reverse_walks(y_root, p_root, d_root, h_root, c_root, work_root, tape, head, x, residual)
    first_size = 0.0
    previous = 0.0
    for iteration in range(MOST_TANGENT_ITERATIONS if largest(residual) > 0.0 else 0):
        solve_transposed(head, tape, transform, inverse, vectors)
        size_of_x = largest(x)
        if iteration == 0:
            first_size = size_of_x
        elif not needs_correction(size_of_x, previous, first_size):
            break
        previous = size_of_x
        subtract_explained(head, inverse, vectors)
        t_bar += reverse_walks(y_root, p_root, d_root, h_root, c_root, work_root, tape, head, x, residual)
    cut_tape(tape, at)
    return 0.0, t_bar


@recorded_by(solve_stages, reverse_stages)
def record_stages(*arguments):
    """Solve for all stages and their tangents, and record it on the tape.

    `arguments` are those of `solve_stages`, then `StageDots`, `RootStarts` and the tape.
    """
    system, method, t, t_end = arguments[:4]
    dots = StageDots(*arguments[4:STARTS_AT])
    starts = RootStarts(*arguments[STARTS_AT:TAPE_AT])
    tape = arguments[TAPE_AT]
    at = reserve(tape, HEADER + 2 * TABLE + 4 * method.stages * method.n)
    tangents = tangent_collocation(method, dots.memory, dots.work)
    recording = StageRecording(starts, end_of_tape(tape), tape)
    status = record_iterations(system, method, tangents, dots.walked, t, t_end, recording)
    write_head(tape, at, method, starts, t_end - t)
    push(tape, float(at))
    return status


def write_head(tape, at, method, starts, step):
    """Write the head of stages and the matrices T and T^-1 at a place on the tape."""
    n = method.n
    numbers = method.numbers
    head = rows_of(RecordedStages, tape, at, 1)[0]
    head.size = float(n)
    head.stages = float(method.stages)
    head.step = step
    head.has_real_system = numbers.has_real_system
    head.shift = numbers.shift
    head.pair_real = numbers.pair_real
    head.pair_imaginary = numbers.pair_imaginary
    head.matrices_at = method.matrices.made_for.recorded_at
    head.y_at = float(starts.y)
    head.c_at = float(starts.c)
    family_at = starts.work + WORK_HEADER + FAMILY * n
    head.start_at = float(starts.work + WORK_HEADER)
    head.z_at = float(family_at)
    head.derivatives_at = float(family_at + 2 * method.stages * n)
    head.walks_end = end_of_tape(tape)
    transform = tape[at + HEADER : at + HEADER + TABLE]
    inverse = tape[at + HEADER + TABLE : at + HEADER + 2 * TABLE]
    for m in range(TABLE):
        transform[m] = method.coefficients[TRANSFORM_AT + m]
        inverse[m] = method.coefficients[INVERSE_AT + m]
