"""Model Exchange: the importing tool integrates; here are completed steps and events."""

from __future__ import annotations

import math

from cosim.component.history import AFTER_ARRIVAL, BEFORE
from cosim.run_data.records import INSTANCE, MOTION, SAME_TIME, TIME_CAUSE
from cosim.run_data.run import Run
from cosim.step.advance import clear_answers, find_next_event
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.block_calls import lower_stage
from cosim.step.crossing import is_crossing
from cosim.step.failures import EVENT, REACHED, TERMINATED, EndlessEvents
from cosim.step.histories import SMOOTH, make_room, remember
from cosim.step.holds import held_at, held_count
from cosim.step.realize import realize
from cosim.step.saved_variables import different
from cosim.step.step import (
    BOTH_KINDS,
    asks_to_stop,
    end_step,
    follow_arrivals,
    handle_jump,
    realize_end,
    start_step,
)
from cosim.step.triggered import trigger_handlers
from cosim.step.updates import PUBLISH_CAUSES
from cosim.step.watched import RATE_SPACING, above, compute_rates, value
from cosim.step.witnesses import store_start_levels, store_witness_values
from cosim.step.zeros import has_arrivals, store_zeros


def arrive(run: Run, t: float) -> None:
    """Be at `t` with the states that were set."""
    if t != run.clock.time:
        run.clock.time = t
        lower_stage(run, INSTANCE)
    realize(run, MOTION)


def set_meeting(run: Run, t: float) -> None:
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
    """List in `has_crossed` which witnesses have crossed since the last completed step; whether some have."""
    store_start_levels(run)
    some = False
    for i in range(len(run.witnesses)):
        before = run.witnesses[i].value
        run.values_before[i] = before
        crossed = is_crossing(run, i, above(run, i, before), above(run, i, value(run, i)))
        run.has_crossed[i] = 1 if crossed else 0
        some = some or crossed
    return some


def has_every_step(run: Run) -> bool:
    """Whether there are handlers of every step."""
    has_handler = False
    for handler in run.handlers:
        has_handler = has_handler or handler.cause == TIME_CAUSE
    return has_handler


def complete_step(run: Run, t: float) -> int:
    """A step of whoever integrates has been completed at `t`: REACHED or EVENT."""
    make_room(run)
    arrive(run, t)
    set_meeting(run, t)
    if t > run.clock.completed:
        arrived = realize_end(run)
        remember(run, BEFORE, SMOOTH)
        if arrived < math.inf:
            remember(run, AFTER_ARRIVAL, arrived)
    run.clock.completed = t
    if find_crossed(run):
        return EVENT
    store_zeros(run, False)
    store_witness_values(run)
    return EVENT if has_every_step(run) or has_arrivals(run) else REACHED


def breaks_at(run: Run, t: float) -> bool:
    """Whether the time event at `t` is a break of what a component remembers, and no handler's."""
    if run.clock.next_event > t:
        return False
    scheduled = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    return scheduled > t


def handle_events(run: Run, t: float) -> int:
    """The events of `t`: REACHED or TERMINATED.

    Which witnesses have crossed is decided by their values at the last completed step.
    """
    set_meeting(run, t)
    t = up_to_rounding(run, t)
    is_break = breaks_at(run, t)
    make_room(run)
    arrive(run, t)
    clear_answers(run)
    for m in range(run.y.shape[0]):
        run.arrived_states[m] = run.y[m]
    if t > run.clock.completed:
        run.agenda.time_advanced = BOTH_KINDS
        run.agenda.finished = 0
        run.clock.completed = t
        remember(run, BEFORE, SMOOTH)
    run.answers.changed = 0
    if run.clock.jumped != 0.0:
        handle_jump(run)
    else:
        has_crossed = find_crossed(run)
        if has_crossed:
            compute_rates(run, RATE_SPACING)
            trigger_handlers(run, resolution(run, t))  # the last flights of a ball, however the host steps
        store_zeros(run, has_crossed)
    store_witness_values(run)
    if run.plan.handled_in_steps != 0:
        run_handlers(run)
    follow_clocks(run)
    find_next_event(run)
    store_witness_values(run)
    # behind a break the solver of the host has to begin anew: only a changed state makes it do so
    moved = is_break or run.answers.changed != 0
    for m in range(run.y.shape[0]):
        moved = moved or different(run.arrived_states[m], run.y[m])
    run.clock.states_changed = 1.0 if moved else 0.0
    return TERMINATED if asks_to_stop(run) else REACHED


def run_handlers(run: Run) -> None:
    """The publishes and updates of this instant; witnesses that would be held are refused."""
    follow_parameters(run)
    end_step(run, PUBLISH_CAUSES)
    start_step(run)
    if has_arrivals(run):
        follow_arrivals(run)
    if held_count(run) > 0:
        # rates with what holds it would be another system than the one that is described
        run.failure.witness = held_at(run, 0)
        raise EndlessEvents()
