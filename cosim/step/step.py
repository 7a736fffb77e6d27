"""One step, and what it is made of.

    one_step
        complete_arrival        what a step that stopped before a delayed jump has left to be done
        run_start_updates
            handle_jump         what was written since the last step may make witnesses cross
            start_step          the updates that are due, and those that their signals cause
            handle_arrivals     witnesses that came to zero and stay there
        integrate_toward        the next event; a witness that crosses ends the step
        finish_step
            stop_before_jump    where a delayed jump arrives and a host has an event mode: what follows waits
            remember_step       histories and auto-update variables
            end_step            publishes

Simbody's and Drake's documents say what a step does; "How a step runs" in the docs follows an event through
these functions.
"""

from __future__ import annotations

import math

from cosim.component.history import AFTER_ARRIVAL, AFTER_EVENT, BEFORE, margin
from cosim.run_data.records.clock import JUMP_WAITS, UPDATES_DONE, UPDATES_WAIT
from cosim.run_data.records.evaluation import DERIVATIVES, MOTION
from cosim.run_data.records.handlers import BOTH_KINDS, PUBLISH, TRIGGERED
from cosim.run_data.records.recording import NO_ROWS, ON_GRID
from cosim.run_data.run import Run
from cosim.step.agenda import follow_clocks, next_event_time
from cosim.step.block_calls import copy_reals, different, save_variables
from cosim.step.crossing import MOST_PARTS
from cosim.step.event_log import NOTICE, report_finding
from cosim.step.failures import HandlerFailed, NothingTakesTime, PeriodLost, followed_by
from cosim.step.histories import (
    SMOOTH,
    UNSEEN_BREAK,
    arrived_break,
    next_kink,
    refine_ended_step,
    refine_step,
    remember,
    remember_step,
    save_swapped,
    stop_before_jump,
)
from cosim.step.holds import can_hold, clear_candidates, held_count
from cosim.step.integration import assemble, integrate_step, restart_integration
from cosim.step.realize import realize, realize_held, stop_held
from cosim.step.recording import record_update
from cosim.step.releases import release_reset, release_unpressed
from cosim.step.tape import log_assembly, log_step, start_step_on_tape
from cosim.step.triggered import (
    follow_handlers,
    list_handled,
    list_pending,
    stay_on_guard,
    trigger_arrivals,
    trigger_jumps,
)
from cosim.step.updates import (
    FAILED_STATUS,
    PUBLISH_CAUSES,
    REACHED_TERMINATION,
    UPDATE_CAUSES,
    handle_signals,
    has_kind,
    run_publishes,
    run_updates,
)
from cosim.step.witness_values import shortest_pulse
from cosim.step.witnesses import isolate_witness, next_predicted_crossing, store_start_levels
from cosim.step.zeros import guard_set_witnesses, has_arrivals
from cosim_compiler.calls import rarely
from cosim_compiler.record import rows_of

WITHIN_REACH = 0.999 * MOST_PARTS  # shortest pulses: in a step that long none of them lies between two points
SLIVER = 1e-9  # of a fixed step: less than that before a boundary is rounding, not a step


def one_step(run: Run, boundary: float) -> None:
    """Take one step: updates at the start, integration no further than `boundary`, publishes at the end.

    Where a host has an event mode, a step ends just before a delayed jump that arrives (`stop_before_jump`),
    so that the host sees the values before it; the next step then begins with what was left to be done.
    """
    run.answers.changed_in_step = 0
    run.course.arrived = 0
    run.course.hold_known = 0
    follow_clocks(run)
    realize(run, DERIVATIVES)
    jump_waited = run.agenda.next_start == JUMP_WAITS
    if jump_waited:
        complete_arrival(run)
    run_start_updates(run)
    if asks_to_stop(run):
        run.agenda.next_start = UPDATES_DONE  # a run that goes on does not apply them twice
        return
    if jump_waited:
        run.answers.changed_in_step = 1  # derivatives jump, even if no variable does
    run.agenda.next_start = UPDATES_WAIT
    start = run.clock.time
    follow_clocks(run)  # once more: updates may have moved timers and periods
    is_held = held_count(run) > 0
    start_step_on_tape(run)
    integrate_toward(run, boundary)
    if run.clock.time > start:
        log_step(run, start, is_held)
    finish_step(run, start)


def finish_step(run: Run, start: float) -> None:
    """Remember a step that began at `start`, and run publishes; before a delayed jump both are left."""
    arrived = math.inf
    if run.clock.time > start:
        arrived = realize_end(run)
        if arrived <= 0.0 and run.course.halts != 0:
            run.agenda.next_start = JUMP_WAITS
            run.counts.steps += 1
            stop_before_jump(run)
            return
        remember_step(run)
    run.counts.steps += 1
    report_notices(run)
    end_step(run, PUBLISH_CAUSES)
    # a break that the method feels: its memory starts anew, once the step is recorded (`advance_once`)
    run.course.arrived = 1 if arrived < float(run.plan.order) else 0


def asks_to_stop(run: Run) -> bool:
    """Whether a handler has asked to stop."""
    return run.answers.severity >= REACHED_TERMINATION


# ---- the start of a step


@rarely
def complete_arrival(run: Run) -> None:
    """Do what the end of the last step has left to be done, where it stopped before a delayed jump."""
    run.agenda.next_start = UPDATES_WAIT
    arrived = arrived_break(run)
    remember(run, BEFORE, SMOOTH)
    if arrived < math.inf:
        remember(run, AFTER_ARRIVAL, arrived)
    report_notices(run)
    end_step(run, PUBLISH_CAUSES)
    if arrived < float(run.plan.order) and run.plan.restarts_cheaply == 0:
        realize(run, MOTION)
        restart_integration(run)


def run_start_updates(run: Run) -> None:
    """Run the updates that wait: of jumps, of the agenda, of witnesses that stay at zero."""
    if run.clock.jumped != 0.0 or run.agenda.next_start == UPDATES_WAIT:
        if run.clock.jumped != 0.0:
            handle_jump(run)
        if run.plan.handled_in_steps != 0:
            start_step(run)
            if asks_to_stop(run):
                return
    if has_arrivals(run):
        handle_arrivals(run)


@rarely
def handle_jump(run: Run) -> None:
    """Treat writes since the last step as a jump at this instant; it may make witnesses cross."""
    assemble(run)
    log_assembly(run)
    remember(run, AFTER_EVENT, UNSEEN_BREAK)
    run.clock.jumped = 0.0
    if trigger_jumps(run):
        end_step(run, 1 << TRIGGERED)


def start_step(run: Run) -> None:
    """Run the updates that are due, and those that their signals cause.

    If an update fails, the effects of earlier updates remain.
    """
    copy_reals(rows_of(float, run.c, 0, run.y.shape[0]), run.start_derivatives)
    if can_hold(run):
        release_unpressed(run)
    if len(run.witnesses) > 0:
        save_variables(run, run.starting)
    list_pending(run)
    if len(run.switched_counts) > 0:
        clear_candidates(run)
    run.answers.changed_now = 0
    run.answers.calls = 0
    update_and_realize(run, UPDATE_CAUSES)


def update_with_signals(run: Run, causes: int) -> None:
    """Run the updates of these causes that are due, then those that signals cause."""
    run_updates(run, causes)
    if len(run.signals) > 0:
        handle_signals(run)


def realize_changes(run: Run) -> None:
    """Realize what handlers have changed, and restart or guard what depends on it."""
    realize(run, MOTION)
    has_called = run.answers.calls > 0
    if run.answers.changed_now != 0:
        restart_after_updates(run)
    elif has_called:
        stay_on_guard(run)
    if has_called:
        guard_set_witnesses(run)


update_and_realize = followed_by(update_with_signals, realize_changes)


def restart_after_updates(run: Run) -> None:
    """Restart what depends on the past of the State, which updates have changed, and record it."""
    moves_on = True  # with the same derivatives as before
    before = run.start_derivatives
    for m in range(run.y.shape[0]):
        if different(before[m], run.c[m]):
            moves_on = False
    remember(run, AFTER_EVENT, SMOOTH if moves_on else UNSEEN_BREAK)
    restart_integration(run)
    log_assembly(run)
    if run.output.recording != NO_ROWS:
        record_update(run)
    list_handled(run)
    if can_hold(run):
        release_reset(run)
    follow_handlers(run, moves_on)


def handle_arrivals(run: Run) -> None:
    """Handle witnesses that reached zero without a recorded crossing: resting there is an event."""
    if trigger_arrivals(run):
        end_step(run, 1 << TRIGGERED)
        if run.plan.handled_in_steps != 0:
            start_step(run)


# ---- the continuous part


def integrate_toward(run: Run, boundary: float) -> None:
    """Integrate toward the next scheduled event, kink or boundary, where that is not now."""
    event_time = next_event_time(run) if run.plan.has_schedule != 0 else boundary
    if event_time != event_time:
        raise PeriodLost()
    if means_boundary(run, event_time, boundary):
        boundary = event_time
    start = run.clock.time
    kink = next_kink(run)
    if start < kink < min(event_time, boundary) - margin(start):
        event_time = kink
    if start < min(event_time, boundary):
        if run.output.recording >= ON_GRID:  # rows between the ends of the step show them
            save_swapped(run)
        integrate(run, event_time, boundary)


def means_boundary(run: Run, time: float, boundary: float) -> bool:
    """Whether a scheduled time is the boundary that a host means: its own time may be off by rounding."""
    return abs(time - boundary) <= run.options.meeting


def integrate(run: Run, event_time: float, boundary: float) -> None:
    """Take one step of the integrator toward an event or a boundary; a witness that crosses ends it."""
    store_start_levels(run)
    start = run.clock.time
    stop = end_of_step(run, event_time, boundary)
    if held_count(run) > 0:
        stop_held(run)
        if run.course.hold_known == 0:
            realize_held(run)
    integrate_step(run, stop)
    if run.plan.between_updates.is_empty():
        isolate_witness(run, start)
    else:
        run.transient.refined_until = math.nan
        refine_step(run)
        isolate_witness(run, start)
        realize(run, MOTION)
        refine_ended_step(run)


def end_of_step(run: Run, event_time: float, boundary: float) -> float:
    """The latest time at which a step may end, s."""
    start = run.clock.time
    fixed = run.method_settings.fixed_step
    stop = min(event_time, boundary)
    if fixed != 0.0 and run.y.shape[0] > 0 and start + fixed < boundary - SLIVER * fixed:
        stop = start + fixed if boundary < event_time else event_time
    if run.y.shape[0] == 0 and min(stop, run.method_settings.largest_step) == math.inf:
        raise NothingTakesTime()
    if len(run.witnesses) > 0:
        stop = min(stop, next_predicted_crossing(run))
        if fixed == 0.0:
            stop = min(stop, start + WITHIN_REACH * shortest_pulse(run))
    return stop


def realize_end(run: Run) -> float:
    """Realize the end of a step; the order of a delayed break that has arrived, infinite if none has."""
    run.agenda.time_advanced = BOTH_KINDS
    run.agenda.finished = 0
    realize(run, MOTION)
    return arrived_break(run)


# ---- the end of a step


def end_step(run: Run, causes: int) -> None:
    """Run the publishes of these causes (bits); they change nothing, so they come last."""
    if has_kind(run, PUBLISH):
        run_publishes(run, causes)
    if run.answers.severity == FAILED_STATUS:
        raise HandlerFailed()


def report_notices(run: Run) -> None:
    """Report that a slot which has a notice is no longer 0, once until it is 0 again."""
    for i in range(len(run.notices)):
        now = 1 if run.c[run.notices[i]] != 0.0 else 0
        if now > run.reported_notices[i]:
            report_finding(run, NOTICE, i, 0.0)
        run.reported_notices[i] = now
