"""The tape of a run: its steps and events in order; tangents are carried along it.

Where ``output.logging`` is `LOG_TAPE`, the event log has these records between its events: each step with the
states that it began with, each row that was recorded, where each group of handlers begins that read the same
State, each update of what is remembered, and each witness that touches zero: within the accuracy of the run
it crosses or it does not, and derivatives exist on either side only. The kinds of records stand where a
finding has its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.run_data.records.recording import LOG_TAPE
from cosim.run_data.run import Reals, Run
from cosim.step.block_calls import copy_reals
from cosim.step.event_log import ASSEMBLED, STEP_TAKEN, TOUCHED, logged_finding, room_in_log
from cosim.step.holds import can_hold, held_count
from cosim.step.integration import method_arrays
from cosim.step.search_points import LEFT, RIGHT, Points, rates_at, time_at, values_at
from cosim.step.sliding_field import SlidingRow, field_numbers
from cosim.step.witness_values import error_of_accuracy, has_events, measure_rounding
from cosim_compiler.calls import rarely
from cosim_compiler.record import Record, rows_of, width_of

TOUCHES_WITHIN = 0.05  # of its values at the ends of a step: only a turn closer to zero counts as a touch
SLOWED = 0.05  # of the change of its rate in a part: so slow at its end, it turns there
AROUND = 2.0  # times as long before its turn as it stays closer than the accuracy, a witness may cross


class LoggedStep(Record):
    """A step, as it stays; behind it `StepNumbers`.

    Where witnesses were held, there follow how many were, and by a push, and what `prepare_sliding_field` has
    written: the tables of witnesses and switches, a push for each witness, and the sides of switches.
    """

    length: float
    time: float  # of its end, s
    kind: float  # STEP_TAKEN
    start: float  # s
    is_held: float  # whether witnesses were held in it


class LoggedMark(Record):
    """A record of a row, of a phase of handlers, of an update of memory, of an assembly, or of a touch."""

    length: float
    time: float  # s
    kind: float  # ROW_WRITTEN, ROW_DROPPED, PHASE_BEGUN, MEMORY_UPDATED, ASSEMBLED, TOUCHED
    detail: float  # whether a row lies inside the step before; the cause of handlers; the side; the witness
    smoothness: float  # of what goes into histories, see `remember`; how long before a touch, s, it may cross


class StepNumbers(NamedTuple):
    """The values at the start of a step, which follow its record; d and k are those at its end."""

    y: Reals
    memory: Reals
    d: Reals
    k: Reals


STEP_WIDTH, MARK_WIDTH = map(width_of, (LoggedStep, LoggedMark))


def logged_step(run: Run, at: int) -> LoggedStep:
    """The step that begins at a place in `log`."""
    return rows_of(LoggedStep, run.log, at, 1)[0]


def logged_mark(run: Run, at: int) -> LoggedMark:
    """The other record that begins at a place in `log`."""
    return rows_of(LoggedMark, run.log, at, 1)[0]


def step_numbers(run: Run, at: int) -> StepNumbers:
    """The values that follow the step whose record begins at a place in `log`."""
    at_y = at + STEP_WIDTH
    at_memory = at_y + run.y.shape[0]
    at_d = at_memory + run.memory.shape[0]
    at_k = at_d + run.d.shape[0]
    return StepNumbers(
        run.log[at_y:at_memory],
        run.log[at_memory:at_d],
        run.log[at_d:at_k],
        run.log[at_k : holds_at(run, at)],
    )


def holds_at(run: Run, at: int) -> int:
    """The place in `log` of the holds of the step whose record begins at a place."""
    return at + STEP_WIDTH + run.y.shape[0] + run.memory.shape[0] + run.d.shape[0] + run.k.shape[0]


def is_taped(run: Run) -> bool:
    """Whether the run has a tape. Few have: what writes it stands apart from the code of all others."""
    return run.output.logging == LOG_TAPE


def room_on_tape(run: Run, kind: int, size: int) -> int:
    """The place at which a record of this kind and size may begin; -1 if there is no room."""
    at = room_in_log(run, size)
    if at >= 0:
        logged_finding(run, at).kind = float(kind)
    return at


def log_mark(run: Run, kind: int, t: float, detail: float, smoothness: float) -> None:
    """Record a row, a group of handlers or an update; see `LoggedMark`."""
    if is_taped(run):
        write_mark(run, kind, t, detail, smoothness)


@rarely
def write_mark(run: Run, kind: int, t: float, detail: float, smoothness: float) -> None:
    """Write a mark on the tape."""
    at = room_on_tape(run, kind, MARK_WIDTH)
    if at >= 0:
        mark = logged_mark(run, at)
        mark.time = t
        mark.detail = detail
        mark.smoothness = smoothness


def log_assembly(run: Run) -> None:
    """Record that the states meet their constraints now."""
    if is_taped(run):
        write_assembly(run)


@rarely
def write_assembly(run: Run) -> None:
    """Write the states that meet their constraints on the tape."""
    at = room_on_tape(run, ASSEMBLED, MARK_WIDTH + run.y.shape[0])
    if at >= 0:
        copy_reals(run.y, assembled_states(run, at))


def assembled_states(run: Run, at: int) -> Reals:
    """The states behind the record of an assembly."""
    return run.log[at + MARK_WIDTH : at + MARK_WIDTH + run.y.shape[0]]


def start_step_on_tape(run: Run) -> None:
    """Copy the memory of the method at the start of a step, if steps are logged for derivatives."""
    if is_taped(run):
        copy_reals(run.memory, run.start_memory)


def log_step(run: Run, start: float, is_held: bool) -> None:
    """Record a step that has ended now, before anything that it has brought is remembered."""
    if is_taped(run):
        write_step(run, start, is_held)


@rarely
def write_step(run: Run, start: float, is_held: bool) -> None:
    """Write a step on the tape."""
    tables, sides = held_sizes(run)
    held = held_count(run) if is_held else 0
    of_holds = 2 + tables + held * run.y.shape[0] + sides if is_held else 0
    at = room_on_tape(run, STEP_TAKEN, holds_at(run, 0) + of_holds)
    if at < 0:
        return
    step = logged_step(run, at)
    step.start = start
    step.is_held = 1.0 if is_held else 0.0
    numbers = step_numbers(run, at)
    copy_reals(method_arrays(run).start, numbers.y)
    copy_reals(run.start_memory, numbers.memory)
    copy_reals(run.d, numbers.d)
    for m in range(run.k.shape[0]):
        numbers.k[m] = float(run.k[m])
    if is_held:
        log_holds(run, holds_at(run, at), held)


def held_sizes(run: Run) -> tuple[int, int]:
    """The lengths of the tables of witnesses and switches, and the largest number of sides."""
    if not can_hold(run):
        return 0, 0
    row = rows_of(SlidingRow, run.held_ints, run.plan.held_row, 1)[0]
    return run.held_ints.shape[0] - row.witnesses_at, 2 * len(run.witnesses) * run.plan.switchable


def log_holds(run: Run, at: int, held: int) -> None:
    """Record what a step was held by, from a place in `log` on."""
    row = rows_of(SlidingRow, run.held_ints, run.plan.held_row, 1)[0]
    tables, sides = held_sizes(run)
    numbers = field_numbers(run.c, held, run.y.shape[0], run.plan.cache_size)
    run.log[at] = float(held)
    run.log[at + 1] = float(row.pushed)
    at += 2
    for m in range(tables):
        run.log[at + m] = float(run.held_ints[row.witnesses_at + m])
    at += tables
    for m in range(numbers.pushes.shape[0]):
        run.log[at + m] = numbers.pushes[m]
    at += numbers.pushes.shape[0]
    for m in range(sides):
        run.log[at + m] = numbers.sides[m]


@rarely
def record_touch(run: Run, i: int, t: float, value: float, rate: float, bend: float) -> None:
    """Record that witness `i` turns close to a time, if it turns closer to zero than its values are exact.

    Its value and its rate there are given, and how fast the rate changes. Its error is what errors of the
    accuracy in the states and in the time change in it. A held witness does not count, nor one that turns
    back to zero: it has not come from the side on which the step began.
    """
    if not is_taped(run) or not has_events(run, i):
        return
    if not run.start_values[i] * bend > 0.0:
        return
    distance = abs(value) + 0.5 * rate * rate / abs(bend)
    if not distance <= TOUCHES_WITHIN * max(abs(run.start_values[i]), abs(run.stop_values[i])):
        return
    measure_rounding(run)
    error = error_of_accuracy(run, i)
    if distance <= error:
        log_mark(run, TOUCHED, t, float(i), AROUND * math.sqrt(2.0 * error / abs(bend)))


def record_touches(run: Run, points: Points) -> None:
    """Record the witnesses that turn close to zero at the end of the searched part.

    One that comes to zero and stays there turns no sooner than after the time in which it slows down.
    """
    if is_taped(run):
        write_touches(run, points)


@rarely
def write_touches(run: Run, points: Points) -> None:
    """Write the turns close to zero at the end of the searched part on the tape."""
    end = time_at(points, RIGHT)
    length = end - time_at(points, LEFT)
    for i in range(points.witnesses):
        rate = rates_at(points, RIGHT)[i]
        change = rate - rates_at(points, LEFT)[i]
        if length > 0.0 and abs(rate) <= SLOWED * abs(change):
            bend = change / length
            record_touch(run, i, end, values_at(points, RIGHT)[i], rate, bend)
