"""Completed steps and events of Model Exchange, where a host integrates instead of the Step."""

from __future__ import annotations

import math

from cosim.component.history import AFTER_ARRIVAL, BEFORE
from cosim.run_data.records.clock import SAME_TIME
from cosim.run_data.records.evaluation import INSTANCE, MOTION
from cosim.run_data.records.handlers import BOTH_KINDS, TIME_CAUSE
from cosim.run_data.run import Run
from cosim.step.advance import clear_answers, find_next_event
from cosim.step.agenda import follow_clocks, follow_parameters, next_event_time, next_time
from cosim.step.block_calls import different, lower_stage
from cosim.step.crossing import is_crossing
from cosim.step.failures import EVENT, REACHED, TERMINATED, EndlessEvents
from cosim.step.histories import SMOOTH, make_room, remember
from cosim.step.holds import held_at, held_count
from cosim.step.realize import realize
from cosim.step.step import (
    asks_to_stop,
    end_step,
    handle_arrivals,
    handle_jump,
    realize_end,
    start_step,
)
from cosim.step.triggered import trigger_handlers
from cosim.step.updates import PUBLISH_CAUSES
from cosim.step.witness_values import RATE_SPACING, compute_rates, value, value_above_level
from cosim.step.witnesses import store_start_levels, store_witness_values
from cosim.step.zeros import has_arrivals, store_zeros


def realize_at(run: Run, t: float) -> None:
    """Set the time and realize the states that the host has set."""
    if t != run.clock.time:
        run.clock.time = t
        lower_stage(run, INSTANCE)
    realize(run, MOTION)


def set_meeting(run: Run, t: float) -> None:
    """Set ``options.meeting``, within which times coincide, for a step of the host that ends at `t`."""
    if t > run.clock.completed:
        run.options.meeting = SAME_TIME * (t - run.clock.completed)


def resolution(run: Run, t: float) -> float:
    """The distance from `t`, s, below which a host cannot distinguish times.

    Hosts compute their own times, and their solvers refuse steps of the last few bits.
    """
    return max(run.options.meeting, 1e-14 * max(1.0, abs(t)))


def last_coinciding_time(run: Run, t: float) -> float:
    """The last scheduled time that a host cannot distinguish from `t`; without one, `t`."""
    limit = t + resolution(run, t)
    latest = t
    for handler in run.handlers:
        if handler.schedule != 0:
            time = next_time(run, handler)
            if latest < time <= limit:
                latest = time
    return latest


def mark_crossed(run: Run) -> bool:
    """Set `has_crossed` of the witnesses that crossed since the last completed step; whether any did."""
    store_start_levels(run)
    some = False
    for i in range(len(run.witnesses)):
        before = run.witnesses[i].value
        run.values_before[i] = before
        now = value_above_level(run, i, value(run, i))
        crossed = is_crossing(run, i, value_above_level(run, i, before), now)
        run.has_crossed[i] = 1 if crossed else 0
        some = some or crossed
    return some


def has_step_handlers(run: Run) -> bool:
    """Whether there are handlers that run in every step."""
    has_handler = False
    for handler in run.handlers:
        has_handler = has_handler or handler.cause == TIME_CAUSE
    return has_handler


def complete_step(run: Run, t: float) -> int:
    """Complete a step of the host that ends at `t`.

    Returns REACHED, or EVENT if the host has to enter event mode.
    """
    make_room(run)
    realize_at(run, t)
    set_meeting(run, t)
    if t > run.clock.completed:
        arrived = realize_end(run)
        remember(run, BEFORE, SMOOTH)
        if arrived < math.inf:
            remember(run, AFTER_ARRIVAL, arrived)
    run.clock.completed = t
    if mark_crossed(run):
        return EVENT
    store_zeros(run, False)
    store_witness_values(run)
    return EVENT if has_step_handlers(run) or has_arrivals(run) else REACHED


def handle_events(run: Run, t: float) -> int:
    """Handle the events at `t`; the values at the last completed step decide which witnesses have crossed.

    Returns REACHED, or TERMINATED if a handler asks to end the run.
    """
    set_meeting(run, t)
    t = last_coinciding_time(run, t)
    is_break = breaks_at(run, t)
    enter_event_mode(run, t)
    run.answers.changed_in_step = 0
    if run.clock.jumped != 0.0:
        handle_jump(run)
    else:
        trigger_crossed(run, t)
    store_witness_values(run)
    if run.plan.handled_in_steps != 0:
        run_handlers(run)
    follow_clocks(run)
    find_next_event(run)
    store_witness_values(run)
    set_states_changed(run, is_break)
    return TERMINATED if asks_to_stop(run) else REACHED


def breaks_at(run: Run, t: float) -> bool:
    """Whether the time event at `t` is that of a break in a history, and of no handler."""
    if run.clock.next_event > t:
        return False
    scheduled = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    return scheduled > t


def enter_event_mode(run: Run, t: float) -> None:
    """Realize the states before the events, and save them for `set_states_changed`."""
    make_room(run)
    realize_at(run, t)
    clear_answers(run)
    for m in range(run.y.shape[0]):
        run.arrived_states[m] = run.y[m]
    if t > run.clock.completed:
        run.agenda.time_advanced = BOTH_KINDS
        run.agenda.finished = 0
        run.clock.completed = t
        remember(run, BEFORE, SMOOTH)


def trigger_crossed(run: Run, t: float) -> None:
    """Trigger the handlers of all witnesses that have crossed."""
    has_crossed = mark_crossed(run)
    if has_crossed:
        compute_rates(run, RATE_SPACING)
        # events that the host cannot distinguish repeat each other: a bouncing ball comes to rest
        trigger_handlers(run, resolution(run, t))
    store_zeros(run, has_crossed)


def run_handlers(run: Run) -> None:
    """Run the publishes and updates of this instant.

    Raises
    ------
    EndlessEvents
        A witness would have to be held, which a host that integrates cannot do: the rates of a held system
        are those of another one than the described.
    """
    follow_parameters(run)
    end_step(run, PUBLISH_CAUSES)
    start_step(run)
    if has_arrivals(run):
        handle_arrivals(run)
    if held_count(run) > 0:
        run.failure.witness = held_at(run, 0)
        raise EndlessEvents()


def set_states_changed(run: Run, is_break: bool) -> None:
    """Report changed states to the host, also at breaks: only they make its solver start anew."""
    moved = is_break or run.answers.changed_in_step != 0
    for m in range(run.y.shape[0]):
        moved = moved or different(run.arrived_states[m], run.y[m])
    run.clock.states_changed = 1.0 if moved else 0.0
