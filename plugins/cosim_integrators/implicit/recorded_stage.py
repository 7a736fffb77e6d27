"""Going back over an implicit stage: by the implicit function theorem, and not along Newton's iterations.

The end of the stage meets f(t, y) = S (y - base) / weighted. With an adjoint r of y, the adjoint of the left
side is the solution x of (S / weighted - J)' x = r; base gets S / weighted x, and all that f reads the
product of x and its derivative. The factors are those of Newton's method, whose Jacobian is an older one:
the blocks of the stage, recorded on the tape, say what their solution has missed.
"""

from __future__ import annotations

from cosim.kit import WORK_HEADER, WalkedDots, pop, push, record_blocks, recorded_by, reserve, reverse_walk
from cosim_integrators.implicit.implicit_method import BASE
from cosim_integrators.implicit.newton import (
    HARDLY,
    MOST_FOLLOWED,
    ROUNDED,
    SETTLED,
    iterating_stage,
    moved_method,
    solve_stage,
)
from cosim_integrators.implicit.recorded_matrices import solve_real_transposed


def record_again(walked, dots, number, behind):
    """As `newton.walk_along`; only the last iteration stays on the tape.

    `behind` has where y, p, d, h and c begin in their roots, where it begins on the tape, and the tape.
    """
    tape = behind[6]
    if number == 0:
        tape[0] = behind[5]
    return record_blocks(walked, dots, behind[:5], tape)


record_iteration = iterating_stage(record_again)


def largest(vector):
    """The largest absolute value."""
    size = 0.0
    for m in range(vector.shape[0]):
        size = max(size, abs(vector[m]))
    return size


def goes_on(size, previous, first):
    """Whether another correction of a solution is worth it, after one of this size.

    `first` was the first one. As `newton.settled`: one that is hardly smaller than the one before is
    rounding where it is small, too.
    """
    return size > SETTLED * first and (size < HARDLY * previous or size > ROUNDED * first)


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
    tape[0] = walks_end
    t_bar = reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
    for m in range(n):
        left[m] = y_root[y_at + m]
        y_root[y_at + m] = 0.0
    first = 0.0
    previous = 0.0
    for iteration in range(MOST_FOLLOWED if largest(left) > 0.0 else 0):
        for m in range(n):
            solution[m] = left[m]
        solve_real_transposed(tape, matrices_at, solution)
        size = largest(solution)
        if iteration == 0:
            first = size
        elif not goes_on(size, previous, first):
            break
        for m in range(n):
            work_root[base_at + m] += scale[m] * solution[m]
            c_root[c_at + m] += solution[m]
        tape[0] = walks_end
        t_bar += reverse_walk(y_root, p_root, d_root, h_root, c_root, tape)
        for m in range(n):
            left[m] += y_root[y_at + m] - scale[m] * solution[m]
            y_root[y_at + m] = 0.0
        previous = size
    tape[0] = float(at)
    return t_bar, 0.0


@recorded_by(solve_stage, reverse_stage)
def record_stage(*arguments):
    """Solve for a stage and its tangent, on the tape.

    `arguments` are those of `solve_stage`, the tangents of y, p, d, h, c, memory, work, t and what it is
    weighted by, the places of these seven views in their roots, and the tape.
    """
    system, method, t, weighted = arguments[0:4]
    y_dot, p_dot, d_dot, h_dot, c_dot, memory_dot, work_dot, t_dot = arguments[4:12]
    starts = arguments[13:18]  # of y, p, d, h and c
    work_at = arguments[19]
    tape = arguments[20]
    n = method.n
    at = reserve(tape, 3 * n)
    shift = method.shift
    for m in range(n):
        tape[at + m] = shift[m] / weighted
    moved = moved_method(method, memory_dot, work_dot)
    dots = WalkedDots(t_dot, y_dot, p_dot, d_dot, h_dot, c_dot)
    behind = starts + (tape[0], tape)  # noqa: RUF005
    status = record_iteration(system, method, moved, dots, t, weighted, behind)
    walks_end = tape[0]
    push(tape, float(at))
    push(tape, float(n))
    push(tape, method.matrices.made_for.recorded_at)
    push(tape, float(starts[0]))
    push(tape, float(work_at + WORK_HEADER + BASE * n))
    push(tape, float(starts[4]))
    push(tape, walks_end)
    return status
