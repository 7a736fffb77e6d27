"""What going back along a run needs: what each record of the tape began with, beside the record.

Tangents along one direction, in which all moves by which a gradient is wanted, go along the run as any others
do; before each record its states, variables and their tangents are written to the trail. They also say what
has no derivative, and with which gradients are compared.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.derivatives.adjoint_holds import holds_width, load_holds, write_holds
from cosim.derivatives.carrier import ALONG, LOOKS_AHEAD, carrier_at, lose, own_part, part_of
from cosim.derivatives.tangent_events import begin_phase
from cosim.derivatives.tangent_holds import follow_holds
from cosim.derivatives.tangent_lanes import leave_lanes
from cosim.derivatives.tape_reader import end_of_phase, follow_record, is_ready
from cosim.run_data.run import Integers, Reals, arrays_at
from cosim.step import event_log as log
from cosim.step.block_calls import copy_reals, different
from cosim.step.tape import assembled_states, logged_mark, logged_step, step_numbers
from cosim_compiler.array_groups import Table, address_reader
from cosim_compiler.derivatives.rates import clear
from cosim_compiler.record import Record, rows_of, width_of


class TrailRecord(Record):
    """A record of the tape; behind it what it began with, its events, and its length once more."""

    length: float
    kind: float
    time: float  # s; of a step its end
    start: float  # of a step, s; of an update the smoothness of what goes into histories
    detail: float  # of a phase its cause, of a row whether it lies inside a step, of an update its side
    is_shifted: float  # whether an event of the instant has shifted the time before
    row: float  # its number
    events: float  # how many numbers the events of a phase are; of changed histories, how many have changed
    time_dot: float
    is_held: float  # as `CarryNotes.is_held`
    holds: float  # how many numbers say what holds witnesses
    moving: float  # how many numbers of what the method remembers may move; those behind them do not


class TrailNotes(Record):
    """How far the trail has come, and going back on it."""

    used: float
    last_step: float  # where the last step begins; what is behind it belongs to it
    rows: float
    status: float  # why going back has ended: 0, `FULL_TAPE` or `NO_WAY`
    failed_time: float
    time_bar: float  # the adjoint of the time
    is_full: float  # the trail has no room
    may_have_changed: float  # whether histories may have, since they were last compared
    was_held: float  # whether a witness was


TRAIL_WIDTH, TRAIL_NOTES = width_of(TrailRecord), width_of(TrailNotes)
INSIDE_WIDTH = TRAIL_WIDTH + 1
"""Of the record of a row inside a step."""
FULL_TAPE, NO_WAY = 1.0, 2.0
IN_STEP = 1e-9  # of a step: less is its start
PAST_CHANGED = -200
"""The kind of a record of the trail alone: what was in histories before the record before it was followed."""


class AdjointPlan(Record):
    """Addresses of the adjoints of a method's functions: of those that record, and of those that go back."""

    step: int
    step_back: int
    dense: int
    dense_back: int
    complete: int
    complete_back: int
    settle: int
    settle_back: int


class AdjointArrays(NamedTuple):
    """The arrays of a way back: the trail, a tape, and the adjoints of the arrays of a run."""

    table: Table  # of blocks, as `SystemAdjoints.table`
    numbers: Integers  # a `AdjointPlan`
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
    memory_flow: Reals  # how fast what the method remembers changes, at the end of the step that is undone
    work: Reals
    spare_y: Reals
    spare_c: Reals
    working: Reals  # y, p and d, to which handlers write
    kinks: Reals
    bars: Reals  # of reals that are passed
    known_past: Reals  # histories, and their tangents, as they were when they were last compared
    former_past: Reals  # the same before a record is done once more, which changes them
    inner_c: Reals  # of points inside a step
    held_table: Table  # as of `Carrier`, of blocks that record and, below, of those that go back
    held_ints: Integers  # see `recorded_field`
    former: Reals  # as of `Carrier`
    changed: Reals  # which parameters and variables the handlers of an instant have changed
    delayed: Integers  # where in the cache times are whose values are read, s

    @property
    def plan(back):
        """The functions of the method."""
        return rows_of(AdjointPlan, back.numbers, 0, 1)[0]

    @property
    def notes(back):
        """How far it has come."""
        return rows_of(TrailNotes, back.notes_numbers, 0, 1)[0]


adjoint_arrays_at = address_reader("B", AdjointArrays)


def trace(run, carrier, back, used, is_last):
    """Carry tangents along the tape as `carry` does, and write each record to the trail before."""
    at = int(carrier.notes.log_used)
    while write_changes(carrier, back) and at < used and is_ready(run, carrier, at, used, is_last):
        kind = int(logged_mark(run, at).kind)
        if not trace_record(run, carrier, back, at, used):
            break
        following = follow_record(run, carrier, at, used)
        if kind == log.STEP_TAKEN and carrier.notes.lost == 0.0:
            refuse_looks_ahead(carrier, back, logged_step(run, at))
        at = following
        if kind in (log.STEP_TAKEN, log.MEMORY_UPDATED):
            back.notes.may_have_changed = 1.0
    leave_lanes(carrier)
    carrier.notes.log_used = float(at)
    return at


def refuse_looks_ahead(carrier, back, step):
    """Give up where a step has looked into itself: rows inside it know more of the past than it did."""
    for slot in back.delayed:
        ahead = carrier.c[slot] - step.start
        if ahead > IN_STEP * (step.time - step.start) and carrier.c[slot] < step.time:
            lose(carrier, carrier.notes.time, LOOKS_AHEAD, 0)


def begin_record(back, length, kind):
    """Begin a record of so many numbers on the trail; its place, or -1 where there is no room."""
    notes = back.notes
    place = int(notes.used)
    if place + length > back.trail.shape[0]:
        notes.is_full = 1.0
        return -1
    notes.used = float(place + length)
    head = rows_of(TrailRecord, back.trail, place, 1)[0]
    head.length = float(length)
    head.kind = float(kind)
    back.trail[place + length - 1] = float(length)
    return place


def write_changes(carrier, back):
    """Write what was in histories before the last record; whether there was room."""
    notes = back.notes
    if notes.may_have_changed == 0.0:
        return True
    h = own_part(carrier, carrier.h, ALONG)
    h_dot = own_part(carrier, carrier.h_dots, ALONG)
    size = h.shape[0]
    past = back.known_past[:size]
    known_dot = back.known_past[size : 2 * size]
    count = 0
    for m in range(size):
        count += 1 if different(past[m], h[m]) or different(known_dot[m], h_dot[m]) else 0
    if count > 0:
        place = begin_record(back, TRAIL_WIDTH + 3 * count + 1, PAST_CHANGED)
        if place < 0:
            return False
        rows_of(TrailRecord, back.trail, place, 1)[0].events = float(count)
        at = place + TRAIL_WIDTH
        for m in range(size):
            if different(past[m], h[m]) or different(known_dot[m], h_dot[m]):
                back.trail[at] = float(m)
                back.trail[at + 1] = past[m]
                back.trail[at + 2] = known_dot[m]
                at += 3
                past[m] = h[m]
                known_dot[m] = h_dot[m]
    notes.may_have_changed = 0.0
    return True


def undo_changes(carrier, back, at):
    """Restore histories as they were before the record that stands before the one at a place on the trail."""
    h_dot = own_part(carrier, carrier.h_dots, ALONG)
    place = at + TRAIL_WIDTH
    for _ in range(int(rows_of(TrailRecord, back.trail, at, 1)[0].events)):
        m = int(back.trail[place])
        for i in range(carrier.directions):
            own_part(carrier, carrier.h, i)[m] = back.trail[place + 1]
        h_dot[m] = back.trail[place + 2]
        place += 3


def trace_record(run, carrier, back, at, used):
    """Write a record to the trail, if tangents follow it; whether there was room."""
    mark = logged_mark(run, at)
    kind = int(mark.kind)
    has_room = True
    if carrier.notes.lost == 0.0 and kind == log.STEP_TAKEN:
        follow_holds(run, carrier, logged_step(run, at), at)
    if carrier.notes.lost != 0.0:
        pass
    elif kind == log.STEP_TAKEN or kind == log.ASSEMBLED:
        has_room = write_record(run, carrier, back, at, 0.0, at)
    elif kind == log.ROW_WRITTEN or kind == log.MEMORY_UPDATED:
        has_room = write_record(run, carrier, back, at, mark.detail, at)
    elif kind == log.PHASE_BEGUN:
        end = end_of_phase(run, at + int(mark.length), used)
        if end > at + int(mark.length):
            begin_phase(run, carrier, int(mark.detail))
            has_room = write_record(run, carrier, back, at, mark.detail, end)
    if kind == log.ROW_WRITTEN and has_room:
        back.notes.rows += 1.0
    return has_room


class TrailNumbers(NamedTuple):
    """What a record began with: values, the tangents along the one direction, and the events of a phase.

    Parameters are there for phases alone: nothing else changes them.
    """

    y: Reals
    d: Reals
    memory: Reals
    k: Reals
    y_dot: Reals
    d_dot: Reals
    memory_dot: Reals
    memory_flow: Reals  # along the direction of the flow
    p: Reals
    p_dot: Reals
    events: Reals
    holds: Reals


def trail_numbers(carrier, back, at):
    """The numbers of the record that begins at a place in the trail."""
    head = rows_of(TrailRecord, back.trail, at, 1)[0]
    n = carrier.y.shape[0]
    nd = carrier.d.shape[0]
    nm = carrier.memory.shape[0]
    moving = int(head.moving)
    parameters = carrier.p.shape[0] if int(head.kind) == log.PHASE_BEGUN else 0
    at_y = at + TRAIL_WIDTH
    at_d = at_y + n
    at_memory = at_d + nd
    at_k = at_memory + nm
    at_dots = at_k + own_part(carrier, carrier.k, ALONG).shape[0]
    at_flow = at_dots + n + nd + moving
    at_p = at_flow + moving
    at_events = at_p + 2 * parameters
    return TrailNumbers(
        back.trail[at_y:at_d],
        back.trail[at_d:at_memory],
        back.trail[at_memory:at_k],
        back.trail[at_k:at_dots],
        back.trail[at_dots : at_dots + n],
        back.trail[at_dots + n : at_dots + n + nd],
        back.trail[at_dots + n + nd : at_flow],
        back.trail[at_flow:at_p],
        back.trail[at_p : at_p + parameters],
        back.trail[at_p + parameters : at_events],
        back.trail[at_events : at_events + int(head.events)],
        back.trail[at + int(head.length) - 1 - int(head.holds) : at + int(head.length) - 1],
    )


def write_record(run, carrier, back, at, flag, last):
    """Write what the record at a place on the tape begins with, and its events up to another place.

    Of a step and an assembly the states are those on the tape. Answers whether there was room.
    """
    mark = logged_mark(run, at)
    kind = int(mark.kind)
    n = carrier.y.shape[0]
    events = 0
    length = INSIDE_WIDTH
    if kind == log.PHASE_BEGUN:
        events = last - at - int(mark.length)
        length += events + 2 * carrier.p.shape[0]
    is_inside = kind == log.ROW_WRITTEN and flag != 0.0  # it needs nothing but the step before it
    holds = 0
    moving = 0
    if not is_inside:
        holds = holds_width(run, carrier)
        length += holds
        moving = moving_memory(carrier)
        length += 2 * (n + carrier.d.shape[0] + moving) + carrier.memory.shape[0] + run.k.shape[0]
    notes = back.notes
    place = begin_record(back, length, kind)
    if place < 0:
        return False
    head = rows_of(TrailRecord, back.trail, place, 1)[0]
    head.time = mark.time
    head.detail = flag
    head.is_shifted = carrier.notes.is_shifted
    head.row = notes.rows
    head.events = float(events)
    head.time_dot = carrier.time_dots[ALONG]
    head.is_held = carrier.notes.is_held
    head.holds = float(holds)
    head.moving = float(moving)
    notes.was_held = max(notes.was_held, head.holds)
    if is_inside:
        return True
    write_numbers(carrier, trail_numbers(carrier, back, place))
    if kind == log.STEP_TAKEN:
        notes.last_step = float(place)
        head.start = logged_step(run, at).start
        write_start(run, carrier, at, trail_numbers(carrier, back, place))
    elif kind == log.MEMORY_UPDATED:
        head.start = mark.smoothness
    elif kind == log.ASSEMBLED:
        copy_reals(assembled_states(run, at), trail_numbers(carrier, back, place).y)
    copy_reals(run.log[last - events : last], trail_numbers(carrier, back, place).events)
    write_holds(run, carrier, trail_numbers(carrier, back, place).holds)
    return True


def moving_memory(carrier):
    """How many numbers of the method's memory may move; a Jacobian, which does not, stands at its end."""
    memory_dot = part_of(carrier.memory_dots, ALONG, carrier.memory)
    flow = part_of(carrier.memory_dots, 0, carrier.memory)
    moving = carrier.memory.shape[0]
    while moving > 0 and memory_dot[moving - 1] == 0.0 and flow[moving - 1] == 0.0:
        moving -= 1
    return moving


def load_moving(numbers, memory_dot):
    """Restore tangents of which only the first were written."""
    moving = numbers.shape[0]
    copy_reals(numbers, memory_dot[:moving])
    clear(memory_dot[moving:])


def write_numbers(carrier, numbers):
    """Write the present values and tangents."""
    copy_reals(carrier.y, numbers.y)
    copy_reals(carrier.d, numbers.d)
    copy_reals(carrier.start_memory, numbers.memory)
    k = own_part(carrier, carrier.k, ALONG)
    for m in range(k.shape[0]):
        numbers.k[m] = float(k[m])
    copy_reals(part_of(carrier.y_dots, ALONG, carrier.y), numbers.y_dot)
    copy_reals(part_of(carrier.d_dots, ALONG, carrier.d), numbers.d_dot)
    moving = numbers.memory_dot.shape[0]
    copy_reals(part_of(carrier.memory_dots, ALONG, carrier.memory)[:moving], numbers.memory_dot)
    copy_reals(part_of(carrier.memory_dots, 0, carrier.memory)[:moving], numbers.memory_flow)
    if numbers.p.shape[0] > 0:
        copy_reals(carrier.p, numbers.p)
        copy_reals(part_of(carrier.p_dots, ALONG, carrier.p), numbers.p_dot)


def write_start(run, carrier, at, numbers):
    """Write the values with which the run took the step at a place on the tape; its histories are longer."""
    start = step_numbers(run, at)
    copy_reals(start.y, numbers.y)
    copy_reals(start.memory, numbers.memory)
    copy_reals(start.d, numbers.d)
    for m in carrier.integers:
        numbers.k[m] = start.k[m]


def load_record(run, carrier, back, at):
    """Restore the values and tangents that a record began with."""
    carrier.notes.is_held = rows_of(TrailRecord, back.trail, at, 1)[0].is_held
    load_holds(run, carrier, back, trail_numbers(carrier, back, at).holds)
    numbers = trail_numbers(carrier, back, at)
    copy_reals(numbers.y, carrier.y)
    copy_reals(numbers.d, carrier.d)
    copy_reals(numbers.memory, carrier.start_memory)
    for i in range(carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in range(k.shape[0]):
            k[m] = int(numbers.k[m])
    copy_reals(numbers.y_dot, part_of(carrier.y_dots, ALONG, carrier.y))
    copy_reals(numbers.d_dot, part_of(carrier.d_dots, ALONG, carrier.d))
    load_moving(numbers.memory_dot, part_of(carrier.memory_dots, ALONG, carrier.memory))
    load_moving(numbers.memory_flow, part_of(carrier.memory_dots, 0, carrier.memory))
    if numbers.p.shape[0] > 0:
        copy_reals(numbers.p, carrier.p)
        copy_reals(numbers.p_dot, part_of(carrier.p_dots, ALONG, carrier.p))
    carrier.time_dots[ALONG] = rows_of(TrailRecord, back.trail, at, 1)[0].time_dot


def events_at(back, at):
    """Where the events of a phase begin in the trail."""
    head = rows_of(TrailRecord, back.trail, at, 1)[0]
    return at + int(head.length) - 1 - int(head.holds) - int(head.events)


TRACE_SIGNATURE = "iiiii>i"


def trace_by_address(head, carrier_head, back_head, used, is_last):
    """`trace` of arrays that stand at addresses."""
    return trace(arrays_at(head), carrier_at(carrier_head), adjoint_arrays_at(back_head), used, is_last != 0)
