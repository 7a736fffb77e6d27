"""What a run has done, in the order in which it was done, for whoever carries tangents along.

Where ``output.logging`` is `LOG_TAPE`, the event log has these records between its events: each step with the
states that it began with, each row that was recorded, where each group of handlers begins that read the same
State, and each update of what is remembered. Their kinds stand where a finding has its own.
"""

from __future__ import annotations

from cosim.step.event_log import (
    ASSEMBLED,
    MEMORY_UPDATED,
    PHASE_BEGUN,
    ROW_WRITTEN,
    STEP_TAKEN,
    logged_finding,
    room_in_log,
)
from cosim.step.holds import can_hold, held_count
from cosim.step.integration import method_arrays
from cosim.step.records import LOG_TAPE
from cosim.step.run import Run
from cosim.step.sliding_field import SlidingRow, field_numbers
from cosim_compiler.record import Record, rows_of, width_of


class LoggedStep(Record):
    """A step, as it stays; behind it y and the method's memory at its start, then its d and k.

    Where witnesses were held, there follow how many were, and by a push, and what `prepare_sliding_field` has
    written: the tables of witnesses and switches, a push for each witness, and the sides of switches.
    """

    length: float
    time: float  # of its end, s
    kind: float  # STEP_TAKEN
    start: float  # s
    is_held: float  # whether witnesses were held in it


class LoggedRow(Record):
    """A row of recorded values."""

    length: float
    time: float  # s
    kind: float  # ROW_WRITTEN
    is_inside: float  # whether it lies inside the step before, on the dense output


class LoggedPhase(Record):
    """The handlers of one kind and cause, whose events follow: all read the same State."""

    length: float
    time: float
    kind: float  # PHASE_BEGUN
    cause: float


class LoggedAssembly(Record):
    """The states were made to meet their constraints; behind it they are."""

    length: float
    time: float
    kind: float  # ASSEMBLED


class LoggedMemory(Record):
    """Auto-update variables have got their new values."""

    length: float
    time: float
    kind: float  # MEMORY_UPDATED
    side: float  # of the instant
    smoothness: float  # of what goes into histories, see `remember`


STEP_WIDTH, ROW_WIDTH, PHASE_WIDTH, MEMORY_WIDTH, ASSEMBLY_WIDTH = map(
    width_of, (LoggedStep, LoggedRow, LoggedPhase, LoggedMemory, LoggedAssembly)
)


def room_on_tape(run: Run, kind: int, size: int) -> int:
    """Where a record of this kind and size may begin; -1 where there is no tape."""
    if run.output.logging != LOG_TAPE:
        return -1
    at = room_in_log(run, size)
    if at >= 0:
        logged_finding(run, at).kind = float(kind)
    return at


def begin_step_on_tape(run: Run) -> None:
    """Keep what a step begins with and changes."""
    if run.output.logging == LOG_TAPE:
        for m in range(run.memory.shape[0]):
            run.start_memory[m] = run.memory[m]


def log_step(run: Run, start: float, is_held: bool) -> None:
    """Record a step that has ended now, before anything that it has brought is remembered."""
    n, nm, nd, nk = run.y.shape[0], run.memory.shape[0], run.d.shape[0], run.k.shape[0]
    tables, sides = held_sizes(run)
    held = held_count(run) if is_held else 0
    of_holds = 2 + tables + held * n + sides if is_held else 0
    at = room_on_tape(run, STEP_TAKEN, STEP_WIDTH + n + nm + nd + nk + of_holds)
    if at < 0:
        return
    step = rows_of(LoggedStep, run.log, at, 1)[0]
    step.start = start
    step.is_held = 1.0 if is_held else 0.0
    at += STEP_WIDTH
    begin = method_arrays(run).start
    for m in range(n):
        run.log[at + m] = begin[m]
    for m in range(nm):
        run.log[at + n + m] = run.start_memory[m]
    for m in range(nd):
        run.log[at + n + nm + m] = run.d[m]
    for m in range(nk):
        run.log[at + n + nm + nd + m] = float(run.k[m])
    if is_held:
        log_holds(run, at + n + nm + nd + nk, held)


def held_sizes(run: Run) -> tuple[int, int]:
    """How many numbers the tables of witnesses and switches have, and how many sides there may be."""
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


def log_row(run: Run, t: float, is_inside: bool) -> None:
    """Record that a row is recorded."""
    at = room_on_tape(run, ROW_WRITTEN, ROW_WIDTH)
    if at >= 0:
        row = rows_of(LoggedRow, run.log, at, 1)[0]
        row.time = t
        row.is_inside = 1.0 if is_inside else 0.0


def log_phase(run: Run, cause: int) -> None:
    """Record that the handlers of a cause and kind are called next."""
    at = room_on_tape(run, PHASE_BEGUN, PHASE_WIDTH)
    if at >= 0:
        rows_of(LoggedPhase, run.log, at, 1)[0].cause = float(cause)


def log_assembly(run: Run) -> None:
    """Record that the states meet their constraints now."""
    at = room_on_tape(run, ASSEMBLED, ASSEMBLY_WIDTH + run.y.shape[0])
    if at >= 0:
        for m in range(run.y.shape[0]):
            run.log[at + ASSEMBLY_WIDTH + m] = run.y[m]


def log_memory(run: Run, side: float, smoothness: float) -> None:
    """Record that what is remembered is updated now."""
    at = room_on_tape(run, MEMORY_UPDATED, MEMORY_WIDTH)
    if at >= 0:
        memory = rows_of(LoggedMemory, run.log, at, 1)[0]
        memory.side = side
        memory.smoothness = smoothness
