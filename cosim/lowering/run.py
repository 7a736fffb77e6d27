"""A run: its beginning, its steps, its end; as `cosim.simulation.stepping`."""

from __future__ import annotations

import math

from cosim.integration.layout import FIXED, LARGEST, SETTINGS_HEADER
from cosim.lowering.agenda import (
    check_timers,
    follow_parameters,
    next_event_time,
    schedule_periods,
    start_agenda,
)
from cosim.lowering.arrays import part
from cosim.lowering.codes import (
    FAILED_CRAWL,
    FAILED_HANDLER,
    FAILED_PAST,
    FAILED_PERIOD,
    FAILED_STILL,
    REACHED,
    STEPPED,
    TERMINATED,
)
from cosim.lowering.copies import different, keep
from cosim.lowering.histories import arrived_break, make_room, next_kink, remember, remember_step
from cosim.lowering.holds import (
    begin_candidates,
    can_hold,
    drop,
    forget_holds,
    held_count,
    realize_held,
    release,
)
from cosim.lowering.layout import (
    CHANGED,
    CHEAP,
    COMPLETED,
    DERIVATIVE,
    FASTEST,
    FINISHED,
    HAS_SCHEDULE,
    IN_STEPS,
    INITIALIZED,
    INSTANCE,
    JUMPED,
    MOTION,
    NEXT_EVENT,
    NOTHING,
    ORDER,
    REPORT,
    SEVERITY,
    SOURCE,
    STAGE,
    STARTING,
    STARTING_K,
    STATES_CHANGED,
    TIME,
    TIME_ADVANCED,
    UPDATES_DONE,
    WITNESSES,
)
from cosim.lowering.realize import (
    assemble,
    begin_integration,
    realize,
    restart_integration,
    step,
)
from cosim.lowering.updates import (
    FAILED_STATUS,
    FIRST_PUBLISHES,
    INITIALIZATION_CAUSE,
    PUBLISH_CAUSES,
    REACHED_TERMINATION,
    TERMINATION_CAUSE,
    TRIGGERED,
    UPDATE_CAUSES,
    publishes,
    take_signals,
    updates,
)
from cosim.lowering.witnesses import (
    begin_watch,
    fire,
    jumps,
    list_pending,
    next_expected,
    start_witnesses,
    trigger,
    turned,
)
from cosim.simulation.continuous_phase import SLIVER
from cosim.system.history_buffer import AFTER_EVENT, BEFORE, margin

BOTH_KINDS = 3  # of updates that wait for time to advance
LOOKED_AFTER = 100_000  # steps; then it is asked
MOST_STEPS = 1e10  # whether it would take more than that to the end


def note_next_event(a):
    """When the next scheduled event or kink comes, into `clock`; 0 or a code."""
    time = next_event_time(a)
    if time != time:
        return FAILED_PERIOD
    kink = next_kink(a)
    if a.clock[TIME] + margin(a.clock[TIME]) < kink < time:
        time = kink
    a.clock[NEXT_EVENT] = time
    return 0


def begin_answers(a):
    """Forget the answers of handlers."""
    a.places[SEVERITY] = 0
    a.places[SOURCE] = -1


def initialize(a, t):
    """The 0th step, at `t`."""
    a.clock[TIME] = t
    a.places[STAGE] = NOTHING
    begin_answers(a)
    for i in range(a.agenda.shape[0]):
        a.agenda[i] = 0
    forget_holds(a)
    code = make_room(a)
    if code == 0:
        code = start_agenda(a)
    if code == 0:
        code = assemble(a)
    if code == 0:
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
    a.clock[JUMPED] = 0.0
    code = start_witnesses(a)
    if code != 0:
        return code
    a.agenda[INITIALIZED] = 1
    a.agenda[TIME_ADVANCED] = BOTH_KINDS
    if a.places[SEVERITY] < REACHED_TERMINATION:
        code = end_step(a, (1 << INITIALIZATION_CAUSE) + FIRST_PUBLISHES)
    a.clock[COMPLETED] = t
    if code == 0:
        code = note_next_event(a)
    if code != 0:
        return code
    return TERMINATED if a.places[SEVERITY] >= REACHED_TERMINATION else REACHED


def advance(a, t):
    """Steps until `t`."""
    if not t >= a.clock[TIME]:
        return FAILED_PAST
    start = a.clock[TIME]
    steps = 0
    while True:
        code = advance_once(a, t)
        if code != STEPPED:
            return code
        steps += 1
        if steps % LOOKED_AFTER == 0 and (a.clock[TIME] - start) * MOST_STEPS < (t - start) * steps:
            a.places[FASTEST] = fastest_state(a)
            return FAILED_CRAWL


def fastest_state(a):
    """Index of the state whose rate is the largest for its size, in absolute tolerances at least."""
    n = a.y.shape[0]
    found = -1
    largest = 0.0
    for m in range(n):
        rate = abs(a.c[m]) / max(abs(a.y[m]), a.settings[SETTINGS_HEADER + n + m])
        if rate > largest:
            largest = rate
            found = m
    return found


def advance_once(a, t):
    """One step toward `t`: STEPPED, or REACHED when that is where it ended."""
    if not t >= a.clock[TIME]:
        return FAILED_PAST
    code = make_room(a)
    if code != 0:
        return code
    begin_answers(a)
    code = one_step(a, t)
    a.clock[STATES_CHANGED] = float(a.places[CHANGED])
    if code != 0:
        return code
    if a.places[SEVERITY] >= REACHED_TERMINATION:
        code = finish(a)
        return code if code > TERMINATED else TERMINATED
    return REACHED if a.clock[TIME] >= t else STEPPED


@part("Af>i")
def one_step(a, boundary):
    """Updates at the start, integration no further than `boundary`, publishes at the end; 0 or a code."""
    a.places[CHANGED] = 0
    code = follow_parameters(a)
    if code == 0:
        code = check_timers(a)
    if code == 0:
        code = realize(a, MOTION)
    if code != 0:
        return code
    if a.clock[JUMPED] != 0.0 or a.agenda[UPDATES_DONE] == 0:
        if a.clock[JUMPED] != 0.0:
            code = note_jump(a)
        if code == 0 and a.program[IN_STEPS] != 0:
            code = start_step(a)
            if code == 0 and a.places[SEVERITY] >= REACHED_TERMINATION:
                a.agenda[UPDATES_DONE] = 1
                return 0
        if code != 0:
            return code
    a.agenda[UPDATES_DONE] = 0
    start = a.clock[TIME]
    code = follow_parameters(a)
    if code == 0:
        code = check_timers(a)
    if code != 0:
        return code
    event_time = next_event_time(a)
    if event_time != event_time:
        return FAILED_PERIOD
    if a.program[HAS_SCHEDULE] == 0:
        event_time = boundary
    kink = next_kink(a)
    if start < kink < min(event_time, boundary) - margin(start):
        event_time = kink
    if start < min(event_time, boundary):
        code = integrate(a, event_time, boundary)
        if code != 0:
            return code
    arrived = math.inf
    if a.clock[TIME] > start:
        a.agenda[TIME_ADVANCED] = BOTH_KINDS
        a.agenda[FINISHED] = 0
        code = realize(a, MOTION)
        arrived = arrived_break(a)
        if code == 0:
            code = remember_step(a)
        if code != 0:
            return code
    if a.program[IN_STEPS] != 0:
        code = end_step(a, PUBLISH_CAUSES)
        if code != 0:
            return code
    if arrived < float(a.program[ORDER]) and a.program[CHEAP] == 0:
        code = realize(a, MOTION)
        if code == 0:
            code = restart_integration(a)
    return code


@part("A>i")
def note_jump(a):
    """What was written since the last step is a jump at this instant; it may make witnesses cross."""
    code = assemble(a)
    if code == 0:
        code = remember(a, AFTER_EVENT, 2.0)
    if code != 0:
        return code
    a.clock[JUMPED] = 0.0
    if a.program[WITNESSES] == 0 or not jumps(a):
        return 0
    fire(a, 0.0)
    return end_step(a, 1 << TRIGGERED)


@part("A>i")
def start_step(a):
    """The updates that are due, and those that their signals cause; 0 or a code."""
    at = a.program[DERIVATIVE]
    for m in range(a.y.shape[0]):
        a.scratch[at + m] = a.c[m]
    if can_hold(a):
        code = release(a)
        if code != 0:
            return code
    keep(a, a.program[STARTING], a.program[STARTING_K])
    list_pending(a)
    if can_hold(a):
        begin_candidates(a)
    a.places[CHANGED] = 0
    code = updates(a, UPDATE_CAUSES)
    if code == 0:
        code = take_signals(a)
    if code == 0:
        code = realize(a, MOTION)
    if code != 0 or a.places[CHANGED] == 0:
        return code
    same = True
    for m in range(a.y.shape[0]):
        if different(a.scratch[at + m], a.c[m]):
            same = False
    code = remember(a, AFTER_EVENT, math.inf if same else 2.0)
    if code == 0:
        code = restart_integration(a)
    if code == 0 and can_hold(a):
        code = drop(a)
    if code == 0:
        code = turned(a)
    return code


@part("Ai>i")
def end_step(a, causes):
    """Publishes; 0 or a code."""
    code = publishes(a, causes)
    if code == 0 and a.places[SEVERITY] == FAILED_STATUS:
        return FAILED_HANDLER
    return code


def integrate(a, event_time, boundary):
    """One step of the integrator toward an event or a boundary, ended by a witness that crosses."""
    begin_watch(a)
    start = a.clock[TIME]
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
    code = step(a, min(stop, next_expected(a)))
    return trigger(a, start) if code == 0 else code


def evaluate(a, t):
    """Everything that follows from the present state, at `t`, outputs included."""
    if t != a.clock[TIME]:
        a.clock[TIME] = t
        a.places[STAGE] = min(a.places[STAGE], INSTANCE)
    return realize(a, REPORT)


@part("A>i")
def finish(a):
    """Termination, once for each end of a run; signals that its handlers raise stay set."""
    if a.agenda[FINISHED] != 0:
        return REACHED
    a.agenda[FINISHED] = 1
    begin_answers(a)
    code = realize(a, MOTION)
    if code == 0:
        code = updates(a, 1 << TERMINATION_CAUSE)
    if code == 0:
        code = realize(a, MOTION)
    if code == 0:
        code = publishes(a, 1 << TERMINATION_CAUSE)
    if code != 0:
        return code
    return FAILED_HANDLER if a.places[SEVERITY] == FAILED_STATUS else REACHED
