"""A run: its beginning, its steps, its end.

One step is `one_step`: `start_step` does the updates that are due, `integrate` goes on toward the next event,
`end_step` publishes. A page for maintainers, "How a step runs", follows an event through these functions.
"""

from __future__ import annotations

import math

from cosim.contracts.method_layout import FIXED, LARGEST
from cosim.step import layout as ix
from cosim.step.agenda import (
    check_timers,
    follow_clocks,
    next_event_time,
    schedule_periods,
    start_agenda,
)
from cosim.step.arrays import Arrays
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
from cosim.step.copies import different, keep
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


def note_next_event(a: Arrays) -> int:
    """When the next scheduled event or kink comes, into `clock`; 0 or a code."""
    time = next_event_time(a) if a.program[ix.HAS_SCHEDULE] != 0 else math.inf
    if time != time:
        return FAILED_PERIOD
    kink = next_kink(a)
    if a.clock[ix.TIME] + margin(a.clock[ix.TIME]) < kink < time:
        time = kink
    a.clock[ix.NEXT_EVENT] = time
    return 0


def is_near(a: Arrays, time: float, boundary: float) -> bool:
    """Whether a scheduled time is the boundary that a host means: its own time may be off by rounding."""
    return abs(time - boundary) <= a.numbers[ix.MEETING]


def has_arrived(a: Arrays, boundary: float) -> bool:
    """Whether a step has ended at a boundary, or at a scheduled update that is there for the host."""
    if a.clock[ix.TIME] >= boundary:
        return True
    if a.program[ix.HAS_SCHEDULE] == 0 or not is_near(a, a.clock[ix.TIME], boundary):
        return False
    return next_event_time(a) <= a.clock[ix.TIME]


def begin_answers(a: Arrays) -> None:
    """Forget the answers of handlers."""
    a.places[ix.SEVERITY] = 0
    a.places[ix.SOURCE] = -1


def initialize(a: Arrays, t: float) -> int:
    """The 0th step, at `t`. What was pending when the integrator was replaced stays so."""
    stays = a.agenda[ix.INITIALIZED] == 0 and a.clock[ix.STAMP] == t
    a.clock[ix.TIME] = t
    a.places[ix.STAGE] = ix.NOTHING
    a.places[ix.TOUCHED] = 0
    begin_answers(a)
    for i in range(ix.FIRST_ENTRY):
        a.agenda[i] = 0
    for handler in a.handlers:
        if not stays or handler.cause != TRIGGERED:
            a.next_index[handler.number] = 0
    forget_holds(a)
    forget_located(a)
    forget_pace(a)
    for i in range(a.program[ix.NOTICES]):
        a.places[a.program[ix.TOLD] + i] = 0
    for i in range(a.program[ix.RINGS]):
        a.places[a.program[ix.TOLD_OF_RINGS] + i] = 0
    for i in range(a.program[ix.WITNESSES]):
        a.places[a.program[ix.TOLD_OF_WITNESSES] + i] = 0
    for entry in range(a.program[ix.ENTRIES]):
        a.places[a.program[ix.REPORTED_WRITERS] + entry] = 0
    code = make_room(a)
    if code == 0:
        code = start_agenda(a)
    if code == 0:
        code = assemble(a)
    if code == 0 and a.places[ix.SUPPRESSED] == 0:
        code = updates(a, 1 << INITIALIZATION_CAUSE)
    if code == 0:
        code = take_signals(a)
    if code == 0:
        code = schedule_periods(a, 1)
    if code == 0:
        code = check_timers(a)
    if code == 0:
        code = assemble(a)
    # Twice: a derivative that depends on a delayed value is known once there is a past.
    if code == 0:
        code = remember(a, BEFORE, math.inf)
    if code == 0:
        code = remember(a, BEFORE, math.inf)
    if code == 0:
        code = begin_integration(a)
    if code != 0:
        return code
    a.clock[ix.JUMPED] = 0.0
    watch_notices(a)
    code = start_witnesses(a, 1 if stays else 0)
    if code != 0:
        return code
    a.agenda[ix.INITIALIZED] = 1
    a.agenda[ix.TIME_ADVANCED] = BOTH_KINDS
    a.clock[ix.STAMP] = t
    if a.places[ix.SEVERITY] < REACHED_TERMINATION:
        first = 0 if a.places[ix.SUPPRESSED] != 0 else 1 << INITIALIZATION_CAUSE
        code = end_step(a, first + FIRST_PUBLISHES)
    a.clock[ix.COMPLETED] = t
    if code == 0:
        code = note_next_event(a)
    if code != 0:
        return code
    return TERMINATED if a.places[ix.SEVERITY] >= REACHED_TERMINATION else REACHED


def advance(a: Arrays, t: float) -> int:
    """Steps until `t`, at most ``places[MOST]`` of them: REACHED, STEPPED, TERMINATED or another code."""
    if not t >= a.clock[ix.TIME]:
        return FAILED_PAST
    if a.program[ix.SMOOTH] != 0 and a.places[ix.RECORDING] == ix.NO_ROWS:
        a.clock[ix.JUMPED] = 0.0  # nothing here remembers, watches or is corrected
        return advance_smoothly(a, t)
    a.places[ix.GOES_ON] = 1
    code = STEPPED
    for _ in range(max(1, a.places[ix.MOST])):
        code = advance_once(a, t)
        if code == STEPPED and crawls(a, t):
            code = FAILED_CRAWL
        if code != STEPPED:
            break
    a.places[ix.GOES_ON] = 0
    if a.places[ix.STAGE] == ix.DERIVATIVES:
        looked = realize(a, ix.MOTION)
        code = looked if looked != 0 and code in (STEPPED, REACHED, TERMINATED) else code
    return code


def advance_smoothly(a: Arrays, t: float) -> int:
    """As `advance`, where nothing but integration happens in a step: without what is not there."""
    if not t > a.clock[ix.TIME]:
        return advance_once(a, t)
    code = realize(a, ix.MOTION)
    if code != 0:
        return code
    begin_answers(a)
    for _ in range(a.places[ix.MOST]):
        stop = t
        fixed = a.settings[FIXED]
        if fixed != 0.0 and a.clock[ix.TIME] + fixed < t - SLIVER * fixed:
            stop = a.clock[ix.TIME] + fixed
        code = step(a, stop)
        if code != 0:
            return code
        a.places[ix.STEPS_TAKEN] += 1
        if crawls(a, t):
            return FAILED_CRAWL
        if a.clock[ix.TIME] >= t:
            break
    a.agenda[ix.UPDATES_DONE] = 0
    a.agenda[ix.TIME_ADVANCED] = BOTH_KINDS
    a.agenda[ix.FINISHED] = 0
    a.clock[ix.STAMP] = a.clock[ix.TIME]
    a.clock[ix.STATES_CHANGED] = 0.0
    return REACHED if a.clock[ix.TIME] >= t else STEPPED


def advance_once(a: Arrays, t: float) -> int:
    """One step toward `t`: STEPPED, REACHED when it ended there, TERMINATED when a handler asked to stop."""
    if not t >= a.clock[ix.TIME]:
        return FAILED_PAST
    code = make_room(a)
    if code != 0:
        return code
    begin_answers(a)
    before = a.clock[ix.TIME]
    code = one_step(a, t)
    a.clock[ix.STAMP] = a.clock[ix.TIME]
    a.clock[ix.STATES_CHANGED] = float(a.places[ix.CHANGED])
    if a.places[ix.RECORDING] != ix.NO_ROWS and a.clock[ix.TIME] > before:
        recorded = record_step(a)
        code = recorded if code == 0 else code
    if code == 0 and a.places[ix.ARRIVED] != 0 and a.program[ix.CHEAP] == 0:
        # after recording, which needs the dense output of the step
        code = realize(a, ix.MOTION)
        if code == 0:
            code = restart_integration(a)
    if code != 0:
        return code
    if a.places[ix.SEVERITY] >= REACHED_TERMINATION:
        return TERMINATED
    return REACHED if has_arrived(a, t) else STEPPED


def one_step(a: Arrays, boundary: float) -> int:
    """Updates at the start, integration no further than `boundary`, publishes at the end; 0 or a code."""
    a.places[ix.CHANGED] = 0
    a.places[ix.ARRIVED] = 0
    code = follow_clocks(a)
    if code == 0:
        code = realized(a, ix.DERIVATIVES)
    has_arrived = a.agenda[ix.UPDATES_DONE] == ix.HALTED
    if code == 0 and has_arrived:
        code = go_past_arrival(a)
    if code != 0:
        return code
    if a.clock[ix.JUMPED] != 0.0 or a.agenda[ix.UPDATES_DONE] == 0:
        if a.clock[ix.JUMPED] != 0.0:
            code = note_jump(a)
        if code == 0 and a.program[ix.IN_STEPS] != 0:
            code = start_step(a)
            if code == 0 and a.places[ix.SEVERITY] >= REACHED_TERMINATION:
                a.agenda[ix.UPDATES_DONE] = 1
                return 0
        if code != 0:
            return code
    if has_arrivals(a):
        changed = a.places[ix.CHANGED]
        code = follow_arrivals(a)
        if code != 0:
            return code
        if a.places[ix.SEVERITY] >= REACHED_TERMINATION:
            a.agenda[ix.UPDATES_DONE] = 1
            return 0
        a.places[ix.CHANGED] = max(changed, a.places[ix.CHANGED])
    if has_arrived:
        a.places[ix.CHANGED] = 1
    a.agenda[ix.UPDATES_DONE] = 0
    start = a.clock[ix.TIME]
    code = follow_clocks(a)
    if code != 0:
        return code
    event_time = next_event_time(a) if a.program[ix.HAS_SCHEDULE] != 0 else boundary
    if event_time != event_time:
        return FAILED_PERIOD
    if is_near(a, event_time, boundary):
        boundary = event_time
    kink = next_kink(a)
    if start < kink < min(event_time, boundary) - margin(start):
        event_time = kink
    if start < min(event_time, boundary):
        if a.places[ix.RECORDING] >= ix.ON_GRID:  # rows between the ends of the step show them
            note_swapped(a)
        code = integrate(a, event_time, boundary)
        if code != 0:
            return code
    arrived = math.inf
    if a.clock[ix.TIME] > start:
        a.agenda[ix.TIME_ADVANCED] = BOTH_KINDS
        a.agenda[ix.FINISHED] = 0
        code = realized(a, ix.MOTION)
        arrived = arrived_break(a)
        if code == 0 and arrived <= 0.0 and a.places[ix.HALTS] != 0:
            a.agenda[ix.UPDATES_DONE] = ix.HALTED
            a.places[ix.STEPS_TAKEN] += 1
            return halt(a)
        if code == 0:
            code = remember_step(a)
        if code != 0:
            return code
    a.places[ix.STEPS_TAKEN] += 1
    watch_notices(a)
    if a.program[ix.IN_STEPS] != 0:
        code = end_step(a, PUBLISH_CAUSES)
        if code != 0:
            return code
    a.places[ix.ARRIVED] = 1 if arrived < float(a.program[ix.ORDER]) else 0
    return code


def go_past_arrival(a: Arrays) -> int:
    """What the end of the last step has left to be done; 0 or a code."""
    a.agenda[ix.UPDATES_DONE] = 0
    arrived = arrived_break(a)
    code = remember(a, BEFORE, math.inf)
    if code == 0 and arrived < math.inf:
        code = remember(a, AFTER_ARRIVAL, arrived)
    if code != 0:
        return code
    watch_notices(a)
    if a.program[ix.IN_STEPS] != 0:
        code = end_step(a, PUBLISH_CAUSES)
    if code == 0 and arrived < float(a.program[ix.ORDER]) and a.program[ix.CHEAP] == 0:
        code = realize(a, ix.MOTION)
        if code == 0:
            code = restart_integration(a)
    return code


def note_jump(a: Arrays) -> int:
    """What was written since the last step is a jump at this instant; it may make witnesses cross."""
    code = assemble(a)
    if code == 0:
        code = remember(a, AFTER_EVENT, 2.0)
    if code != 0:
        return code
    a.clock[ix.JUMPED] = 0.0
    if cross_by_jump(a) == 0:
        return 0
    return end_step(a, 1 << TRIGGERED)


def start_step(a: Arrays) -> int:
    """The updates that are due, and those that their signals cause; 0 or a code."""
    at = a.program[ix.DERIVATIVE]
    for m in range(a.y.shape[0]):
        a.scratch[at + m] = a.c[m]
    if can_hold(a):
        code = release(a)
        if code != 0:
            return code
    if a.program[ix.WITNESSES] > 0:
        keep(a, a.program[ix.STARTING], a.program[ix.STARTING_K])
    list_pending(a)
    if a.program[ix.CANDIDATES_WIDTH] > 0:
        begin_candidates(a)
    a.places[ix.CHANGED] = 0
    handled = a.places[ix.HANDLED]
    failed = updates(a, UPDATE_CAUSES)
    if failed == 0 and a.program[ix.SIGNALS] > 0:
        failed = take_signals(a)
    # where some have failed, what others have done before stays
    code = realized(a, ix.MOTION)
    if code == 0 and a.places[ix.CHANGED] != 0:
        code = follow_updates(a)
    elif code == 0 and a.places[ix.HANDLED] != handled:
        code = stay_on_guard(a)
    if code == 0 and a.places[ix.HANDLED] != handled:
        note_written(a)
    return failed if failed != 0 else code


def follow_arrivals(a: Arrays) -> int:
    """Witnesses that came to zero, and whose passage nothing says, may stay there: an event. 0 or a code."""
    if cross_at_rest(a) == 0:
        return 0
    code = end_step(a, 1 << TRIGGERED)
    if code == 0 and a.program[ix.IN_STEPS] != 0:
        code = start_step(a)
    return code


def follow_updates(a: Arrays) -> int:
    """Updates have changed the State, which is realized again; 0 or a code."""
    at = a.program[ix.DERIVATIVE]
    same = True
    for m in range(a.y.shape[0]):
        if different(a.scratch[at + m], a.c[m]):
            same = False
    code = remember(a, AFTER_EVENT, math.inf if same else 2.0)
    if code == 0:
        code = restart_integration(a)
    if code == 0 and a.places[ix.RECORDING] != ix.NO_ROWS:
        code = record_update(a)
    leave_out_pending(a)
    if code == 0 and can_hold(a):
        code = drop(a)
    if code == 0:
        code = turned(a, 1 if same else 0)
    return code


def end_step(a: Arrays, causes: int) -> int:
    """Publishes; 0 or a code."""
    code = publishes(a, causes) if has_kind(a, ix.PUBLISH) else 0
    if code == 0 and a.places[ix.SEVERITY] == FAILED_STATUS:
        return FAILED_HANDLER
    return code


def integrate(a: Arrays, event_time: float, boundary: float) -> int:
    """One step of the integrator toward an event or a boundary, ended by a witness that crosses."""
    begin_watch(a)
    start = a.clock[ix.TIME]
    fixed = a.settings[FIXED]
    stop = min(event_time, boundary)
    if fixed != 0.0 and a.y.shape[0] > 0 and start + fixed < boundary - SLIVER * fixed:
        stop = start + fixed if boundary < event_time else event_time
    if a.y.shape[0] == 0 and min(stop, a.settings[LARGEST]) == math.inf:
        return FAILED_STILL
    if held_count(a) > 0:
        code = realize_held(a)
        if code != 0:
            return code
    if a.program[ix.WITNESSES] > 0:
        stop = min(stop, next_expected(a))
        if fixed == 0.0:
            stop = min(stop, start + WITHIN_REACH * a.numbers[ix.SHORTEST_PULSE])
    code = step(a, stop)
    if code == 0 and a.program[ix.BETWEEN_FIRST] != a.program[ix.BETWEEN_LAST]:
        a.scratch[a.program[ix.REFINED_UNTIL]] = math.nan
        code = refine_step(a, 1)
    if code == 0:
        code = trigger(a, start)
    if code == 0 and a.program[ix.BETWEEN_FIRST] != a.program[ix.BETWEEN_LAST]:
        code = realize(a, ix.MOTION)
        if code == 0:
            code = refine_step(a, 0)  # where an event has made the step shorter
    return code


def evaluate(a: Arrays, t: float) -> int:
    """Everything that follows from the present state, at `t`, outputs included."""
    if t != a.clock[ix.TIME]:
        a.clock[ix.TIME] = t
        lower_stage(a, ix.INSTANCE)
    return realize(a, ix.REPORT)


def watch_notices(a: Arrays) -> None:
    """Tell when a slot that has a notice is no longer 0, once until it is 0 again."""
    for i in range(a.program[ix.NOTICES]):
        now = 1 if a.c[a.program[a.program[ix.NOTICES_AT] + i]] != 0.0 else 0
        if now > a.places[a.program[ix.TOLD] + i]:
            tell(a, NOTICE, i, 0.0)
        a.places[a.program[ix.TOLD] + i] = now


def finish(a: Arrays) -> int:
    """Termination, once for each end of a run; signals that its handlers raise stay set."""
    if a.agenda[ix.FINISHED] != 0:
        return REACHED
    a.agenda[ix.FINISHED] = 1
    begin_answers(a)
    code = realize(a, ix.MOTION)
    if code == 0:
        code = updates(a, 1 << TERMINATION_CAUSE)
    if code == 0:
        code = realize(a, ix.MOTION)
    if code == 0:
        code = publishes(a, 1 << TERMINATION_CAUSE)
    if code != 0:
        return code
    return FAILED_HANDLER if a.places[ix.SEVERITY] == FAILED_STATUS else REACHED
