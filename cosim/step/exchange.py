"""Model Exchange: the importing tool integrates; here are completed steps and events."""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.arrays import Arrays
from cosim.step.codes import EVENT, FAILED_HOLD, REACHED, TERMINATED
from cosim.step.copies import different
from cosim.step.crossing import has_crossed
from cosim.step.histories import arrived_break, make_room, remember
from cosim.step.holds import held_at, held_count
from cosim.step.realize import realize
from cosim.step.run import (
    BOTH_KINDS,
    begin_answers,
    end_step,
    follow_arrivals,
    note_jump,
    note_next_event,
    start_step,
)
from cosim.step.touched import lower_stage
from cosim.step.triggered import fire
from cosim.step.updates import PUBLISH_CAUSES, REACHED_TERMINATION, TIME_CAUSE
from cosim.step.watched import RATE_SPACING, above, look, value
from cosim.step.witnesses import begin_watch, note
from cosim.step.zeros import has_arrivals, note_zeros
from cosim.system.history_buffer import AFTER_ARRIVAL
from cosim.system.history_buffer import BEFORE as BEFORE_EVENTS


def arrive(a: Arrays, t: float) -> int:
    """Be at `t` with the states that were set; 0 or a code."""
    if t != a.clock[ix.TIME]:
        a.clock[ix.TIME] = t
        lower_stage(a, ix.INSTANCE)
    return realize(a, ix.MOTION)


def note_length(a: Arrays, t: float) -> None:
    """The step of the host that ends at `t` says how far from a scheduled time it may be."""
    if t > a.clock[ix.COMPLETED]:
        a.numbers[ix.MEETING] = ix.SAME_TIME * (t - a.clock[ix.COMPLETED])


def resolution(a: Arrays, t: float) -> float:
    """How close to `t` a host cannot tell times from it, s.

    Hosts compute their own times, and their solvers refuse steps of the last few bits.
    """
    return max(a.numbers[ix.MEETING], 1e-14 * max(1.0, abs(t)))


def up_to_rounding(a: Arrays, t: float) -> float:
    """The last scheduled time that a host which stands at `t` cannot tell from it, else `t`."""
    limit = t + resolution(a, t)
    latest = t
    for handler in a.handlers:
        if handler.schedule != 0:
            time = next_time(a, handler)
            if latest < time <= limit:
                latest = time
    return latest


def find_crossed(a: Arrays) -> bool:
    """Which witnesses have crossed since the last completed step, into CROSSED; whether there is one."""
    begin_watch(a)
    found = False
    for i in range(a.program[ix.WITNESSES]):
        before = a.witnesses[i].value
        a.scratch[a.program[ix.BEFORE] + i] = before
        crossed = has_crossed(a, i, above(a, i, before), above(a, i, value(a, i)))
        a.places[a.program[ix.CROSSED] + i] = 1 if crossed else 0
        found = found or crossed
    return found


def has_every_step(a: Arrays) -> bool:
    """Whether there are handlers of every step."""
    found = False
    for handler in a.handlers:
        found = found or handler.cause == TIME_CAUSE
    return found


def complete_step(a: Arrays, t: float) -> int:
    """A step of whoever integrates has been completed at `t`: REACHED, EVENT or another code."""
    code = make_room(a)
    if code == 0:
        code = arrive(a, t)
    if code != 0:
        return code
    note_length(a, t)
    if t > a.clock[ix.COMPLETED]:
        a.agenda[ix.TIME_ADVANCED] = BOTH_KINDS
        a.agenda[ix.FINISHED] = 0
        arrived = arrived_break(a)
        code = remember(a, BEFORE_EVENTS, math.inf)
        if code == 0 and arrived < math.inf:
            code = remember(a, AFTER_ARRIVAL, arrived)
        if code != 0:
            return code
    a.clock[ix.COMPLETED] = t
    if find_crossed(a):
        return EVENT
    note_zeros(a, 0)
    note(a)
    return EVENT if has_every_step(a) or has_arrivals(a) else REACHED


def breaks_at(a: Arrays, t: float) -> bool:
    """Whether the time event at `t` is a break of what a component remembers, and no handler's."""
    if a.clock[ix.NEXT_EVENT] > t:
        return False
    scheduled = next_event_time(a) if a.program[ix.HAS_SCHEDULE] != 0 else math.inf
    return scheduled > t


def handle_events(a: Arrays, t: float) -> int:
    """The events of `t`: REACHED, TERMINATED or another code.

    Which witnesses have crossed is decided by their values at the last completed step.
    """
    note_length(a, t)
    t = up_to_rounding(a, t)
    is_break = breaks_at(a, t)
    code = make_room(a)
    if code == 0:
        code = arrive(a, t)
    if code != 0:
        return code
    begin_answers(a)
    for m in range(a.y.shape[0]):
        a.scratch[a.program[ix.ARRIVED_Y] + m] = a.y[m]
    if t > a.clock[ix.COMPLETED]:
        a.agenda[ix.TIME_ADVANCED] = BOTH_KINDS
        a.agenda[ix.FINISHED] = 0
        a.clock[ix.COMPLETED] = t
        code = remember(a, BEFORE_EVENTS, math.inf)
    a.places[ix.CHANGED] = 0
    if code == 0 and a.clock[ix.JUMPED] != 0.0:
        code = note_jump(a)
    elif code == 0:
        found = find_crossed(a)
        if found:
            look(a, RATE_SPACING)
            fire(a, resolution(a, t))  # the last flights of a ball, however the host steps
        note_zeros(a, 1 if found else 0)
    if code != 0:
        return code
    note(a)
    if a.program[ix.IN_STEPS] != 0:
        code = follow_parameters(a)
        if code == 0:
            code = end_step(a, PUBLISH_CAUSES)
        if code == 0:
            code = start_step(a)
        if code == 0 and has_arrivals(a):
            code = follow_arrivals(a)
        if code == 0 and held_count(a) > 0:
            # rates with what holds it would be another system than the one that is described
            a.places[ix.WITNESS] = held_at(a, 0)
            code = FAILED_HOLD
    if code == 0:
        code = follow_clocks(a)
    if code == 0:
        code = note_next_event(a)
    if code != 0:
        return code
    note(a)
    # behind a break the solver of the host has to begin anew: only a changed state makes it do so
    moved = is_break or a.places[ix.CHANGED] != 0
    for m in range(a.y.shape[0]):
        moved = moved or different(a.scratch[a.program[ix.ARRIVED_Y] + m], a.y[m])
    a.clock[ix.STATES_CHANGED] = 1.0 if moved else 0.0
    return TERMINATED if a.places[ix.SEVERITY] >= REACHED_TERMINATION else REACHED
