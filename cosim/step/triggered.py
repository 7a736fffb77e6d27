"""Witnesses that trigger: what follows of it, and of what their handlers have done."""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_HOLD
from cosim.step.event_log import CHATTERING, ZENO, tell
from cosim.step.holds import (
    can_hold,
    drop_moved,
    hold,
    is_endless,
    is_held,
    is_pushed,
    note_push,
)
from cosim.step.updates import TRIGGERED
from cosim.step.watched import (
    LEAVING,
    RATE_SPACING,
    REPORTED,
    direction_of,
    is_condition,
    is_moved,
    level,
    look,
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
        a.witnesses[i].expected = math.inf


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
    flown = since * abs(a.witnesses[i].rate)
    if not is_near(a, i, flown / LOST, 0.0, largest_state(a)):
        return False
    measure_rounding(a)
    return flown <= LOST * rounding(a, i)


def fire(a: Arrays, near_by: float) -> None:
    """Witnesses have crossed: handlers that wait for them are pending, repetitions are counted.

    An event within `near_by` of the last one, s, repeats it, as does one behind a flight lost in rounding.
    RATES_NOW has the rates of the witnesses (`look`).
    """
    now = a.clock[ix.TIME]
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        witness.rate = a.scratch[a.program[ix.RATES_NOW] + i]
        if a.places[a.program[ix.CROSSED] + i] != 0:
            witness.expected = math.inf
            since = now - witness.fired
            near = since <= near_by or is_lost(a, i, since)
            witness.repeats = witness.repeats + 1.0 if near else 0.0
            witness.fired = now
    for handler in a.handlers:
        waits = handler.cause == TRIGGERED and handler.flag >= 0
        if waits and a.places[a.program[ix.CROSSED] + handler.flag] != 0:
            a.next_index[handler.number] = 1


def jumps(a: Arrays) -> bool:
    """Which witnesses crossed because the state was written to since the last step, into CROSSED."""
    found = False
    measured = False
    forget_expected(a)
    drop_moved(a)
    largest = largest_state(a)
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        before = witness.value
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
        guard = witness.guard
        if witness.band >= 0.0 and witness.level == 0.0:
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
            witness.level = 0.0
            witness.band = noise
            witness.guard = 0.0 if falls or rises else set_guard(a, i)
        else:
            witness.band = NOT_AT_ZERO
        a.places[a.program[ix.CROSSED] + i] = 1 if falls or rises else 0
        found = found or falls or rises
    if found:
        note_located(a, a.clock[ix.TIME], 0)
    return found


def cross_at_rest(a: Arrays) -> int:
    """Fire the witnesses that have come to zero and do not pass it; whether there are some."""
    if fire_arrivals(a) == 0:
        return 0
    note_located(a, a.clock[ix.TIME], 0)
    fire(a, 0.0)
    return 1


def cross_by_jump(a: Arrays) -> int:
    """Fire the witnesses that crossed because a variable was written; whether there are some."""
    if not jumps(a):
        return 0
    look(a, RATE_SPACING)
    fire(a, 0.0)
    return 1


def list_pending(a: Arrays) -> None:
    """Before updates: those that a witness has triggered, into WAITING; their witnesses, into FIRED_BY."""
    a.places[a.program[ix.WAS_PUSHED]] = 0
    for i in range(a.program[ix.WITNESSES]):
        a.places[a.program[ix.FIRED_BY] + i] = 0
        a.scratch[a.program[ix.BEFORE] + i] = value(a, i)
    for handler in a.handlers:
        updating = handler.cause == TRIGGERED and handler.does != ix.PUBLISH
        a.places[a.program[ix.WAITING] + handler.number] = 0
        if updating and a.next_index[handler.number] != 0:
            a.places[a.program[ix.WAITING] + handler.number] = 1
            a.places[a.program[ix.FIRED_BY] + handler.flag] = 1
    for i in range(a.program[ix.WITNESSES]):
        if a.places[a.program[ix.FIRED_BY] + i] == 0:
            a.places[a.program[ix.WAS_SET] + i] = 0


def leave_out_pending(a: Arrays) -> None:
    """Leave in FIRED_BY those witnesses of which an update has run: where one has failed it still waits."""
    for i in range(a.program[ix.WITNESSES]):
        a.places[a.program[ix.FIRED_BY] + i] = 0
    for handler in a.handlers:
        waited = a.places[a.program[ix.WAITING] + handler.number] != 0
        if waited and a.next_index[handler.number] == 0:
            a.places[a.program[ix.FIRED_BY] + handler.flag] = 1


def turned(a: Arrays, moves_on: int) -> int:
    """Handlers of the witnesses in FIRED_BY have run; STARTING has the state before. 0 or a code.

    With `moves_on` the derivatives are the same as before.
    """
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
        witness = a.witnesses[i]
        same = value(a, i) == witness.value
        same = same and a.scratch[a.program[ix.RATES_NOW] + i] == witness.rate
        if not (some and same):
            witness.expected = math.inf
    for i in range(a.program[ix.WITNESSES]):
        if a.places[a.program[ix.FIRED_BY] + i] == 0:
            continue
        witness = a.witnesses[i]
        rate = witness.rate
        now = value(a, i)
        rate_now = a.scratch[a.program[ix.RATES_NOW] + i]
        if witness.repeats == LEAVING:
            witness.level = now
            witness.guard = 0.0
            witness.band = 0.0
            witness.fired = -math.inf
            witness.repeats = 0.0
            continue
        side = 1.0 if rate < 0.0 else -1.0  # where it came from
        stops = abs(rate_now) <= STOPPED * abs(rate)
        is_turned = (stops or rate * rate_now <= 0.0) and rate != 0.0
        was_set = a.places[a.program[ix.WAS_SET] + i] != 0
        guard = witness.guard
        on_its_way = abs(guard) == 1.0 and (rate_now * guard > 0.0 or (moves_on != 0 and rate_now == 0.0))
        if on_its_way or (abs(guard) == 1.0 and (moved or was_set)):
            # it has not come out since it was turned last: rates this small may have any sign
            side = guard
            is_turned = True
        noise = -1.0
        if stops or witness.band >= 0.0 or now != witness.value:
            if largest < 0.0:
                largest = largest_state(a)
            if stops or is_near(a, i, now, witness.value, largest):
                if not measured:
                    measure_rounding(a)
                    measured = True
                noise = rounding(a, i)
        is_zero = abs(now) <= noise
        is_turned = is_turned and (now * side <= 0.0 or is_zero)
        near = is_zero or abs(now) <= 2.0 * abs(witness.value)
        # what is stopped by a switch, or by what was due at this instant anyhow, has not been turned
        one_way = was_set or (pushed if stops else moved or direction_of(a, i) != ix.BOTH or on_its_way)
        guarded = is_turned and near and one_way and not is_condition(a, i)
        # stopped by a switch: it lies on its zero, and has passed it
        rests = guarded or (stops and near and rate != 0.0 and not is_condition(a, i))
        # leaving what another handler has set there is an event as ever
        is_set = is_zero and a.places[a.program[ix.WAS_SET] + i] == SET_BY_ANOTHER
        witness.level = now if rests and not (is_zero and (stops or is_set)) else 0.0
        witness.guard = side if guarded else side * PASSED if rests and not is_zero else 0.0
        if is_set:
            witness.guard = set_guard(a, i)
        # what flies off comes back exactly: with a band, flights as low as that would gain from falling below
        exact = rests and not stops and not is_set
        witness.band = EXACT if exact else noise if rests or is_zero else NOT_AT_ZERO
        if can_hold(a):
            # where rounding has decided about the event, its push may point the wrong way
            note_push(a, i, 1.0 if (rate_now - rate) * side >= 0.0 else -1.0)
        if not is_endless(a, i):
            continue
        tell(a, ZENO if is_pushed(a, i, moves_on) else CHATTERING, i, 0.0)
        if a.program[ix.POLICY] == ix.STOP_AT:
            a.places[ix.WITNESS] = i
            return FAILED_HOLD
        if not can_hold(a):
            witness.repeats = REPORTED
            continue
        code = hold(a, i, side, moves_on)
        if code != 0:
            return code
    return 0


def has_fired_on_guard(a: Arrays, i: int) -> bool:
    """Whether handlers have run of a witness that is on guard where it was turned round."""
    fired = a.places[a.program[ix.FIRED_BY] + i] != 0
    return fired and abs(a.witnesses[i].guard) == 1.0 and not is_condition(a, i)


def stay_on_guard(a: Arrays) -> int:
    """Handlers of witnesses have run and have changed nothing; 0 or a code.

    One that was turned round, has not come out since and does not go back has not passed: rounding let it
    come to where it was turned, and a handler that asks which way it goes was right to do nothing.
    """
    leave_out_pending(a)
    asks = False
    for i in range(a.program[ix.WITNESSES]):
        asks = asks or has_fired_on_guard(a, i)
    if not asks:
        return 0
    look(a, RATE_SPACING)
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        guard = witness.guard
        if not has_fired_on_guard(a, i) or not a.scratch[a.program[ix.RATES_NOW] + i] * guard >= 0.0:
            continue
        witness.level = value(a, i)
        witness.band = EXACT
        if can_hold(a) and is_endless(a, i) and is_pushed(a, i, 1):
            tell(a, ZENO, i, 0.0)
            code = hold(a, i, guard, 1)
            if code != 0:
                return code
    return 0
