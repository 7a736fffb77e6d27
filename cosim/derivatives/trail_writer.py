"""Writing the trail: tangents are carried along the tape, and before each record the trail gets their values.

There is one direction, along which everything moves by which a gradient is wanted. Its tangents are carried
as any others; they show where there is no derivative, and gradients are compared with them.
"""

from __future__ import annotations

from cosim.derivatives.adjoint_holds import holds_width, write_holds
from cosim.derivatives.carrier import ALONG, LOOKS_AHEAD, carrier_at, lose, own_part, part_of
from cosim.derivatives.tangent_events import begin_phase
from cosim.derivatives.tangent_holds import follow_holds
from cosim.derivatives.tangent_lanes import leave_lanes
from cosim.derivatives.tape_reader import end_of_phase, follow_record, is_ready
from cosim.derivatives.trail import (
    INSIDE_WIDTH,
    PAST_CHANGED,
    TRAIL_WIDTH,
    TrailRecord,
    adjoint_arrays_at,
    trail_numbers,
)
from cosim.run_data.run import arrays_at
from cosim.step import event_log as log
from cosim.step.block_calls import copy_reals, different
from cosim.step.tape import assembled_states, logged_mark, logged_step, step_numbers
from cosim_compiler.record import rows_of

TRACE_SIGNATURE = "iiiii>i"
IN_STEP = 1e-9  # of a step: a time that is nearer to its start is the start


def trace_by_address(head, carrier_head, back_head, used, is_last):
    """`trace` of arrays that stand at addresses."""
    return trace(arrays_at(head), carrier_at(carrier_head), adjoint_arrays_at(back_head), used, is_last != 0)


def trace(run, carrier, back, used, is_last):
    """Carry tangents along the tape as `carry` does, and write to the trail what each record begins with."""
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
    """Give up where a step has read values of its own interval: for rows inside it these are others."""
    for slot in back.delayed:
        ahead = carrier.c[slot] - step.start
        if ahead > IN_STEP * (step.time - step.start) and carrier.c[slot] < step.time:
            lose(carrier, carrier.notes.time, LOOKS_AHEAD, 0)


def trace_record(run, carrier, back, at, used):
    """Write to the trail what a record begins with, if tangents follow it; whether there was room."""
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


def write_record(run, carrier, back, at, flag, last):
    """Write what the record at a place on the tape begins with, and its events up to another place.

    The states of a step and of an assembly are those on the tape. Returns whether there was room.
    """
    mark = logged_mark(run, at)
    kind = int(mark.kind)
    n = carrier.y.shape[0]
    events = 0
    length = INSIDE_WIDTH
    if kind == log.PHASE_BEGUN:
        events = last - at - int(mark.length)
        length += events + 2 * carrier.p.shape[0]
    is_inside = kind == log.ROW_WRITTEN and flag != 0.0  # such a row follows from the step before it
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


def begin_record(back, length, kind):
    """Begin a record of this length on the trail; its place, or -1 where there is no room."""
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


def moving_memory(carrier):
    """How many numbers of the method's memory may move; behind them is a Jacobian, which does not."""
    memory_dot = part_of(carrier.memory_dots, ALONG, carrier.memory)
    flow = part_of(carrier.memory_dots, 0, carrier.memory)
    moving = carrier.memory.shape[0]
    while moving > 0 and memory_dot[moving - 1] == 0.0 and flow[moving - 1] == 0.0:
        moving -= 1
    return moving


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
    """Write the values with which the run took the step at a place on the tape."""
    start = step_numbers(run, at)
    copy_reals(start.y, numbers.y)
    copy_reals(start.memory, numbers.memory)
    copy_reals(start.d, numbers.d)
    for m in carrier.integers:
        numbers.k[m] = start.k[m]


def write_changes(carrier, back):
    """Write the values of histories that the last record has changed; whether there was room."""
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
