"""Adjoints of the operations on differences in `past_differences`.

The length of the step does not vary, and for a given length each operation is linear. So its adjoint
transposes the statements of the operation, the last one first.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import (
    WORK_HEADER,
    Record,
    cut_tape,
    pop,
    push,
    recorded_by,
    reserve,
    rows_of,
    width_of,
)
from cosim_integrators.implicit.implicit_method import BASE, DENSE, FAMILY, HISTORY_AT, IMAGINARY
from cosim_integrators.implicit.past_differences import (
    DIFFERENCES,
    advance_differences,
    advance_in_place,
    bring_to_distance,
    load_changed_differences,
    load_differences,
    multiply_by_factor,
    power_of_change,
    predict_end,
    predict_from,
    set_empty_product,
    tangent_differences,
    write_polynomials,
)


class RecordedDifferences(Record):
    """An operation on differences on a tape; room for a matrix follows."""

    size: float  # number of states
    order: float
    kept: float  # count of numbers written to the history
    step: float  # s
    last_step: float  # s
    alpha: float
    memory_at: float  # where memory, work and y begin in their roots: see `RootPlaces`
    work_at: float
    y_at: float


class RootPlaces(NamedTuple):
    """Where memory, work and y begin in the arrays of adjoints that contain theirs (their roots)."""

    memory: int
    work: int
    y: int


HEADER = width_of(RecordedDifferences)
SLOPE = 3  # the vector of work that `MethodArrays.slope` is


def record_head(method, order, room, places, tape):
    """Write a head to the tape, with room for `room` numbers behind it; `places` are `RootPlaces`."""
    at = reserve(tape, HEADER + room)
    push(tape, float(at))
    head = recorded_at(tape, at)
    head.size = float(method.n)
    head.order = float(order)
    head.memory_at = float(places.memory)
    head.work_at = float(places.work)
    head.y_at = float(places.y)
    return at


def recorded_at(tape, at):
    """The head at a place on the tape."""
    return rows_of(RecordedDifferences, tape, at, 1)[0]


def part(root, first, count):
    """A part of a root: `count` numbers from `first` on."""
    return root[first : first + count]


def work_vectors(head, work_root, index, count):
    """The adjoints of `count` vectors of work, one after the other."""
    n = int(head.size)
    return part(work_root, int(head.work_at) + WORK_HEADER + index * n, count * n)


def reverse_load(memory_root, work_root, tape):
    """The adjoint of `load_differences`; returns 0 for the length of the step, which does not vary."""
    at = int(pop(tape))
    head = recorded_at(tape, at)
    n = int(head.size)
    order = int(head.order)
    differences = work_vectors(head, work_root, FAMILY, DIFFERENCES)
    start = work_vectors(head, work_root, 0, 1)
    if head.last_step == 0.0:
        slope = work_vectors(head, work_root, SLOPE, 1)
        for m in range(n):
            slope[m] += head.step * differences[n + m]
            start[m] += differences[m]
        for i in range(DIFFERENCES * n):
            differences[i] = 0.0
        cut_tape(tape, at)
        return 0.0
    if head.step != head.last_step:
        ratio = head.step / head.last_step
        power = power_of_change(order, ratio)
        further = power * ratio
        for m in range(n):
            differences[(order + 2) * n + m] *= further
            differences[(order + 1) * n + m] *= power
        reverse_change(part(tape, at + HEADER, (order + 1) * (order + 1)), head, work_root)
    for m in range(n):
        start[m] += differences[m]
        differences[m] = 0.0
    history_size = (order + 3) * n
    history = part(memory_root, int(head.memory_at) + HISTORY_AT, history_size)
    for i in range(history_size):
        history[i] += differences[i]
        differences[i] = 0.0
    cut_tape(tape, at)
    return 0.0


def reverse_change(change, head, work_root):
    """The adjoint of `change_distance`."""
    n = int(head.size)
    order = int(head.order)
    room = work_vectors(head, work_root, FAMILY + DIFFERENCES, order + 1)
    differences = work_vectors(head, work_root, FAMILY, order + 1)
    for i in range((order + 1) * n):
        room[i] += differences[i]
        differences[i] = 0.0
    for back in range(order + 1):
        j = order - back
        changed = part(room, j * n, n)
        for i in range(order + 1):
            factor = change[i * (order + 1) + j]
            difference = part(differences, i * n, n)
            for m in range(n):
                difference[m] += factor * changed[m]
        for m in range(n):
            changed[m] = 0.0


@recorded_by(load_differences, reverse_load)
def record_load(method, step, memory_dot, work_dot, step_dot, memory_at, work_at, tape):
    """Load the differences of values and tangents, and record it on the tape."""
    order = load_changed_differences(method, step)
    last = method.memory.last_step
    bring_to_distance(tangent_differences(method, memory_dot, work_dot), step, last, order, method.change)
    room = (order + 1) * (order + 1)
    at = record_head(method, order, room, RootPlaces(memory_at, work_at, 0), tape)
    head = recorded_at(tape, at)
    head.step = step
    head.last_step = last
    for i in range(room):
        tape[at + HEADER + i] = method.change[i]
    return order


def reverse_prediction(memory_root, work_root, y_root, tape):
    """The adjoint of `predict_end`."""
    at = int(pop(tape))
    head = recorded_at(tape, at)
    n = int(head.size)
    order = int(head.order)
    differences = work_vectors(head, work_root, FAMILY, order + 1)
    predicted = work_vectors(head, work_root, IMAGINARY, 1)
    base = work_vectors(head, work_root, BASE, 1)
    y = part(y_root, int(head.y_at), n)
    share = -1.0 / head.alpha
    for m in range(n):
        predicted[m] += y[m]
        y[m] = 0.0
        predicted[m] += base[m]
        base[m] *= share
    for back in range(order):
        i = order - back
        gamma = tape[at + HEADER + i]
        difference = part(differences, i * n, n)
        for m in range(n):
            difference[m] += gamma * base[m]
            difference[m] += predicted[m]
    for m in range(n):
        base[m] = 0.0
        differences[m] += predicted[m]
        predicted[m] = 0.0
    cut_tape(tape, at)


@recorded_by(predict_end, reverse_prediction)
def record_prediction(*arguments):
    """Predict the end of a step and its tangent, and record it on the tape."""
    method, y, order = arguments[:3]
    memory_dot, work_dot, y_dot, memory_at, work_at, y_at, tape = arguments[3:]
    tangents = tangent_differences(method, memory_dot, work_dot)
    predict_from(method, method.changed_differences, y, order)
    predict_from(tangents, tangents.changed_differences, y_dot, order)
    at = record_head(method, order, order + 1, RootPlaces(memory_at, work_at, y_at), tape)
    recorded_at(tape, at).alpha = method.alpha(order)
    for i in range(order + 1):
        tape[at + HEADER + i] = method.gamma(i)


def reverse_advance(memory_root, work_root, y_root, tape):
    """The adjoint of `advance_differences`."""
    at = int(pop(tape))
    head = recorded_at(tape, at)
    n = int(head.size)
    order = int(head.order)
    history_size = int(head.kept)
    history = part(memory_root, int(head.memory_at) + HISTORY_AT, history_size)
    differences = work_vectors(head, work_root, FAMILY, DIFFERENCES)
    predicted = work_vectors(head, work_root, BASE, 1)
    y = part(y_root, int(head.y_at), n)
    for i in range(history_size):
        differences[i] += history[i]
        history[i] = 0.0
    reverse_polynomial(part(tape, at + HEADER, order + 1), head, work_root)
    for m in range(n):
        y[m] += differences[m]
        differences[m] = 0.0
    for i in range((order + 1) * n):
        differences[n + i] += differences[i]
    next_at = (order + 1) * n
    last_at = (order + 2) * n
    for m in range(n):
        newest = differences[next_at + m] + differences[last_at + m]
        differences[next_at + m] = 0.0 - differences[last_at + m]
        differences[last_at + m] = 0.0
        y[m] += newest
        predicted[m] -= newest
    cut_tape(tape, at)


def reverse_polynomial(powers, head, work_root):
    """The adjoint of `write_polynomial`."""
    n = int(head.size)
    order = int(head.order)
    for back in range(order):
        i = order - back
        set_empty_product(powers, order)
        for j in range(1, i + 1):
            multiply_by_factor(powers, j)
        difference = work_vectors(head, work_root, FAMILY + i, 1)
        for below in range(i):
            q = i - below
            factor = powers[q]
            coefficient = work_vectors(head, work_root, DENSE + q - 1, 1)
            for m in range(n):
                difference[m] += factor * coefficient[m]
    coefficients = work_vectors(head, work_root, DENSE, order)
    for i in range(order * n):
        coefficients[i] = 0.0


@recorded_by(advance_differences, reverse_advance)
def record_advance(*arguments):
    """Advance the differences of values and tangents, and record it on the tape."""
    method, y, order, loaded = arguments[:4]
    memory_dot, work_dot, y_dot, memory_at, work_at, y_at, tape = arguments[4:]
    tangents = tangent_differences(method, memory_dot, work_dot)
    advance_in_place(method, y, order, loaded)
    advance_in_place(tangents, y_dot, order, loaded)
    write_polynomials(method, tangents, order)
    at = record_head(method, order, order + 1, RootPlaces(memory_at, work_at, y_at), tape)
    recorded_at(tape, at).kept = float(loaded * method.n)
