"""Witnesses that trigger: what follows of it, and of what their handlers have done."""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.agenda import row_of
from cosim.step.arrays import Arrays, part
from cosim.step.codes import FAILED_HOLD
from cosim.step.event_log import CHATTERING, ZENO, tell
from cosim.step.holds import can_hold, drop_moved, hold, is_held, pushes_it
from cosim.step.updates import TRIGGERED
from cosim.step.watched import (
    LEAVING,
    MOST_REPEATS,
    RATE_SPACING,
    direction_of,
    is_condition,
    is_moved,
    level,
    look,
    memory_of,
    value,
)
from cosim.step.zeros import (
    EITHER,
    EXACT,
    NOT_AT_ZERO,
    PASSED,
    SET_BY_ANOTHER,
    STOPPED,
    fire_arrivals,
    forget_level,
    is_near,
    is_out,
    largest_state,
    measure_rounding,
    rounding,
    set_guard,
)

LOST = 4.0  # of the rounding: a flight is a quarter as high as its time times the speed at its end


def forget_expected(a: Arrays) -> None:
    """Nothing that was foreseen can be relied on any more."""
    for i in range(a.program[ix.WITNESSES]):
        a.clock[memory_of(a, i) + ix.EXPECTED] = math.inf


@part("Afi>v")
def note_located(a: Arrays, start: float, is_isolated: int) -> None:
    """For the records of events: the window that ends now, and the witnesses at both of its ends."""
    a.scratch[a.program[ix.WINDOW] + ix.WINDOW_START] = start
    a.scratch[a.program[ix.WINDOW] + ix.WINDOW_END] = a.clock[ix.TIME]
    for i in range(a.program[ix.WITNESSES]):
        before = a.scratch[a.program[ix.BEFORE] + i]
        if is_isolated != 0:
            before = a.scratch[a.program[ix.LOW] + i] + level(a, i)
        a.scratch[a.program[ix.LOCATED_BEFORE] + i] = before
        a.scratch[a.program[ix.LOCATED_AFTER] + i] = value(a, i)


def is_lost(a: Arrays, i: int, since: float) -> bool:
    """Whether a witness was no further from zero than rounding since its last event: it is pressed there."""
    flown = since * abs(a.clock[memory_of(a, i) + ix.RATE])
    if not is_near(a, i, flown / LOST, 0.0, largest_state(a)):
        return False
    measure_rounding(a)
    return flown <= LOST * rounding(a, i)


@part("Af>v")
def fire(a: Arrays, near_by: float) -> None:
    """Witnesses have crossed: handlers that wait for them are pending, repetitions are counted.

    An event within `near_by` of the last one, s, repeats it, as does one behind a flight lost in rounding.
    """
    look(a, RATE_SPACING)
    now = a.clock[ix.TIME]
    for i in range(a.program[ix.WITNESSES]):
        at = memory_of(a, i)
        a.clock[at + ix.RATE] = a.scratch[a.program[ix.RATES_NOW] + i]
        if a.places[a.program[ix.CROSSED] + i] != 0:
            a.clock[at + ix.EXPECTED] = math.inf
            since = now - a.clock[at + ix.FIRED]
            near = since <= near_by or is_lost(a, i, since)
            a.clock[at + ix.REPEATS] = a.clock[at + ix.REPEATS] + 1.0 if near else 0.0
            a.clock[at + ix.FIRED] = now
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        witness = a.program[row + ix.FLAG]
        waits = a.program[row + ix.CAUSE] == TRIGGERED and witness >= 0
        if waits and a.places[a.program[ix.CROSSED] + witness] != 0:
            a.agenda[ix.FIRST_ENTRY + entry] = 1


def jumps(a: Arrays) -> bool:
    """Which witnesses crossed because the state was written to since the last step, into CROSSED."""
    found = False
    measured = False
    forget_expected(a)
    drop_moved(a)
    largest = largest_state(a)
    for i in range(a.program[ix.WITNESSES]):
        at = memory_of(a, i)
        before = a.clock[at + ix.VALUE]
        now = value(a, i)
        a.scratch[a.program[ix.BEFORE] + i] = before
        a.places[a.program[ix.CROSSED] + i] = 0
        if now == before or is_held(a, i):
            continue
        if is_out(a, i, before):
            forget_level(a, i)
        noise = -1.0
        if is_near(a, i, now, before, largest):
            if not measured:
                measure_rounding(a)
                measured = True
            noise = rounding(a, i)
        is_zero = abs(now) <= noise
        way = direction_of(a, i)
        guard = a.clock[at + ix.GUARD]
        if a.clock[at + ix.BAND] >= 0.0 and a.clock[at + ix.LEVEL] == 0.0:
            # written away from zero
            falls = guard > 0.0 and now < 0.0 and not is_zero
            rises = (guard < 0.0 or guard == EITHER) and now > 0.0 and not is_zero
        elif is_zero and is_moved(a, i):
            # written to zero: leaving it will be the event
            falls = False
            rises = False
        else:
            falls = way != ix.RISING and before > 0.0 and now <= 0.0
            rises = way != ix.FALLING and before < 0.0 and now >= 0.0
        if is_zero:
            a.clock[at + ix.LEVEL] = 0.0
            a.clock[at + ix.BAND] = noise
            a.clock[at + ix.GUARD] = 0.0 if falls or rises else set_guard(a, i)
        else:
            a.clock[at + ix.BAND] = NOT_AT_ZERO
        a.places[a.program[ix.CROSSED] + i] = 1 if falls or rises else 0
        found = found or falls or rises
    if found:
        note_located(a, a.clock[ix.TIME], 0)
    return found


@part("A>i", needed_for="witnesses")
def cross_at_rest(a: Arrays) -> int:
    """Fire the witnesses that have come to zero and do not pass it; whether there are some."""
    if fire_arrivals(a) == 0:
        return 0
    note_located(a, a.clock[ix.TIME], 0)
    fire(a, 0.0)
    return 1


@part("A>i", needed_for="witnesses")
def cross_by_jump(a: Arrays) -> int:
    """Fire the witnesses that crossed because a variable was written; whether there are some."""
    if not jumps(a):
        return 0
    fire(a, 0.0)
    return 1


def list_pending(a: Arrays) -> None:
    """Before updates: those that a witness has triggered, into WAITING; their witnesses, into FIRED_BY."""
    a.places[a.program[ix.WAS_PUSHED]] = 0
    for i in range(a.program[ix.WITNESSES]):
        a.places[a.program[ix.FIRED_BY] + i] = 0
        a.scratch[a.program[ix.BEFORE] + i] = value(a, i)
    for entry in range(a.program[ix.ENTRIES] if a.program[ix.WITNESSES] > 0 else 0):
        row = row_of(a, entry)
        updating = a.program[row + ix.CAUSE] == TRIGGERED and a.program[row + ix.DOES] != ix.PUBLISH
        a.places[a.program[ix.WAITING] + entry] = 0
        if updating and a.agenda[ix.FIRST_ENTRY + entry] != 0:
            a.places[a.program[ix.WAITING] + entry] = 1
            a.places[a.program[ix.FIRED_BY] + a.program[row + ix.FLAG]] = 1
    for i in range(a.program[ix.WITNESSES]):
        if a.places[a.program[ix.FIRED_BY] + i] == 0:
            a.places[a.program[ix.WAS_SET] + i] = 0


def leave_out_pending(a: Arrays) -> None:
    """Leave in FIRED_BY those witnesses of which an update has run: where one has failed it still waits."""
    for i in range(a.program[ix.WITNESSES]):
        a.places[a.program[ix.FIRED_BY] + i] = 0
    for entry in range(a.program[ix.ENTRIES] if a.program[ix.WITNESSES] > 0 else 0):
        if a.places[a.program[ix.WAITING] + entry] != 0 and a.agenda[ix.FIRST_ENTRY + entry] == 0:
            a.places[a.program[ix.FIRED_BY] + a.program[row_of(a, entry) + ix.FLAG]] = 1


@part("A>i", needed_for="witnesses")
def turned(a: Arrays) -> int:
    """Handlers of the witnesses in FIRED_BY have run; STARTING has the state before. 0 or a code."""
    if a.program[ix.WITNESSES] == 0:
        return 0
    look(a, RATE_SPACING)
    pushed = a.places[a.program[ix.WAS_PUSHED]] != 0
    moved = False
    for m in range(a.y.shape[0]):
        moved = moved or a.scratch[a.program[ix.STARTING] + m] != a.y[m]
    some = False
    measured = False
    largest = -1.0
    for i in range(a.program[ix.WITNESSES]):
        some = some or a.places[a.program[ix.FIRED_BY] + i] != 0
    for i in range(a.program[ix.WITNESSES]):
        at = memory_of(a, i)
        same = value(a, i) == a.clock[at + ix.VALUE]
        same = same and a.scratch[a.program[ix.RATES_NOW] + i] == a.clock[at + ix.RATE]
        if not (some and same):
            a.clock[at + ix.EXPECTED] = math.inf
    for i in range(a.program[ix.WITNESSES]):
        if a.places[a.program[ix.FIRED_BY] + i] == 0:
            continue
        at = memory_of(a, i)
        rate = a.clock[at + ix.RATE]
        now = value(a, i)
        rate_now = a.scratch[a.program[ix.RATES_NOW] + i]
        if a.clock[at + ix.REPEATS] == LEAVING:
            a.clock[at + ix.LEVEL] = now
            a.clock[at + ix.GUARD] = 0.0
            a.clock[at + ix.BAND] = 0.0
            a.clock[at + ix.FIRED] = -math.inf
            a.clock[at + ix.REPEATS] = 0.0
            continue
        side = 1.0 if rate < 0.0 else -1.0  # where it came from
        stops = abs(rate_now) <= STOPPED * abs(rate)
        is_turned = (stops or rate * rate_now <= 0.0) and rate != 0.0
        was_set = a.places[a.program[ix.WAS_SET] + i] != 0
        guard = a.clock[at + ix.GUARD]
        on_its_way = abs(guard) == 1.0 and rate_now * guard > 0.0
        if on_its_way or (abs(guard) == 1.0 and (moved or was_set)):
            # it has not come out since it was turned last: rates this small may have any sign
            side = guard
            is_turned = True
        noise = -1.0
        if stops or a.clock[at + ix.BAND] >= 0.0 or now != a.clock[at + ix.VALUE]:
            if largest < 0.0:
                largest = largest_state(a)
            if stops or is_near(a, i, now, a.clock[at + ix.VALUE], largest):
                if not measured:
                    measure_rounding(a)
                    measured = True
                noise = rounding(a, i)
        is_zero = abs(now) <= noise
        is_turned = is_turned and (now * side <= 0.0 or is_zero)
        near = is_zero or abs(now) <= 2.0 * abs(a.clock[at + ix.VALUE])
        # what is stopped by a switch, or by what was due at this instant anyhow, has not been turned
        one_way = was_set or (pushed if stops else moved or direction_of(a, i) != ix.BOTH or on_its_way)
        guarded = is_turned and near and one_way and not is_condition(a, i)
        # stopped by a switch: it lies on its zero, and has passed it
        rests = guarded or (stops and near and rate != 0.0 and not is_condition(a, i))
        # leaving what another handler has set there is an event as ever
        is_set = is_zero and a.places[a.program[ix.WAS_SET] + i] == SET_BY_ANOTHER
        a.clock[at + ix.LEVEL] = now if rests and not (is_zero and (stops or is_set)) else 0.0
        a.clock[at + ix.GUARD] = side if guarded else side * PASSED if rests and not is_zero else 0.0
        if is_set:
            a.clock[at + ix.GUARD] = set_guard(a, i)
        # what flies off comes back exactly: with a band, flights as low as that would gain from falling below
        exact = rests and not stops and not is_set
        a.clock[at + ix.BAND] = EXACT if exact else noise if rests or is_zero else NOT_AT_ZERO
        if a.clock[at + ix.REPEATS] == MOST_REPEATS:
            tell(a, ZENO if pushes_it(a, i) > 0.0 else CHATTERING, i, 0.0)
            if a.program[ix.POLICY] == ix.STOP_AT:
                a.places[ix.WITNESS] = i
                return FAILED_HOLD
        if a.clock[at + ix.REPEATS] == MOST_REPEATS and can_hold(a):
            # where rounding decided about the last event, its push may point the wrong way
            sign = 1.0 if (rate_now - rate) * side >= 0.0 else -1.0
            code = hold(a, i, side, sign)
            if code != 0:
                return code
    return 0
