"""What histories keep of a step between its ends, where a signal is not what the ends say.

A signal that the integrator does not integrate tells it nothing: steps grow as if it stood still. So the
histories of such signals (updates "between") are looked at when a step has ended: the signal is evaluated on
the dense output, and a point is added where the history is off, from left to right in parts of parts, until
it is off nowhere: from where the new point has changed a history it is looked at anew. A step that would need
too many points is taken again, shorter. Whether a point is needed its value tells; the derivative (forces and
accelerations, where a speed is delayed) is computed for those that are added.
"""

from __future__ import annotations

from typing import Any

from cosim.contracts.method_layout import ACCURACY, FIXED
from cosim.contracts.method_layout import START as STEP_START
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.evaluation import copy_cache, probed, walk_rows
from cosim.step.event_log import NOT_KNOWN_INSIDE, NOT_SMOOTH, tell
from cosim.step.histories import remember_inside
from cosim.step.realize import interpolate, realize, redo
from cosim.step.records import MOTION
from cosim.step.run import Run
from cosim.system.history_buffer import (
    ADDED,
    BEFORE,
    FULL,
    LOOKED,
    NO_VALUE,
    REFINED,
    entry_after,
    margin,
    piece_start,
)
from cosim.walker import walk

MOST = 100  # points that a step may add to a history; then it is taken again, shorter
ROOM = MOST + 180  # entries that a step can bring
SHORTENED = 60  # how often, at most
SHORTEST = 1e-9  # of a step: what is off in an interval that short jumps there
CLOSE = 0.25  # of the accuracy
FIRST_PART, SECOND_PART = 0.4829, 0.7919  # of an interval, where it is looked at: none has points there
FAILED = -1


def refine_step(run: Run, may_shorten: int) -> int:
    """Complete the histories of the step that was taken last, which may end sooner then; 0 or a code."""
    if run.passing.refined_until == run.clock.time:
        return 0
    shorter = may_shorten != 0 and (run.settings[FIXED] == 0.0 or run.y.shape[0] == 0)
    for _ in range(SHORTENED):
        start = run.work[STEP_START]
        if not start < run.clock.time:
            break
        code = remember_inside(run)
        if code != 0:
            return code
        added = refine(run, shorter)
        if added == FAILED:
            return CODE_BLOCK
        reached = run.passing.refined_until
        if reached >= run.clock.time:
            break
        code = redo(run, reached)
        if code == 0:
            code = realize(run, MOTION)
        if code != 0:
            return code
    run.passing.refined_until = run.clock.time
    return 0


def refine(run: Run, shorter: int) -> int:
    """Add points between the ends of the last step: how many, or FAILED.

    REFINED_UNTIL is how far the histories are good then: to the end of the step unless it may be shorter.
    """
    start = run.work[STEP_START]
    now = run.clock.time
    _, c = probed(run)
    copy_cache(run, run.c, c)
    c[run.plan.side] = BEFORE
    if walk_rows(run, run.plan.between_updates.first, run.plan.between_updates.last, now, run.y, c) != 0:
        return FAILED
    for source in run.smoothness:
        c[source.at] = CLOSE * run.settings[ACCURACY]
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now:
        high = next_entry(run, low, now)
        middle = low + FIRST_PART * (high - low)
        more = look_between(run, middle)
        if more == 0:
            middle = low + SECOND_PART * (high - low)
            more = look_between(run, middle)
        if more == FAILED:
            return FAILED
        added += more
        is_shortest = high - low <= shortest
        is_full = added > ROOM - 4
        if more > 0 and (is_full or (is_shortest and start < low and high < now)):
            tell_once(run, ADDED, NOT_SMOOTH)  # at its ends dense output may not quite meet the states
        if more == 0 or is_shortest or is_full:
            low = high
        elif shorter != 0 and added >= MOST and low > start:
            break
        else:
            low = max(start, changed_from(run, middle))
    run.passing.refined_until = low
    return added


def look_between(run: Run, t: float) -> int:
    """Look at what is remembered at a time inside the last step: 1 where a history needs it, 0, or FAILED."""
    interpolate(run, t, run.work)
    y, c = probed(run)
    more = compare(run, t, LOOKED, y, c)
    if more == 1:
        more = compare(run, t, REFINED, y, c)
    return more


def compare(run: Run, t: float, side: float, y: Any, c: Any) -> int:
    """Compare the histories with what they remember, at a time: 1 where one is off, 0, or FAILED."""
    first = run.plan.first_looked
    last = first + run.plan.looked_rows
    if side != LOOKED:
        first, last = last, run.plan.first_looked + len(run.looks)
    c[run.plan.side] = side
    status = walk(run.watched, run.ints, first, last, t, y, run.p, run.d, run.k, run.h, c)
    if status != 0:
        run.failure.block = run.looks[status - 1 - run.plan.first_looked]
        return FAILED
    more = 0
    for i in range(len(run.rings)):
        flags = run.rings[i] + FULL
        run.history_flags[i] = run.k[flags]
        if run.k[flags] & ADDED != 0:
            more = 1
        run.k[flags] = 0
    tell_once(run, NO_VALUE, NOT_KNOWN_INSIDE)
    return more


def next_entry(run: Run, t: float, now: float) -> float:
    """The first time after `t` of which a history knows something: `now` at the latest."""
    time = now
    for i in range(len(run.rings)):
        time = min(time, entry_after(run.h, run.ring(i), t))
    return time


def changed_from(run: Run, t: float) -> float:
    """Since when histories say something else because points were added to them at `t`.

    Each history has points of its own: what lies before a new one has been looked at for the sake of other
    histories, when this one still was another polynomial there.
    """
    since = t
    for i in range(len(run.rings)):
        if run.history_flags[i] & ADDED != 0:
            since = min(since, piece_start(run.h, run.ring(i), t))
    return since


def tell_once(run: Run, flag: int, kind: int) -> None:
    """A finding about each history in which this was noticed, once in a run."""
    for i in range(len(run.rings)):
        if run.history_flags[i] & flag != 0 and run.reported_histories[i] & flag == 0:
            run.reported_histories[i] |= flag
            tell(run, kind, i, 0.0)
