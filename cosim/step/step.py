"""A run: its beginning, its steps, its end.

One step is `one_step`: `start_step` does the updates that are due, `integrate` goes on toward the next event,
`end_step` publishes. A page for maintainers, "How a step runs", follows an event through these functions.
"""

from __future__ import annotations

import math

from cosim.contracts.method_layout import FIXED, LARGEST
from cosim.step.agenda import (
    check_timers,
    follow_clocks,
    next_event_time,
    schedule_periods,
    start_agenda,
)
from cosim.step.between import refine_step
from cosim.step.codes import (
    FAILED_CRAWL,
    FAILED_HANDLER,
    FAILED_PAST,
    FAILED_PERIOD,
    FAILED_STILL,
    REACHED,
    STEPPED,
    TERMINATED,
)
from cosim.step.copies import different, save_variables
from cosim.step.crossing import MOST_PARTS
from cosim.step.event_log import NOTICE, tell
from cosim.step.histories import (
    arrived_break,
    halt,
    make_room,
    next_kink,
    note_swapped,
    remember,
    remember_step,
)
from cosim.step.holds import (
    begin_candidates,
    can_hold,
    drop,
    forget_holds,
    held_count,
    realize_held,
    release,
)
from cosim.step.pace import crawls, forget_pace
from cosim.step.realize import (
    assemble,
    begin_integration,
    realize,
    realized,
    restart_integration,
    step,
)
from cosim.step.recording import record_step, record_update
from cosim.step.records import (
    DERIVATIVES,
    HALTED,
    INSTANCE,
    MOTION,
    NO_ROWS,
    NOTHING,
    ON_GRID,
    PUBLISH,
    REPORT,
)
from cosim.step.run import Run
from cosim.step.touched import lower_stage
from cosim.step.triggered import (
    cross_at_rest,
    cross_by_jump,
    leave_out_pending,
    list_pending,
    stay_on_guard,
    turned,
)
from cosim.step.updates import (
    FAILED_STATUS,
    FIRST_PUBLISHES,
    INITIALIZATION_CAUSE,
    PUBLISH_CAUSES,
    REACHED_TERMINATION,
    TERMINATION_CAUSE,
    TRIGGERED,
    UPDATE_CAUSES,
    has_kind,
    publishes,
    take_signals,
    updates,
)
from cosim.step.witnesses import (
    begin_watch,
    forget_located,
    next_expected,
    start_witnesses,
    trigger,
)
from cosim.step.zeros import has_arrivals, note_written
from cosim.system.history_buffer import AFTER_ARRIVAL, AFTER_EVENT, BEFORE, margin

WITHIN_REACH = 0.999 * MOST_PARTS  # shortest pulses: in a step that long each of them is looked at
SLIVER = 1e-9  # of a fixed step: less than that before a boundary is rounding, not a step
BOTH_KINDS = 3  # of updates that wait for time to advance


def note_next_event(run: Run) -> int:
    """When the next scheduled event or kink comes, into `clock`; 0 or a code."""
    time = next_event_time(run) if run.plan.has_schedule != 0 else math.inf
    if time != time:
        return FAILED_PERIOD
    kink = next_kink(run)
    if run.clock.time + margin(run.clock.time) < kink < time:
        time = kink
    run.clock.next_event = time
    return 0


def is_near(run: Run, time: float, boundary: float) -> bool:
    """Whether a scheduled time is the boundary that a host means: its own time may be off by rounding."""
    return abs(time - boundary) <= run.options.meeting


def has_arrived(run: Run, boundary: float) -> bool:
    """Whether a step has ended at a boundary, or at a scheduled update that is there for the host."""
    if run.clock.time >= boundary:
        return True
    if run.plan.has_schedule == 0 or not is_near(run, run.clock.time, boundary):
        return False
    return next_event_time(run) <= run.clock.time


def begin_answers(run: Run) -> None:
    """Forget the answers of handlers."""
    run.answers.severity = 0
    run.answers.source = -1


def initialize(run: Run, t: float) -> int:
    """The 0th step, at `t`. What was pending when the integrator was replaced stays so."""
    stays = run.agenda.initialized == 0 and run.clock.stamp == t
    run.clock.time = t
    run.evaluation.stage = NOTHING
    run.evaluation.touched = 0
    begin_answers(run)
    run.agenda.initialized = 0
    run.agenda.updates_done = 0
    run.agenda.time_advanced = 0
    run.agenda.finished = 0
    for handler in run.handlers:
        if not stays or handler.cause != TRIGGERED:
            run.next_index[handler.number] = 0
    forget_holds(run)
    forget_located(run)
    forget_pace(run)
    for i in range(len(run.notices)):
        run.reported_notices[i] = 0
    for i in range(len(run.rings)):
        run.reported_histories[i] = 0
    for i in range(len(run.witnesses)):
        run.reported_witnesses[i] = 0
    for entry in range(len(run.handlers)):
        run.reported_writers[entry] = 0
    code = make_room(run)
    if code == 0:
        code = start_agenda(run)
    if code == 0:
        code = assemble(run)
    if code == 0 and run.course.suppressed == 0:
        code = updates(run, 1 << INITIALIZATION_CAUSE)
    if code == 0:
        code = take_signals(run)
    if code == 0:
        code = schedule_periods(run, 1)
    if code == 0:
        code = check_timers(run)
    if code == 0:
        code = assemble(run)
    # Twice: a derivative that depends on a delayed value is known once there is a past.
    if code == 0:
        code = remember(run, BEFORE, math.inf)
    if code == 0:
        code = remember(run, BEFORE, math.inf)
    if code == 0:
        code = begin_integration(run)
    if code != 0:
        return code
    run.clock.jumped = 0.0
    watch_notices(run)
    code = start_witnesses(run, 1 if stays else 0)
    if code != 0:
        return code
    run.agenda.initialized = 1
    run.agenda.time_advanced = BOTH_KINDS
    run.clock.stamp = t
    if run.answers.severity < REACHED_TERMINATION:
        first = 0 if run.course.suppressed != 0 else 1 << INITIALIZATION_CAUSE
        code = end_step(run, first + FIRST_PUBLISHES)
    run.clock.completed = t
    if code == 0:
        code = note_next_event(run)
    if code != 0:
        return code
    return TERMINATED if run.answers.severity >= REACHED_TERMINATION else REACHED


def advance(run: Run, t: float) -> int:
    """Steps until `t`, at most ``places[MOST]`` of them: REACHED, STEPPED, TERMINATED or another code."""
    if not t >= run.clock.time:
        return FAILED_PAST
    if run.plan.integrates_only != 0 and run.output.recording == NO_ROWS:
        run.clock.jumped = 0.0  # nothing here remembers, watches or is corrected
        return advance_smoothly(run, t)
    run.course.goes_on = 1
    code = STEPPED
    for _ in range(max(1, run.course.most_steps)):
        code = advance_once(run, t)
        if code == STEPPED and crawls(run, t):
            code = FAILED_CRAWL
        if code != STEPPED:
            break
    run.course.goes_on = 0
    if run.evaluation.stage == DERIVATIVES:
        looked = realize(run, MOTION)
        code = looked if looked != 0 and code in (STEPPED, REACHED, TERMINATED) else code
    return code


def advance_smoothly(run: Run, t: float) -> int:
    """As `advance`, where nothing but integration happens in a step: without what is not there."""
    if not t > run.clock.time:
        return advance_once(run, t)
    code = realize(run, MOTION)
    if code != 0:
        return code
    begin_answers(run)
    for _ in range(run.course.most_steps):
        stop = t
        fixed = run.settings[FIXED]
        if fixed != 0.0 and run.clock.time + fixed < t - SLIVER * fixed:
            stop = run.clock.time + fixed
        code = step(run, stop)
        if code != 0:
            return code
        run.counts.steps += 1
        if crawls(run, t):
            return FAILED_CRAWL
        if run.clock.time >= t:
            break
    run.agenda.updates_done = 0
    run.agenda.time_advanced = BOTH_KINDS
    run.agenda.finished = 0
    run.clock.stamp = run.clock.time
    run.clock.states_changed = 0.0
    return REACHED if run.clock.time >= t else STEPPED


def advance_once(run: Run, t: float) -> int:
    """One step toward `t`: STEPPED, REACHED when it ended there, TERMINATED when a handler asked to stop."""
    if not t >= run.clock.time:
        return FAILED_PAST
    code = make_room(run)
    if code != 0:
        return code
    begin_answers(run)
    before = run.clock.time
    code = one_step(run, t)
    run.clock.stamp = run.clock.time
    run.clock.states_changed = float(run.answers.changed)
    if run.output.recording != NO_ROWS and run.clock.time > before:
        recorded = record_step(run)
        code = recorded if code == 0 else code
    if code == 0 and run.course.arrived != 0 and run.plan.restarts_cheaply == 0:
        # after recording, which needs the dense output of the step
        code = realize(run, MOTION)
        if code == 0:
            code = restart_integration(run)
    if code != 0:
        return code
    if run.answers.severity >= REACHED_TERMINATION:
        return TERMINATED
    return REACHED if has_arrived(run, t) else STEPPED


def one_step(run: Run, boundary: float) -> int:
    """Updates at the start, integration no further than `boundary`, publishes at the end; 0 or a code."""
    run.answers.changed = 0
    run.course.arrived = 0
    code = follow_clocks(run)
    if code == 0:
        code = realized(run, DERIVATIVES)
    has_arrived = run.agenda.updates_done == HALTED
    if code == 0 and has_arrived:
        code = go_past_arrival(run)
    if code != 0:
        return code
    if run.clock.jumped != 0.0 or run.agenda.updates_done == 0:
        if run.clock.jumped != 0.0:
            code = note_jump(run)
        if code == 0 and run.plan.handled_in_steps != 0:
            code = start_step(run)
            if code == 0 and run.answers.severity >= REACHED_TERMINATION:
                run.agenda.updates_done = 1
                return 0
        if code != 0:
            return code
    if has_arrivals(run):
        changed = run.answers.changed
        code = follow_arrivals(run)
        if code != 0:
            return code
        if run.answers.severity >= REACHED_TERMINATION:
            run.agenda.updates_done = 1
            return 0
        run.answers.changed = max(changed, run.answers.changed)
    if has_arrived:
        run.answers.changed = 1
    run.agenda.updates_done = 0
    start = run.clock.time
    code = follow_clocks(run)
    if code != 0:
        return code
    event_time = next_event_time(run) if run.plan.has_schedule != 0 else boundary
    if event_time != event_time:
        return FAILED_PERIOD
    if is_near(run, event_time, boundary):
        boundary = event_time
    kink = next_kink(run)
    if start < kink < min(event_time, boundary) - margin(start):
        event_time = kink
    if start < min(event_time, boundary):
        if run.output.recording >= ON_GRID:  # rows between the ends of the step show them
            note_swapped(run)
        code = integrate(run, event_time, boundary)
        if code != 0:
            return code
    arrived = math.inf
    if run.clock.time > start:
        run.agenda.time_advanced = BOTH_KINDS
        run.agenda.finished = 0
        code = realized(run, MOTION)
        arrived = arrived_break(run)
        if code == 0 and arrived <= 0.0 and run.course.halts != 0:
            run.agenda.updates_done = HALTED
            run.counts.steps += 1
            return halt(run)
        if code == 0:
            code = remember_step(run)
        if code != 0:
            return code
    run.counts.steps += 1
    watch_notices(run)
    if run.plan.handled_in_steps != 0:
        code = end_step(run, PUBLISH_CAUSES)
        if code != 0:
            return code
    run.course.arrived = 1 if arrived < float(run.plan.order) else 0
    return code


def go_past_arrival(run: Run) -> int:
    """What the end of the last step has left to be done; 0 or a code."""
    run.agenda.updates_done = 0
    arrived = arrived_break(run)
    code = remember(run, BEFORE, math.inf)
    if code == 0 and arrived < math.inf:
        code = remember(run, AFTER_ARRIVAL, arrived)
    if code != 0:
        return code
    watch_notices(run)
    if run.plan.handled_in_steps != 0:
        code = end_step(run, PUBLISH_CAUSES)
    if code == 0 and arrived < float(run.plan.order) and run.plan.restarts_cheaply == 0:
        code = realize(run, MOTION)
        if code == 0:
            code = restart_integration(run)
    return code


def note_jump(run: Run) -> int:
    """What was written since the last step is a jump at this instant; it may make witnesses cross."""
    code = assemble(run)
    if code == 0:
        code = remember(run, AFTER_EVENT, 2.0)
    if code != 0:
        return code
    run.clock.jumped = 0.0
    if cross_by_jump(run) == 0:
        return 0
    return end_step(run, 1 << TRIGGERED)


def start_step(run: Run) -> int:
    """The updates that are due, and those that their signals cause; 0 or a code."""
    for m in range(run.y.shape[0]):
        run.start_derivatives[m] = run.c[m]
    if can_hold(run):
        code = release(run)
        if code != 0:
            return code
    if len(run.witnesses) > 0:
        save_variables(run, run.starting)
    list_pending(run)
    if run.plan.candidate_width > 0:
        begin_candidates(run)
    run.answers.changed = 0
    handled = run.answers.calls
    failed = updates(run, UPDATE_CAUSES)
    if failed == 0 and len(run.signals) > 0:
        failed = take_signals(run)
    # where some have failed, what others have done before stays
    code = realized(run, MOTION)
    if code == 0 and run.answers.changed != 0:
        code = follow_updates(run)
    elif code == 0 and run.answers.calls != handled:
        code = stay_on_guard(run)
    if code == 0 and run.answers.calls != handled:
        note_written(run)
    return failed if failed != 0 else code


def follow_arrivals(run: Run) -> int:
    """Witnesses that came to zero, and whose passage nothing says, may stay there: an event. 0 or a code."""
    if cross_at_rest(run) == 0:
        return 0
    code = end_step(run, 1 << TRIGGERED)
    if code == 0 and run.plan.handled_in_steps != 0:
        code = start_step(run)
    return code


def follow_updates(run: Run) -> int:
    """Updates have changed the State, which is realized again; 0 or a code."""
    same = True
    for m in range(run.y.shape[0]):
        if different(run.start_derivatives[m], run.c[m]):
            same = False
    code = remember(run, AFTER_EVENT, math.inf if same else 2.0)
    if code == 0:
        code = restart_integration(run)
    if code == 0 and run.output.recording != NO_ROWS:
        code = record_update(run)
    leave_out_pending(run)
    if code == 0 and can_hold(run):
        code = drop(run)
    if code == 0:
        code = turned(run, 1 if same else 0)
    return code


def end_step(run: Run, causes: int) -> int:
    """Publishes; 0 or a code."""
    code = publishes(run, causes) if has_kind(run, PUBLISH) else 0
    if code == 0 and run.answers.severity == FAILED_STATUS:
        return FAILED_HANDLER
    return code


def integrate(run: Run, event_time: float, boundary: float) -> int:
    """One step of the integrator toward an event or a boundary, ended by a witness that crosses."""
    begin_watch(run)
    start = run.clock.time
    fixed = run.settings[FIXED]
    stop = min(event_time, boundary)
    if fixed != 0.0 and run.y.shape[0] > 0 and start + fixed < boundary - SLIVER * fixed:
        stop = start + fixed if boundary < event_time else event_time
    if run.y.shape[0] == 0 and min(stop, run.settings[LARGEST]) == math.inf:
        return FAILED_STILL
    if held_count(run) > 0:
        code = realize_held(run)
        if code != 0:
            return code
    if len(run.witnesses) > 0:
        stop = min(stop, next_expected(run))
        if fixed == 0.0:
            stop = min(stop, start + WITHIN_REACH * run.options.shortest_pulse)
    code = step(run, stop)
    if code == 0 and run.plan.between_updates.first != run.plan.between_updates.last:
        run.passing.refined_until = math.nan
        code = refine_step(run, 1)
    if code == 0:
        code = trigger(run, start)
    if code == 0 and run.plan.between_updates.first != run.plan.between_updates.last:
        code = realize(run, MOTION)
        if code == 0:
            code = refine_step(run, 0)  # where an event has made the step shorter
    return code


def evaluate(run: Run, t: float) -> int:
    """Everything that follows from the present state, at `t`, outputs included."""
    if t != run.clock.time:
        run.clock.time = t
        lower_stage(run, INSTANCE)
    return realize(run, REPORT)


def watch_notices(run: Run) -> None:
    """Tell when a slot that has a notice is no longer 0, once until it is 0 again."""
    for i in range(len(run.notices)):
        now = 1 if run.c[run.notices[i]] != 0.0 else 0
        if now > run.reported_notices[i]:
            tell(run, NOTICE, i, 0.0)
        run.reported_notices[i] = now


def finish(run: Run) -> int:
    """Termination, once for each end of a run; signals that its handlers raise stay set."""
    if run.agenda.finished != 0:
        return REACHED
    run.agenda.finished = 1
    begin_answers(run)
    code = realize(run, MOTION)
    if code == 0:
        code = updates(run, 1 << TERMINATION_CAUSE)
    if code == 0:
        code = realize(run, MOTION)
    if code == 0:
        code = publishes(run, 1 << TERMINATION_CAUSE)
    if code != 0:
        return code
    return FAILED_HANDLER if run.answers.severity == FAILED_STATUS else REACHED
