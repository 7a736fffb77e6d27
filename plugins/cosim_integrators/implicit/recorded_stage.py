"""The adjoint of an implicit stage, by the implicit function theorem and not along Newton's iterations.

The end of the stage solves f(t, y) = S (y - base) / weighted. With an adjoint r of y, the adjoint of the left
side is the solution x of (S / weighted - J)' x = r; base gets S / weighted x, and the inputs of f get the
product of x and the derivatives of f. The factors are those of Newton's method, whose Jacobian is an older
one: the adjoints of the blocks of the stage, which are on the tape, give the residual of their solution, and
it is corrected until the residual is rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosim.kit import (
    WORK_HEADER,
    Record,
    WalkedDots,
    cut_tape,
    end_of_tape,
    pop,
    push,
    record_blocks,
    recorded_by,
    reserve,
    reverse_walk,
    rows_of,
    width_of,
)
from cosim_integrators.implicit.implicit_method import BASE, ROUNDING
from cosim_integrators.implicit.newton import (
    MOST_TANGENT_ITERATIONS,
    NEGLIGIBLE,
    STALLED_RATIO,
    solve_stage,
    stage_iteration,
    tangent_method,
)
from cosim_integrators.implicit.recorded_matrices import solve_real_transposed


class RecordedStage(Record):
    """The head of a stage on a tape; room for `StageSolution` follows."""

    size: float  # number of states
    matrices_at: float  # where on the tape the factors of Newton's method begin
    y_at: float  # where in the root of y the states begin
    base_at: float  # where in the root of the work the base of the stage begins
    c_at: float  # where in the root of the cache the derivatives begin
    walks_end: float  # where on the tape the blocks of the stage end


class StageSolution(NamedTuple):
    """Vectors behind the head of a stage: its adjoint equation and the solution of that."""

    diagonal: Any  # S / weighted
    residual: Any  # of the adjoint equation, with the solution so far
    solution: Any  # x, the adjoints of the derivatives


HEADER = width_of(RecordedStage)


class StageDots(NamedTuple):
    """The tangents of what a stage is solved with, in the order in which the compiler passes them."""

    y: Any
    p: Any
    d: Any
    h: Any
    c: Any
    memory: Any
    work: Any
    t: float
    step: float  # of the fourth argument: the weight of a stage, or the end of a step

    @property
    def walked(dots):
        """The tangents of the arguments of `cosim.walker.walk`."""
        return WalkedDots(dots.t, dots.y, dots.p, dots.d, dots.h, dots.c)


class RootStarts(NamedTuple):
    """The starts of views in their roots, in the order in which the compiler passes them."""

    y: int
    p: int
    d: int
    h: int
    c: int
    memory: int
    work: int


class StageRecording(NamedTuple):
    """The tape on which the blocks of a stage are recorded, with their places."""

    starts: RootStarts
    walks_start: float  # on the tape
    tape: Any


STARTS_AT = 4 + len(StageDots._fields)
TAPE_AT = STARTS_AT + len(RootStarts._fields)
"""Where in the arguments of a recorded stage its starts and its tape stand; the first four are its own."""


def record_evaluation(walked, dots, number, recording):
    """Evaluate a system and its tangents and record it on the tape, which keeps only the last iteration.

    Returns 0, or 1 + the index of a block that failed.
    """
    tape = recording.tape
    starts = recording.starts
    if number == 0:
        cut_tape(tape, recording.walks_start)
    return record_blocks(walked, dots, (starts.y, starts.p, starts.d, starts.h, starts.c), tape)


record_iteration = stage_iteration(record_evaluation)


def largest(vector):
    """The largest absolute value."""
    size = 0.0
    for m in range(vector.shape[0]):
        size = max(size, abs(vector[m]))
    return size


def needs_correction(size, previous, first):
    """Whether another correction of a solution is worth it.

    `size`, `previous` and `first` are the sizes of the last correction, of the one before and of the first
    one. A small correction that hardly shrinks is rounding.
    """
    return size > NEGLIGIBLE * first and (size < STALLED_RATIO * previous or size > ROUNDING * first)


def stage_on_tape(tape, at):
    """The head of a stage at a place on a tape."""
    return rows_of(RecordedStage, tape, at, 1)[0]


def vectors_of_stage(tape, at, n):
    """The vectors behind the head of a stage with `n` states."""
    first = at + HEADER
    return StageSolution(
        tape[first : first + n], tape[first + n : first + 2 * n], tape[first + 2 * n : first + 3 * n]
    )


def reverse_stage(y_root, p_root, d_root, h_root, c_root, memory_root, work_root, tape):
    """The adjoint of a stage; returns the adjoints of its time and of its weight (0: it does not vary)."""
    at = int(pop(tape))
    head = stage_on_tape(tape, at)
    n = int(head.size)
    matrices_at = int(head.matrices_at)
    y_at = int(head.y_at)
    base_at = int(head.base_at)
    c_at = int(head.c_at)
    vectors = vectors_of_stage(tape, at, n)
    residual = vectors.residual
    solution = vectors.solution
    cut_tape(tape, head.walks_end)
    t_bar = reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
    for m in range(n):
        residual[m] = y_root[y_at + m]
        y_root[y_at + m] = 0.0
    first = 0.0
    previous = 0.0
    for iteration in range(MOST_TANGENT_ITERATIONS if largest(residual) > 0.0 else 0):
        for m in range(n):
            solution[m] = residual[m]
        solve_real_transposed(tape, matrices_at, solution)
        size = largest(solution)
        if iteration == 0:
            first = size
        elif not needs_correction(size, previous, first):
            break
        for m in range(n):
            work_root[base_at + m] += vectors.diagonal[m] * solution[m]
            c_root[c_at + m] += solution[m]
        cut_tape(tape, head.walks_end)
        t_bar += reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
        for m in range(n):
            residual[m] += y_root[y_at + m] - vectors.diagonal[m] * solution[m]
            y_root[y_at + m] = 0.0
        previous = size
    cut_tape(tape, at)
    return t_bar, 0.0


@recorded_by(solve_stage, reverse_stage)
def record_stage(*arguments):
    """Solve for a stage and its tangent, and record it on the tape.

    `arguments` are those of `solve_stage`, then `StageDots`, `RootStarts` and the tape.
    """
    system, method, t, weighted = arguments[:4]
    dots = StageDots(*arguments[4:STARTS_AT])
    starts = RootStarts(*arguments[STARTS_AT:TAPE_AT])
    tape = arguments[TAPE_AT]
    at = reserve(tape, HEADER + 3 * method.n)
    tangents = tangent_method(method, dots.memory, dots.work)
    recording = StageRecording(starts, end_of_tape(tape), tape)
    status = record_iteration(system, method, tangents, dots.walked, t, weighted, recording)
    write_stage(tape, at, method, starts, weighted)
    push(tape, float(at))
    return status


def write_stage(tape, at, method, starts, weighted):
    """Write the head and the diagonal of a stage at a place on the tape; its blocks follow."""
    n = method.n
    head = stage_on_tape(tape, at)
    head.size = float(n)
    head.matrices_at = method.matrices.made_for.recorded_at
    head.y_at = float(starts.y)
    head.base_at = float(starts.work + WORK_HEADER + BASE * n)
    head.c_at = float(starts.c)
    head.walks_end = end_of_tape(tape)
    diagonal = vectors_of_stage(tape, at, n).diagonal
    shift = method.shift
    for m in range(n):
        diagonal[m] = shift[m] / weighted
