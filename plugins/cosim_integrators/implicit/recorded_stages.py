"""Going back over the stages of a collocation method: by the implicit function theorem, all at once.

They meet f_i(start + z_i) = (T L T^-1 / step z)_i. With adjoints r of z the solution x of the transposed
system is that of (L / step - J)' in the variables T' x, with the factors of Newton's method; the blocks of
the stages say what it has missed, as in `recorded_stage`.
"""

from __future__ import annotations

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
from cosim_integrators.implicit.collocation_stages import moved_collocation, solve_stages, stages_iteration
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
    """The head of stages on a tape; T and T^-1 follow, row after row, and room for four vectors."""

    size: float  # states
    stages: float
    step: float  # s
    has_real_system: float
    shift: float
    pair_real: float
    pair_imaginary: float
    matrices_at: float
    y_at: float  # where in their roots
    c_at: float
    start_at: float
    z_at: float
    derivatives_at: float
    walks_end: float  # of the blocks of the stages on the tape


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


def reverse_walks(y_root, p_root, d_root, h_root, c_root, work_root, tape, head, x, left):
    """Go back along the blocks of all stages with adjoints x of the derivatives: that of the time.

    What comes to a stage is added to its part of `left`, and to the start.
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
            left[first + m] += y_root[y_at + m]
            work_root[start_at + m] += y_root[y_at + m]
            y_root[y_at + m] = 0.0
    return t_bar


def reverse_stages(y_root, p_root, d_root, h_root, c_root, memory_root, work_root, tape):
    """Go back over the stages; the adjoints of both ends of the step, which move alike."""
    at = int(pop(tape))
    head = rows_of(RecordedStages, tape, at, 1)[0]
    n = int(head.size)
    stages = int(head.stages)
    size = stages * n
    z_at = int(head.z_at)
    f_at = int(head.derivatives_at)
    first = at + HEADER
    transform = as_table(tape[first : first + TABLE], WIDTH, WIDTH)
    inverse = as_table(tape[first + TABLE : first + 2 * TABLE], WIDTH, WIDTH)
    first += 2 * TABLE
    left = tape[first : first + size]
    x = tape[first + size : first + 2 * size]
    room = tape[first + 2 * size : first + 3 * size]
    other = tape[first + 3 * size : first + 4 * size]
    for m in range(size):
        left[m] = work_root[z_at + m]
        work_root[z_at + m] = 0.0
        x[m] = work_root[f_at + m]
        work_root[f_at + m] = 0.0
    t_bar = reverse_walks(y_root, p_root, d_root, h_root, c_root, work_root, tape, head, x, left)
    of_first = 0.0
    previous = 0.0
    for iteration in range(MOST_TANGENT_ITERATIONS if largest(left) > 0.0 else 0):
        multiply_transposed(transform, stages, n, left, room)
        solve_transformed(head, tape, room)
        multiply_transposed(inverse, stages, n, room, x)
        largest_x = largest(x)
        if iteration == 0:
            of_first = largest_x
        elif not needs_correction(largest_x, previous, of_first):
            break
        previous = largest_x
        shift_transformed(head, room, other)
        multiply_transposed(inverse, stages, n, other, room)
        for m in range(size):
            left[m] -= room[m]
        t_bar += reverse_walks(y_root, p_root, d_root, h_root, c_root, work_root, tape, head, x, left)
    cut_tape(tape, at)
    return 0.0, t_bar


@recorded_by(solve_stages, reverse_stages)
def record_stages(*arguments):
    """Solve for all stages and their tangents, on the tape.

    `arguments` are those of `solve_stages`, then `StageDots`, `RootStarts` and the tape.
    """
    system, method, t, t_end = arguments[:4]
    dots = StageDots(*arguments[4:STARTS_AT])
    starts = RootStarts(*arguments[STARTS_AT:TAPE_AT])
    tape = arguments[TAPE_AT]
    n = method.n
    numbers = method.numbers
    stages = method.stages
    at = reserve(tape, HEADER + 2 * TABLE + 4 * stages * n)
    moved = moved_collocation(method, dots.memory, dots.work)
    recording = StageRecording(starts, end_of_tape(tape), tape)
    status = record_iterations(system, method, moved, dots.walked, t, t_end, recording)
    head = rows_of(RecordedStages, tape, at, 1)[0]
    head.size = float(n)
    head.stages = float(stages)
    head.step = t_end - t
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
    head.derivatives_at = float(family_at + 2 * stages * n)
    head.walks_end = end_of_tape(tape)
    transform = tape[at + HEADER : at + HEADER + TABLE]
    inverse = tape[at + HEADER + TABLE : at + HEADER + 2 * TABLE]
    for m in range(TABLE):
        transform[m] = method.coefficients[TRANSFORM_AT + m]
        inverse[m] = method.coefficients[INVERSE_AT + m]
    push(tape, float(at))
    return status
