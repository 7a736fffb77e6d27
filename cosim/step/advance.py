"""A run: its beginning, its steps, its end, and when it would practically never end.

For that steps are counted, not seconds.
"""

from __future__ import annotations

import math

from cosim.component.history import BEFORE, margin
from cosim.run_data.records.clock import UPDATES_WAIT
from cosim.run_data.records.evaluation import DERIVATIVES, INSTANCE, MOTION, NOTHING, REPORT
from cosim.run_data.records.handlers import BOTH_KINDS, INITIALIZATION_CAUSE, TERMINATION_CAUSE, TRIGGERED
from cosim.run_data.records.recording import LOG_TAPE, NO_ROWS
from cosim.run_data.run import Run
from cosim.step.agenda import check_timers, next_event_time, reschedule_periods, start_agenda
from cosim.step.block_calls import lower_stage
from cosim.step.failures import (
    REACHED,
    STEPPED,
    TERMINATED,
    HandlerFailed,
    PeriodLost,
    Stalled,
    TimeInPast,
    followed_by,
)
from cosim.step.histories import SMOOTH, make_room, next_kink, remember
from cosim.step.holds import can_hold, clear_holds
from cosim.step.integration import (
    assemble,
    initialize_method,
    integrate_step,
    method_arrays,
    restart_integration,
)
from cosim.step.realize import realize
from cosim.step.recording import record_step
from cosim.step.step import (
    SLIVER,
    asks_to_stop,
    end_step,
    means_boundary,
    one_step,
    report_notices,
)
from cosim.step.tape import log_assembly
from cosim.step.updates import (
    FAILED_STATUS,
    FIRST_PUBLISHES,
    handle_signals,
    run_publishes,
    run_updates,
)
from cosim.step.witnesses import clear_located, start_witnesses
from cosim_compiler.calls import rarely


def clear_answers(run: Run) -> None:
    """Reset the answers of handlers: none has answered yet."""
    run.answers.severity = 0
    run.answers.source = -1


def initialize(run: Run, t: float) -> int:
    """The 0th step, at `t`. What was pending when the integrator was replaced stays so."""
    goes_on = run.agenda.initialized == 0 and run.clock.stamp == t
    start_run(run, t, goes_on)
    make_room(run)
    start_agenda(run)
    assemble(run)
    log_assembly(run)
    if run.course.suppressed == 0:
        run_updates(run, 1 << INITIALIZATION_CAUSE)
    handle_signals(run)
    reschedule_periods(run)
    check_timers(run)
    assemble(run)
    log_assembly(run)
    # Twice: a derivative that depends on a delayed value is known once there is a past.
    remember(run, BEFORE, SMOOTH)
    remember(run, BEFORE, SMOOTH)
    initialize_method(run)
    run.clock.jumped = 0.0
    report_notices(run)
    start_witnesses(run, goes_on)
    run.agenda.initialized = 1
    run.agenda.time_advanced = BOTH_KINDS
    run.clock.stamp = t
    if not asks_to_stop(run):
        first = 0 if run.course.suppressed != 0 else 1 << INITIALIZATION_CAUSE
        end_step(run, first + FIRST_PUBLISHES)
    run.clock.completed = t
    find_next_event(run)
    return TERMINATED if asks_to_stop(run) else REACHED


def start_run(run: Run, t: float, goes_on: bool) -> None:
    """Reset everything that an earlier run has left, at `t`."""
    run.clock.time = t
    run.evaluation.stage = NOTHING
    run.evaluation.touched = 0
    clear_answers(run)
    run.agenda.initialized = 0
    run.agenda.next_start = UPDATES_WAIT
    run.agenda.time_advanced = 0
    run.agenda.finished = 0
    for handler in run.handlers:
        if not goes_on or handler.cause != TRIGGERED:
            run.next_index[handler.number] = 0
    clear_holds(run)
    clear_located(run)
    start_pace(run)
    for i in range(len(run.notices)):
        run.reported_notices[i] = 0
    for i in range(len(run.rings)):
        run.reported_histories[i] = 0
    for i in range(len(run.witnesses)):
        run.reported_witnesses[i] = 0
    for i in range(len(run.handlers)):
        run.reported_writers[i] = 0


def find_next_event(run: Run) -> None:
    """Store the time of the next scheduled event or kink in `clock`."""
    time = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    if time != time:
        raise PeriodLost()
    kink = next_kink(run)
    if run.clock.time + margin(run.clock.time) < kink < time:
        time = kink
    run.clock.next_event = time


def advance(run: Run, t: float) -> int:
    """Take steps until `t`, at most ``course.most_steps`` of them: REACHED, STEPPED or TERMINATED."""
    if not t >= run.clock.time:
        raise TimeInPast()
    if run.plan.integrates_only != 0 and run.output.recording == NO_ROWS and run.output.logging < LOG_TAPE:
        run.clock.jumped = 0.0  # nothing here remembers, watches or is corrected
        return advance_smoothly(run, t)
    run.course.continues = 1
    advance_and_evaluate(run, t)
    return outcome(run, t)


def advance_steps(run: Run, t: float) -> None:
    """Take steps until `t`, until a handler asks to stop, or as many as one call may take."""
    for _ in range(max(1, run.course.most_steps)):
        if advance_once(run, t) != STEPPED:
            return
        if is_stalled(run, t):
            raise Stalled()


def evaluate_waiting(run: Run) -> None:
    """Evaluate what has waited for the next step, because none follows at once."""
    run.course.continues = 0
    if run.evaluation.stage == DERIVATIVES:
        realize(run, MOTION)


advance_and_evaluate = followed_by(advance_steps, evaluate_waiting)


def advance_smoothly(run: Run, t: float) -> int:
    """Advance where nothing but integration happens in a step."""
    if not t > run.clock.time:
        return advance_once(run, t)
    realize(run, MOTION)
    clear_answers(run)
    for _ in range(run.course.most_steps):
        stop = t
        fixed = run.method_settings.fixed_step
        if fixed != 0.0 and run.clock.time + fixed < t - SLIVER * fixed:
            stop = run.clock.time + fixed
        integrate_step(run, stop)
        run.counts.steps += 1
        if is_stalled(run, t):
            raise Stalled()
        if run.clock.time >= t:
            break
    run.agenda.next_start = UPDATES_WAIT
    run.agenda.time_advanced = BOTH_KINDS
    run.agenda.finished = 0
    run.clock.stamp = run.clock.time
    run.clock.states_changed = 0.0
    return REACHED if run.clock.time >= t else STEPPED


def advance_once(run: Run, t: float) -> int:
    """Take one step toward `t`: STEPPED, REACHED if it ended there, TERMINATED if a handler asked to stop."""
    if not t >= run.clock.time:
        raise TimeInPast()
    make_room(run)
    clear_answers(run)
    run.transient.step_start = run.clock.time
    step_and_record(run, t)
    if run.course.arrived != 0 and run.plan.restarts_cheaply == 0:
        # after recording, which needs the dense output of the step
        realize(run, MOTION)
        restart_integration(run)
    return outcome(run, t)


def record_end(run: Run) -> None:
    """Record the end of a step, and its rows if it has advanced time."""
    run.clock.stamp = run.clock.time
    run.clock.states_changed = float(run.answers.changed_in_step)
    if run.output.recording != NO_ROWS and run.clock.time > run.transient.step_start:
        record_step(run)


step_and_record = followed_by(one_step, record_end)


def outcome(run: Run, boundary: float) -> int:
    """The result of a step toward a boundary: STEPPED, REACHED or TERMINATED."""
    if asks_to_stop(run):
        return TERMINATED
    return REACHED if has_arrived(run, boundary) else STEPPED


def has_arrived(run: Run, boundary: float) -> bool:
    """Whether a step has ended at a boundary, or at a scheduled update that is there for the host."""
    if run.clock.time >= boundary:
        return True
    if run.plan.has_schedule == 0 or not means_boundary(run, run.clock.time, boundary):
        return False
    return next_event_time(run) <= run.clock.time


def evaluate(run: Run, t: float) -> int:
    """Evaluate everything that follows from the present state, at `t`, outputs included."""
    if t != run.clock.time:
        run.clock.time = t
        lower_stage(run, INSTANCE)
    realize(run, REPORT)
    return REACHED


def finish(run: Run) -> int:
    """Run the handlers of Termination, once for each end of a run; signals that they raise stay set."""
    if run.agenda.finished != 0:
        return REACHED
    run.agenda.finished = 1
    clear_answers(run)
    realize(run, MOTION)
    run_updates(run, 1 << TERMINATION_CAUSE)
    realize(run, MOTION)
    run_publishes(run, 1 << TERMINATION_CAUSE)
    if run.answers.severity == FAILED_STATUS:
        raise HandlerFailed()
    return REACHED


STRETCH = 2_000  # steps; then `is_too_far` checks whether they get shorter without end
STRETCHES = 50  # after so many it checks whether the rest would take too long at their mean length
MOST_STEPS = 1e10  # that is, more than so many to the end
MOST_WHEN_SLOWER = 1e9  # the same where one stretch after the other got less far
SLOWER = 0.5  # less than that part of the one before
SLOWER_IN_A_ROW = 3  # one is what begins with a contact


def start_pace(run: Run) -> None:
    """Start to measure the pace: a run begins, or goes on from another time."""
    pace = run.pace
    pace.begin_of_all = pace.begin = run.clock.time
    pace.finished_stretches = pace.slower_stretches = 0.0
    pace.last_progress = 0.0
    run.course.counted_steps = 0


def is_stalled(run: Run, t: float) -> bool:
    """After a step: whether it would take far too many to reach `t`."""
    run.course.counted_steps += 1
    if run.course.counted_steps < STRETCH:
        return False
    return is_too_far(run, t)


@rarely
def is_too_far(run: Run, t: float) -> bool:
    """At the end of a stretch of steps: whether `t` is too many steps away, or they get ever shorter."""
    pace = run.pace
    now = run.clock.time
    if not pace.begin <= now:
        start_pace(run)
        return False
    run.course.counted_steps = 0
    if not t < math.inf:
        return False
    progress = now - pace.begin
    slower = progress < SLOWER * pace.last_progress and not has_event_since(run, pace.begin)
    pace.slower_stretches = pace.slower_stretches + 1.0 if slower else 0.0
    pace.last_progress = progress
    pace.begin = now
    pace.finished_stretches += 1.0
    too_far = False
    if pace.slower_stretches >= SLOWER_IN_A_ROW:
        too_far = progress * MOST_WHEN_SLOWER < (t - now) * STRETCH
    if pace.finished_stretches >= STRETCHES:
        begin = pace.begin_of_all
        if (now - begin) * MOST_STEPS < (t - begin) * STRETCH * STRETCHES:
            too_far = True
        pace.begin_of_all = now
        pace.finished_stretches = 0.0
    if too_far:
        run.failure.fastest = fastest_state(run)
    return too_far


def has_event_since(run: Run, time: float) -> bool:
    """Whether a witness that may be held has crossed since a time: impacts that pile up end in a hold."""
    has_event = False
    for witness in run.witnesses:
        has_event = has_event or witness.fired >= time
    return has_event and can_hold(run)


def fastest_state(run: Run) -> int:
    """Index of the state whose rate is the largest for its size, in absolute tolerances at least."""
    tolerances = method_arrays(run).absolute_tolerances
    fastest = -1
    largest = 0.0
    for m in range(run.y.shape[0]):
        rate = abs(run.c[m]) / max(abs(run.y[m]), tolerances[m])
        if rate > largest:
            largest = rate
            fastest = m
    return fastest
