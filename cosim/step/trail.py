"""What going back along a run needs: what each record of the tape began with, beside the record.

Tangents along one direction, in which all moves by which a gradient is wanted, go along the run as any others
do; before each record its states, variables and their tangents are written to the trail. They also say what
has no derivative, and with which gradients are compared.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.step import event_log as log
from cosim.step.carried_events import begin_phase, follow_phase
from cosim.step.carried_holds import follow_release
from cosim.step.carried_memory import follow_memory
from cosim.step.carried_rows import write_rows
from cosim.step.carried_steps import follow_assembly, follow_step
from cosim.step.carrier import carrier_at, own_part, part_of
from cosim.step.carrying import end_of_phase
from cosim.step.run import Integers, Reals, arrays_at
from cosim.step.tape import ASSEMBLY_WIDTH, STEP_WIDTH, LoggedMemory, LoggedPhase, LoggedRow, LoggedStep
from cosim_compiler.array_groups import Table, address_reader
from cosim_compiler.record import Record, rows_of, width_of

ALONG = 1
"""The direction, beside that of the flow."""


class TrailRecord(Record):
    """A record of the tape; behind it what it began with, its events, and its length once more."""

    length: float
    kind: float
    time: float  # s; of a step its end
    start: float  # of a step, s
    flag: float  # of a phase its cause, of a row whether it lies inside a step, of an update its side
    is_shifted: float  # whether an event of the instant has shifted the time before
    row: float  # its number
    events: float  # how many numbers the events of a phase are
    time_dot: float


class TrailNotes(Record):
    """How far the trail has come, and going back on it."""

    used: float
    last_step: float  # where the last step begins; what is behind it belongs to it
    rows: float
    status: float  # why going back has ended: 0, `FULL_TAPE` or `NO_WAY`
    failed_time: float
    time_bar: float  # the adjoint of the time
    is_full: float  # the trail has no room


TRAIL_WIDTH, TRAIL_NOTES = width_of(TrailRecord), width_of(TrailNotes)
INSIDE_WIDTH = TRAIL_WIDTH + 1
"""Of the record of a row inside a step."""
FULL_TAPE, NO_WAY = 1.0, 2.0


class ReturnPlan(Record):
    """Addresses of the adjoints of a method's functions: of those that record, and of those that go back."""

    step: int
    step_back: int
    dense: int
    dense_back: int
    complete: int
    complete_back: int
    settle: int
    settle_back: int


class Returner(NamedTuple):
    """The arrays of a way back: the trail, a tape, and the adjoints of the arrays of a run."""

    table: Table  # of blocks, as `SystemAdjoints.table`
    numbers: Integers  # a `ReturnPlan`
    notes_numbers: Reals  # `TrailNotes`
    trail: Reals
    tape: Reals
    weights: Reals  # of the recorded values, row by row
    y: Reals
    p: Reals
    d: Reals
    h: Reals
    c: Reals
    memory: Reals
    work: Reals
    spare_y: Reals
    spare_c: Reals
    working: Reals  # y, p and d, to which handlers write
    kinks: Reals
    bars: Reals  # of reals that are passed

    @property
    def plan(back):
        """The functions of the method."""
        return rows_of(ReturnPlan, back.numbers, 0, 1)[0]

    @property
    def notes(back):
        """How far it has come."""
        return rows_of(TrailNotes, back.notes_numbers, 0, 1)[0]


returner_at = address_reader("B", Returner)


def trace(run, carrier, back, used, is_last):
    """Read the tape as `carry` does, and write the trail; the place of the first number that was not read."""
    width = run.chosen.values
    at = int(carrier.notes.log_used)
    while at < used:
        record = log.logged_finding(run, at)
        kind = int(record.kind)
        following = at + int(record.length)
        if kind == log.PHASE_BEGUN:
            end = end_of_phase(run, following, used)
            if end == used and not is_last:
                break
            cause = int(rows_of(LoggedPhase, run.log, at, 1)[0].cause)
            if carrier.notes.lost == 0.0 and end > following:
                begin_phase(run, carrier, cause)
                if not write_record(run, carrier, back, record, float(cause), following, end):
                    break
                follow_phase(run, carrier, cause, following, end)
        elif kind == log.ROW_WRITTEN:
            if int(carrier.notes.rows_used) + width > carrier.rows.shape[0]:
                break
            row = rows_of(LoggedRow, run.log, at, 1)[0]
            if carrier.notes.lost == 0.0 and not write_record(
                run, carrier, back, record, row.is_inside, 0, 0
            ):
                break
            back.notes.rows += 1.0
            write_rows(run, carrier, row)
        elif carrier.notes.lost != 0.0:
            pass
        elif kind == log.STEP_TAKEN:
            if not write_record(run, carrier, back, record, 0.0, at, at):
                break
            follow_step(run, carrier, at)
        elif kind == log.ASSEMBLED:
            if not write_record(run, carrier, back, record, 0.0, at, at):
                break
            follow_assembly(run, carrier, at + ASSEMBLY_WIDTH)
        elif kind == log.MEMORY_UPDATED:
            memory = rows_of(LoggedMemory, run.log, at, 1)[0]
            if len(run.swaps) > 0:
                if not write_record(run, carrier, back, record, memory.side, 0, 0):
                    break
                follow_memory(run, carrier, memory)
        elif kind in (log.RELEASED, log.RELEASED_BY_HANDLER, log.RELEASED_BY_WRITE):
            follow_release(run, carrier)
        at = following
    carrier.notes.log_used = float(at)
    return at


def write_record(run, carrier, back, record, flag, first, last):
    """Write what a record begins with, and so many numbers of the tape; whether there was room.

    Of a step and an assembly the states are those on the tape.
    """
    notes = back.notes
    kind = int(record.kind)
    n = carrier.y.shape[0]
    nd = carrier.d.shape[0]
    nm = carrier.memory.shape[0]
    parameters = carrier.p.shape[0] if kind == log.PHASE_BEGUN else 0
    events = last - first
    is_inside = kind == log.ROW_WRITTEN and flag != 0.0  # it needs nothing but the step before it
    length = INSIDE_WIDTH
    if not is_inside:
        length += 2 * (n + nd + nm + parameters) + run.k.shape[0] + events
    at = int(notes.used)
    if at + length > back.trail.shape[0]:
        notes.is_full = 1.0
        return False
    notes.used = float(at + length)
    head = rows_of(TrailRecord, back.trail, at, 1)[0]
    head.length = float(length)
    head.kind = float(kind)
    head.time = record.time
    head.flag = flag
    head.is_shifted = carrier.notes.is_shifted
    head.row = notes.rows
    head.events = float(events)
    head.time_dot = carrier.time_dots[ALONG]
    back.trail[at + length - 1] = float(length)
    if is_inside:
        return True
    place = at + TRAIL_WIDTH
    put(back.trail, place, carrier.y)
    put(back.trail, place + n, carrier.d)
    put(back.trail, place + n + nd, carrier.start_memory)
    place += n + nd + nm
    k = own_part(carrier, carrier.k, ALONG)
    for m in range(k.shape[0]):
        back.trail[place + m] = float(k[m])
    if kind == log.STEP_TAKEN:
        notes.last_step = float(at)
        head.start = rows_of(LoggedStep, run.log, first, 1)[0].start
        source = first + STEP_WIDTH
        for m in range(n):
            back.trail[at + TRAIL_WIDTH + m] = run.log[source + m]
        for m in range(nm):
            back.trail[at + TRAIL_WIDTH + n + nd + m] = run.log[source + n + m]
        for m in range(nd):
            back.trail[at + TRAIL_WIDTH + n + m] = run.log[source + n + nm + m]
        for m in range(k.shape[0]):
            back.trail[place + m] = run.log[source + n + nm + nd + m]
    elif kind == log.ASSEMBLED:
        for m in range(n):
            back.trail[at + TRAIL_WIDTH + m] = run.log[first + ASSEMBLY_WIDTH + m]
    place += k.shape[0]
    put(back.trail, place, part_of(carrier.y_dots, ALONG, carrier.y))
    put(back.trail, place + n, part_of(carrier.d_dots, ALONG, carrier.d))
    put(back.trail, place + n + nd, part_of(carrier.memory_dots, ALONG, carrier.memory))
    place += n + nd + nm
    if parameters > 0:
        put(back.trail, place, carrier.p)
        put(back.trail, place + parameters, part_of(carrier.p_dots, ALONG, carrier.p))
        place += 2 * parameters
    for m in range(events):
        back.trail[place + m] = run.log[first + m]
    return True


def load_record(carrier, back, at):
    """Take the values and tangents that a record began with; where its events begin."""
    head = rows_of(TrailRecord, back.trail, at, 1)[0]
    n = carrier.y.shape[0]
    nd = carrier.d.shape[0]
    nm = carrier.memory.shape[0]
    place = at + TRAIL_WIDTH
    take(back.trail, place, carrier.y)
    take(back.trail, place + n, carrier.d)
    take(back.trail, place + n + nd, carrier.start_memory)
    place += n + nd + nm
    count = own_part(carrier, carrier.k, 0).shape[0]
    for i in range(carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in range(count):
            k[m] = int(back.trail[place + m])
    place += count
    take(back.trail, place, part_of(carrier.y_dots, ALONG, carrier.y))
    take(back.trail, place + n, part_of(carrier.d_dots, ALONG, carrier.d))
    take(back.trail, place + n + nd, part_of(carrier.memory_dots, ALONG, carrier.memory))
    place += n + nd + nm
    if int(head.kind) == log.PHASE_BEGUN:
        take(back.trail, place, carrier.p)
        take(back.trail, place + carrier.p.shape[0], part_of(carrier.p_dots, ALONG, carrier.p))
        place += 2 * carrier.p.shape[0]
    carrier.time_dots[ALONG] = head.time_dot
    return place


def put(target, at, source):
    """Copy numbers to a place."""
    for m in range(source.shape[0]):
        target[at + m] = source[m]


def take(source, at, target):
    """Copy numbers from a place."""
    for m in range(target.shape[0]):
        target[m] = source[at + m]


TRACE_SIGNATURE = "iiiii>i"


def trace_by_address(head, carrier_head, back_head, used, is_last):
    """`trace` of arrays that stand at addresses."""
    return trace(arrays_at(head), carrier_at(carrier_head), returner_at(back_head), used, is_last != 0)
