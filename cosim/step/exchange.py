"""Model Exchange: the importing tool integrates; here are completed steps and events."""

from __future__ import annotations

import math

from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.codes import EVENT, FAILED_HOLD, REACHED, TERMINATED
from cosim.step.copies import different
from cosim.step.crossing import has_crossed
from cosim.step.histories import arrived_break, make_room, remember
from cosim.step.holds import held_at, held_count
from cosim.step.realize import realize
from cosim.step.records import INSTANCE, MOTION, SAME_TIME
from cosim.step.run import Run
from cosim.step.step import (
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


def arrive(run: Run, t: float) -> int:
    """Be at `t` with the states that were set; 0 or a code."""
    if t != run.clock.time:
        run.clock.time = t
        lower_stage(run, INSTANCE)
    return realize(run, MOTION)


def note_length(run: Run, t: float) -> None:
    """The step of the host that ends at `t` says how far from a scheduled time it may be."""
    if t > run.clock.completed:
        run.options.meeting = SAME_TIME * (t - run.clock.completed)


def resolution(run: Run, t: float) -> float:
    """How close to `t` a host cannot tell times from it, s.

    Hosts compute their own times, and their solvers refuse steps of the last few bits.
    """
    return max(run.options.meeting, 1e-14 * max(1.0, abs(t)))


def up_to_rounding(run: Run, t: float) -> float:
    """The last scheduled time that a host which stands at `t` cannot tell from it, else `t`."""
    limit = t + resolution(run, t)
    latest = t
    for handler in run.handlers:
        if handler.schedule != 0:
            time = next_time(run, handler)
            if latest < time <= limit:
                latest = time
    return latest


def find_crossed(run: Run) -> bool:
    """Which witnesses have crossed since the last completed step, into CROSSED; whether there is one."""
    begin_watch(run)
    found = False
    for i in range(len(run.witnesses)):
        before = run.witnesses[i].value
        run.values_before[i] = before
        crossed = has_crossed(run, i, above(run, i, before), above(run, i, value(run, i)))
        run.has_crossed[i] = 1 if crossed else 0
        found = found or crossed
    return found


def has_every_step(run: Run) -> bool:
    """Whether there are handlers of every step."""
    found = False
    for handler in run.handlers:
        found = found or handler.cause == TIME_CAUSE
    return found


def complete_step(run: Run, t: float) -> int:
    """A step of whoever integrates has been completed at `t`: REACHED, EVENT or another code."""
    code = make_room(run)
    if code == 0:
        code = arrive(run, t)
    if code != 0:
        return code
    note_length(run, t)
    if t > run.clock.completed:
        run.agenda.time_advanced = BOTH_KINDS
        run.agenda.finished = 0
        arrived = arrived_break(run)
        code = remember(run, BEFORE_EVENTS, math.inf)
        if code == 0 and arrived < math.inf:
            code = remember(run, AFTER_ARRIVAL, arrived)
        if code != 0:
            return code
    run.clock.completed = t
    if find_crossed(run):
        return EVENT
    note_zeros(run, 0)
    note(run)
    return EVENT if has_every_step(run) or has_arrivals(run) else REACHED


def breaks_at(run: Run, t: float) -> bool:
    """Whether the time event at `t` is a break of what a component remembers, and no handler's."""
    if run.clock.next_event > t:
        return False
    scheduled = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    return scheduled > t


def handle_events(run: Run, t: float) -> int:
    """The events of `t`: REACHED, TERMINATED or another code.

    Which witnesses have crossed is decided by their values at the last completed step.
    """
    note_length(run, t)
    t = up_to_rounding(run, t)
    is_break = breaks_at(run, t)
    code = make_room(run)
    if code == 0:
        code = arrive(run, t)
    if code != 0:
        return code
    begin_answers(run)
    for m in range(run.y.shape[0]):
        run.arrived_states[m] = run.y[m]
    if t > run.clock.completed:
        run.agenda.time_advanced = BOTH_KINDS
        run.agenda.finished = 0
        run.clock.completed = t
        code = remember(run, BEFORE_EVENTS, math.inf)
    run.answers.changed = 0
    if code == 0 and run.clock.jumped != 0.0:
        code = note_jump(run)
    elif code == 0:
        found = find_crossed(run)
        if found:
            look(run, RATE_SPACING)
            fire(run, resolution(run, t))  # the last flights of a ball, however the host steps
        note_zeros(run, 1 if found else 0)
    if code != 0:
        return code
    note(run)
    if run.plan.handled_in_steps != 0:
        code = follow_parameters(run)
        if code == 0:
            code = end_step(run, PUBLISH_CAUSES)
        if code == 0:
            code = start_step(run)
        if code == 0 and has_arrivals(run):
            code = follow_arrivals(run)
        if code == 0 and held_count(run) > 0:
            # rates with what holds it would be another system than the one that is described
            run.failure.witness = held_at(run, 0)
            code = FAILED_HOLD
    if code == 0:
        code = follow_clocks(run)
    if code == 0:
        code = note_next_event(run)
    if code != 0:
        return code
    note(run)
    # behind a break the solver of the host has to begin anew: only a changed state makes it do so
    moved = is_break or run.answers.changed != 0
    for m in range(run.y.shape[0]):
        moved = moved or different(run.arrived_states[m], run.y[m])
    run.clock.states_changed = 1.0 if moved else 0.0
    return TERMINATED if run.answers.severity >= REACHED_TERMINATION else REACHED
