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
from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.evaluation import copy_cache, probed, walk_rows
from cosim.step.event_log import NOT_KNOWN_INSIDE, NOT_SMOOTH, tell
from cosim.step.histories import remember_inside
from cosim.step.realize import interpolate, realize, redo
from cosim.system.history_buffer import (
    ADDED,
    BEFORE,
    FULL,
    LOOKED,
    NO_VALUE,
    REFINED,
    RING,
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


def refine_step(a: Arrays, may_shorten: int) -> int:
    """Complete the histories of the step that was taken last, which may end sooner then; 0 or a code."""
    if a.scratch[a.program[ix.REFINED_UNTIL]] == a.clock[ix.TIME]:
        return 0
    shorter = may_shorten != 0 and (a.settings[FIXED] == 0.0 or a.y.shape[0] == 0)
    for _ in range(SHORTENED):
        start = a.work[STEP_START]
        if not start < a.clock[ix.TIME]:
            break
        code = remember_inside(a)
        if code != 0:
            return code
        added = refine(a, shorter)
        if added == FAILED:
            return CODE_BLOCK
        reached = a.scratch[a.program[ix.REFINED_UNTIL]]
        if reached >= a.clock[ix.TIME]:
            break
        code = redo(a, reached)
        if code == 0:
            code = realize(a, ix.MOTION)
        if code != 0:
            return code
    a.scratch[a.program[ix.REFINED_UNTIL]] = a.clock[ix.TIME]
    return 0


def refine(a: Arrays, shorter: int) -> int:
    """Add points between the ends of the last step: how many, or FAILED.

    REFINED_UNTIL is how far the histories are good then: to the end of the step unless it may be shorter.
    """
    start = a.work[STEP_START]
    now = a.clock[ix.TIME]
    _, c = probed(a)
    copy_cache(a, a.c, c)
    c[a.program[ix.SIDE]] = BEFORE
    if walk_rows(a, a.program[ix.BETWEEN_FIRST], a.program[ix.BETWEEN_LAST], now, a.y, c) != 0:
        return FAILED
    at = a.program[ix.SMOOTHNESS_AT]
    for i in range(a.program[ix.SMOOTHNESS]):
        c[a.program[at + ix.SMOOTHNESS_WIDTH * i + ix.SMOOTHNESS_OF]] = CLOSE * a.settings[ACCURACY]
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now:
        high = next_entry(a, low, now)
        middle = low + FIRST_PART * (high - low)
        more = look_between(a, middle)
        if more == 0:
            middle = low + SECOND_PART * (high - low)
            more = look_between(a, middle)
        if more == FAILED:
            return FAILED
        added += more
        is_shortest = high - low <= shortest
        is_full = added > ROOM - 4
        if more > 0 and (is_full or (is_shortest and start < low and high < now)):
            tell_once(a, ADDED, NOT_SMOOTH)  # at its ends dense output may not quite meet the states
        if more == 0 or is_shortest or is_full:
            low = high
        elif shorter != 0 and added >= MOST and low > start:
            break
        else:
            low = max(start, changed_from(a, middle))
    a.scratch[a.program[ix.REFINED_UNTIL]] = low
    return added


def look_between(a: Arrays, t: float) -> int:
    """Look at what is remembered at a time inside the last step: 1 where a history needs it, 0, or FAILED."""
    interpolate(a, t, a.work)
    y, c = probed(a)
    more = compare(a, t, LOOKED, y, c)
    if more == 1:
        more = compare(a, t, REFINED, y, c)
    return more


def compare(a: Arrays, t: float, side: float, y: Any, c: Any) -> int:
    """Compare the histories with what they remember, at a time: 1 where one is off, 0, or FAILED."""
    at = a.program[ix.BETWEEN_AT]
    listed = a.program[at + ix.BETWEEN_ROWS]
    first = listed
    last = first + a.program[at + ix.LOOKED_ROWS]
    if side != LOOKED:
        first, last = last, listed + a.program[ix.BETWEEN] - 1
    c[a.program[ix.SIDE]] = side
    status = walk(a.watched, a.ints, first, last, t, y, a.p, a.d, a.k, a.h, c)
    if status != 0:
        a.places[ix.BLOCK] = a.program[at + ix.BETWEEN_WIDTH * (status - listed)]
        return FAILED
    more = 0
    for i in range(a.program[ix.RINGS]):
        flags = a.program[a.program[ix.RINGS_AT] + i] + FULL
        a.places[a.program[ix.ASKED] + i] = a.k[flags]
        if a.k[flags] & ADDED != 0:
            more = 1
        a.k[flags] = 0
    tell_once(a, NO_VALUE, NOT_KNOWN_INSIDE)
    return more


def next_entry(a: Arrays, t: float, now: float) -> float:
    """The first time after `t` of which a history knows something: `now` at the latest."""
    time = now
    for i in range(a.program[ix.RINGS]):
        at = a.program[a.program[ix.RINGS_AT] + i]
        time = min(time, entry_after(a.h, a.k[at : at + RING], t))
    return time


def changed_from(a: Arrays, t: float) -> float:
    """Since when histories say something else because points were added to them at `t`.

    Each history has points of its own: what lies before a new one has been looked at for the sake of other
    histories, when this one still was another polynomial there.
    """
    since = t
    for i in range(a.program[ix.RINGS]):
        if a.places[a.program[ix.ASKED] + i] & ADDED != 0:
            at = a.program[a.program[ix.RINGS_AT] + i]
            since = min(since, piece_start(a.h, a.k[at : at + RING], t))
    return since


def tell_once(a: Arrays, flag: int, kind: int) -> None:
    """A finding about each history in which this was noticed, once in a run."""
    for i in range(a.program[ix.RINGS]):
        told = a.program[ix.TOLD_OF_RINGS] + i
        if a.places[a.program[ix.ASKED] + i] & flag != 0 and a.places[told] & flag == 0:
            a.places[told] |= flag
            tell(a, kind, i, 0.0)
