"""What histories keep of a step between its ends, where a signal is not what the ends say.

A signal that the integrator does not integrate tells it nothing: steps grow as if it stood still. So the
histories of such signals (updates "between") are looked at when a step has ended: the signal is evaluated on
the dense output, and a point is added where the history is off, from left to right in parts of parts, until
it is off nowhere: from where the new point has changed a history it is looked at anew. A step that would need
too many points is taken again, shorter. Whether a point is needed its value tells; the derivative (forces and
accelerations, where a speed is delayed) is computed for those that are added.
"""

from __future__ import annotations

from cosim.step.evaluation import copy_cache, probed, walk_rows
from cosim.step.event_log import NOT_KNOWN_INSIDE, NOT_SMOOTH, report_finding
from cosim.step.failures import BlockFailed
from cosim.step.histories import remember_inside
from cosim.step.integration import interpolate, redo
from cosim.step.realize import realize
from cosim.step.records import MOTION
from cosim.step.run import Reals, Run
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


def refine_step(run: Run, may_shorten: bool) -> None:
    """Complete the histories of the step that was taken last, which may end sooner then."""
    if run.passing.refined_until == run.clock.time:
        return
    shorter = may_shorten and (run.method_settings.fixed_step == 0.0 or run.y.shape[0] == 0)
    for _ in range(SHORTENED):
        if not run.last_step.start < run.clock.time:
            break
        remember_inside(run)
        reached = refine(run, shorter)
        if reached >= run.clock.time:
            break
        redo(run, reached)
        realize(run, MOTION)
    run.passing.refined_until = run.clock.time


def refine(run: Run, shorter: bool) -> float:
    """Add points between the ends of the last step; how far the histories are good then.

    That is the end of the step unless it may be `shorter`.
    """
    start = run.last_step.start
    now = run.clock.time
    _, c = probed(run)
    copy_cache(run, run.c, c)
    c[run.plan.side] = BEFORE
    walk_rows(run, run.plan.between_updates.first, run.plan.between_updates.last, now, run.y, c)
    for source in run.smoothness:
        c[source.at] = CLOSE * run.method_settings.accuracy
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now:
        high = next_entry(run, low, now)
        middle = low + FIRST_PART * (high - low)
        needs_point = look_between(run, middle)
        if not needs_point:
            middle = low + SECOND_PART * (high - low)
            needs_point = look_between(run, middle)
        added += 1 if needs_point else 0
        is_shortest = high - low <= shortest
        is_full = added > ROOM - 4
        if needs_point and (is_full or (is_shortest and start < low and high < now)):
            report_once(run, ADDED, NOT_SMOOTH)  # at its ends dense output may not quite meet the states
        if not needs_point or is_shortest or is_full:
            low = high
        elif shorter and added >= MOST and low > start:
            break
        else:
            low = max(start, changed_from(run, middle))
    return low


def look_between(run: Run, t: float) -> bool:
    """Look at what is remembered at a time inside the last step; whether a history needs a point there."""
    interpolate(run, t, run.work)
    y, c = probed(run)
    return compare(run, t, LOOKED, y, c) and compare(run, t, REFINED, y, c)


def compare(run: Run, t: float, side: float, y: Reals, c: Reals) -> bool:
    """Compare the histories with what they remember, at a time; whether one is off."""
    first = run.plan.first_looked
    last = first + run.plan.looked_rows
    if side != LOOKED:
        first, last = last, run.plan.first_looked + len(run.looks)
    c[run.plan.side] = side
    status = walk(run.watched, run.ints, first, last, t, y, run.p, run.d, run.k, run.h, c)
    if status != 0:
        run.failure.block = run.looks[status - 1 - run.plan.first_looked]
        raise BlockFailed()
    is_off = False
    for number in range(len(run.rings)):
        ring = run.ring(number)
        run.history_flags[number] = ring[FULL]
        is_off = is_off or ring[FULL] & ADDED != 0
        ring[FULL] = 0
    report_once(run, NO_VALUE, NOT_KNOWN_INSIDE)
    return is_off


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


def report_once(run: Run, flag: int, kind: int) -> None:
    """A finding about each history in which this was noticed, once in a run."""
    for i in range(len(run.rings)):
        if run.history_flags[i] & flag != 0 and run.reported_histories[i] & flag == 0:
            run.reported_histories[i] |= flag
            report_finding(run, kind, i, 0.0)
