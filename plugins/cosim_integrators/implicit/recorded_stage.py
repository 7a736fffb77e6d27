"""Going back over an implicit stage: by the implicit function theorem, and not along Newton's iterations.

The end of the stage meets f(t, y) = S (y - base) / weighted. With an adjoint r of y, the adjoint of the left
side is the solution x of (S / weighted - J)' x = r; base gets S / weighted x, and all that f reads the
product of x and its derivative. The factors are those of Newton's method, whose Jacobian is an older one:
the blocks of the stage, recorded on the tape, say what their solution has missed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosim.kit import (
    WORK_HEADER,
    WalkedDots,
    cut_tape,
    end_of_tape,
    pop,
    push,
    record_blocks,
    recorded_by,
    reserve,
    reverse_walk,
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
    """Evaluate a system and its tangents on the tape, where only the last iteration stays.

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


def reverse_stage(y_root, p_root, d_root, h_root, c_root, memory_root, work_root, tape):
    """Go back over a stage; the adjoints of its time and of its weight, which does not vary."""
    walks_end = pop(tape)
    c_at = int(pop(tape))
    base_at = int(pop(tape))
    y_at = int(pop(tape))
    matrices_at = int(pop(tape))
    n = int(pop(tape))
    at = int(pop(tape))
    scale = tape[at : at + n]
    left = tape[at + n : at + 2 * n]
    solution = tape[at + 2 * n : at + 3 * n]
    cut_tape(tape, walks_end)
    t_bar = reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
    for m in range(n):
        left[m] = y_root[y_at + m]
        y_root[y_at + m] = 0.0
    first = 0.0
    previous = 0.0
    for iteration in range(MOST_TANGENT_ITERATIONS if largest(left) > 0.0 else 0):
        for m in range(n):
            solution[m] = left[m]
        solve_real_transposed(tape, matrices_at, solution)
        size = largest(solution)
        if iteration == 0:
            first = size
        elif not needs_correction(size, previous, first):
            break
        for m in range(n):
            work_root[base_at + m] += scale[m] * solution[m]
            c_root[c_at + m] += solution[m]
        cut_tape(tape, walks_end)
        t_bar += reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
        for m in range(n):
            left[m] += y_root[y_at + m] - scale[m] * solution[m]
            y_root[y_at + m] = 0.0
        previous = size
    cut_tape(tape, at)
    return t_bar, 0.0


@recorded_by(solve_stage, reverse_stage)
def record_stage(*arguments):
    """Solve for a stage and its tangent, on the tape.

    `arguments` are those of `solve_stage`, then `StageDots`, `RootStarts` and the tape.
    """
    system, method, t, weighted = arguments[:4]
    dots = StageDots(*arguments[4:STARTS_AT])
    starts = RootStarts(*arguments[STARTS_AT:TAPE_AT])
    tape = arguments[TAPE_AT]
    n = method.n
    at = reserve(tape, 3 * n)
    shift = method.shift
    for m in range(n):
        tape[at + m] = shift[m] / weighted
    tangents = tangent_method(method, dots.memory, dots.work)
    recording = StageRecording(starts, end_of_tape(tape), tape)
    status = record_iteration(system, method, tangents, dots.walked, t, weighted, recording)
    walks_end = end_of_tape(tape)
    push(tape, float(at))
    push(tape, float(n))
    push(tape, method.matrices.made_for.recorded_at)
    push(tape, float(starts.y))
    push(tape, float(starts.work + WORK_HEADER + BASE * n))
    push(tape, float(starts.c))
    push(tape, walks_end)
    return status
