"""Witnesses that lie at zero: how close to zero is rounding, and on which side they have to leave it.

A witness lies at zero while it is no further from its level than its band, and counts as exactly zero there.
The band of a witness is how far it moves when the states and the time that it is computed from are moved by
1e-14 to 2e-14 of themselves. Its guard says what leaving zero means:

======= ========================================================================================
0       nothing: the witness has come here by itself, and that was an event
1, -1   leaving downward, upward is an event: set there, or turned round there by its handlers
2       leaving either way is an event: set there, both directions trigger
3, -3   it has come from above, from below and has not passed: passing is an event, and so is staying or
        going back (`fire_arrivals`)
4, -4   nothing: it has come from above, from below, has passed, and was stopped just behind zero
======= ========================================================================================
"""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.evaluation import copy_cache, probed
from cosim.step.holds import TRIGGERED, is_held
from cosim.step.records import Handler
from cosim.step.watched import RATE_SPACING, direction_of, is_condition, is_timed, look, value
from cosim.walker import walk

NOT_AT_ZERO, EXACT = -1.0, 0.0  # in place of a band
EITHER = 2.0
ARRIVED = 3.0
PASSED = 4.0
MOVED_BY = 1e-14  # of states and of the time, up to twice that: far more than dense output rounds
TURNS = 3
NEAR = 1e-12  # of the largest number around: further away from zero nothing is measured
STOPPED = 1e-6  # of the rate before: slower is a stop
SET_BY_ANOTHER = -1  # in WAS_SET: by a handler that another event has called


def set_guard(a: Arrays, i: int) -> float:
    """The guard of a witness that was set to zero: its triggering side."""
    way = direction_of(a, i)
    if way == ix.BOTH:
        return EITHER
    return 1.0 if way == ix.FALLING else -1.0


def move(m: int, turn: int) -> float:
    """By how much number `m` is moved, of itself, at a turn: all upward, then either way.

    The sizes differ, so that neither sums nor differences cancel in all of them.
    """
    spread = (m + 1) * 2654435761 % 4294967296
    spread = (spread // 8192 + spread) * 1597334677 % 4294967296
    size = MOVED_BY * (1.0 + spread // 16 % 4096 / 4096.0)
    is_up = turn == 0 or spread // (262144 if turn == 1 else 2097152) % 2 == 1
    return size if is_up else -size


def measure_rounding(a: Arrays) -> None:
    """How far the witnesses move when what they are computed from moves by rounding, into ROUNDING.

    States and time are moved in three directions, each of them forward and back: what moves a witness one
    way alone is a jump and no rounding.
    """
    count = a.program[ix.WITNESSES]
    out = a.program[ix.ROUNDING]
    moved, found = probed(a)
    copy_cache(a, a.c, found)
    time = a.clock[ix.TIME]
    n = a.y.shape[0]
    for i in range(count):
        a.scratch[out + i] = 0.0
    for turn in range(TURNS):
        for i in range(count):
            a.scratch[out + count + i] = math.inf
        for back in range(2):
            sign = 1.0 if back == 0 else -1.0
            for m in range(n):
                moved[m] = a.y[m] + sign * move(m, turn) * a.y[m]
            t = time + sign * move(n, turn) * time
            status = walk(a.watched, a.ints, 0, a.program[ix.WATCHED], t, moved, a.p, a.d, a.k, a.h, found)
            for i in range(count):
                there = found[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]]
                distance = abs(there - value(a, i)) if status == 0 else 0.0
                if distance < a.scratch[out + count + i]:
                    a.scratch[out + count + i] = distance
        for i in range(count):
            distance = a.scratch[out + count + i]
            if not distance < math.inf or is_condition(a, i):
                distance = 0.0
            a.scratch[out + i] = max(distance, a.scratch[out + i])


def rounding(a: Arrays, i: int) -> float:
    """What `measure_rounding` has found."""
    return a.scratch[a.program[ix.ROUNDING] + i]


def is_out(a: Arrays, i: int, number: float) -> bool:
    """Whether a value of a witness that was turned round is out on the side from which it came.

    One that was stopped behind its zero is out on either side.
    """
    witness = a.witnesses[i]
    zero = witness.level
    guard = witness.guard
    if zero == 0.0 or not abs(number - zero) > witness.band:
        return False
    return number * guard > 0.0 or (abs(guard) == PASSED and (number - zero) * zero > 0.0)


def forget_level(a: Arrays, i: int) -> None:
    """Zero is zero again."""
    witness = a.witnesses[i]
    witness.level = 0.0
    witness.guard = 0.0
    witness.band = NOT_AT_ZERO


def come_out(a: Arrays, i: int, now: float) -> None:
    """Zero is zero again; where the witness has come no further than that it is on guard there."""
    witness = a.witnesses[i]
    guard = witness.guard
    forget_level(a, i)
    if is_near(a, i, now, 0.0, largest_state(a)):
        measure_rounding(a)
        if abs(now) <= rounding(a, i):
            witness.band = rounding(a, i)
            witness.guard = guard if abs(guard) == 1.0 else 0.0


def is_near(a: Arrays, i: int, number: float, before: float, largest: float) -> bool:
    """Whether a value of a witness may be zero up to rounding, beside the `largest` state and one before."""
    scale = max(largest, abs(before))
    if is_timed(a, i):
        scale = max(scale, abs(a.clock[ix.TIME]))
    return abs(number) <= NEAR * scale


def largest_state(a: Arrays) -> float:
    """The largest of the states."""
    largest = 0.0
    for m in range(a.y.shape[0]):
        largest = max(largest, abs(a.y[m]))
    return largest


def start_zeros(a: Arrays) -> None:
    """At the beginning of a run: which witnesses lie at zero; a start has set them there."""
    measure_rounding(a)
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        is_zero = abs(value(a, i)) <= rounding(a, i)
        witness.band = rounding(a, i) if is_zero else NOT_AT_ZERO
        witness.guard = set_guard(a, i) if is_zero else 0.0


def note_zeros(a: Arrays, located: int) -> None:
    """At the end of a step: which witnesses lie at zero. Where `located`, those in CROSSED have triggered."""
    largest = largest_state(a)
    far = NEAR * max(largest, abs(a.clock[ix.TIME]))
    measured = False
    seen = False
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        band = witness.band
        now = value(a, i) - witness.level
        before = a.scratch[a.program[ix.BEFORE] + i] - witness.level
        if band < 0.0 and located == 0 and abs(now) > far and abs(now) > NEAR * abs(before):
            continue  # it is not near zero: most are not
        crossed = located != 0 and a.places[a.program[ix.CROSSED] + i] != 0
        if crossed and abs(witness.guard) == ARRIVED:
            witness.guard = 0.0
        is_left_out = a.probe[ix.PROBE_WIDTH * i + ix.DIRECTION] == 0  # it is held
        if is_left_out or (band >= 0.0 and abs(now) <= 0.5 * band):
            continue
        near = is_near(a, i, now, before, largest)
        if near and not measured:
            measure_rounding(a)
            measured = True
        noise = rounding(a, i) if near else 0.0
        if band >= 0.0:
            # what moves less than its rounding in a whole step is drifting
            if near and abs(now - before) <= 0.25 * noise and not crossed:
                band = max(band, 2.0 * abs(now))
            witness.band = band if abs(now) <= band else NOT_AT_ZERO
            continue
        if not (near and abs(now) <= noise):
            continue
        witness.band = noise
        way = direction_of(a, i)
        falls = way != ix.RISING and before > 0.0
        rises = way != ix.FALLING and before < 0.0
        if not crossed and (falls or rises):
            if not seen:
                look(a, RATE_SPACING)
                seen = True
            witness.rate = a.scratch[a.program[ix.RATES_NOW] + i]
            witness.guard = ARRIVED if falls else -ARRIVED


def has_arrivals(a: Arrays) -> bool:
    """Whether a witness has come to zero and has not passed it, or was taken away from there."""
    found = False
    for i in range(a.program[ix.WITNESSES]):
        was_taken = a.places[a.program[ix.WAS_SET] + i] > 1
        found = found or was_taken or abs(a.witnesses[i].guard) == ARRIVED
    return found


def fire_arrivals(a: Arrays) -> int:
    """Which witnesses have come to zero and stay there, or go back, into CROSSED; whether there are some.

    They came no further than rounding before the start of this step, and its updates have run.
    """
    some = False
    for i in range(a.program[ix.WITNESSES]):
        was_taken = a.places[a.program[ix.WAS_SET] + i] > 1
        is_set = was_taken and a.witnesses[i].guard != 0.0
        a.places[a.program[ix.CROSSED] + i] = 1 if was_taken else 0
        a.places[a.program[ix.WAS_SET] + i] = SET_BY_ANOTHER if is_set else 0
    look(a, RATE_SPACING)
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        a.scratch[a.program[ix.BEFORE] + i] = value(a, i)
        if abs(witness.guard) == ARRIVED and witness.band >= 0.0:
            rate = a.scratch[a.program[ix.RATES_NOW] + i]
            back = rate * witness.guard >= 0.0
            if back or abs(rate) <= STOPPED * abs(witness.rate):
                a.places[a.program[ix.CROSSED] + i] = 1
                witness.guard = 0.0
        some = some or a.places[a.program[ix.CROSSED] + i] != 0
    return 1 if some else 0


def is_own(a: Arrays, handler: Handler, i: int) -> bool:
    """Whether a handler is called by a witness."""
    return handler.cause == TRIGGERED and handler.flag == i


def may_be_set(a: Arrays, handler: Handler, i: int) -> bool:
    """Whether it matters that a handler has set a witness: it lies at zero, or passes it at this instant."""
    fires = a.places[a.program[ix.FIRED_BY] + i] != 0 and not is_own(a, handler, i)
    return fires or a.witnesses[i].band >= 0.0


def note_set(a: Arrays, handler: Handler) -> None:
    """A handler has run: mark in WAS_SET the witnesses that it has set to the zero at which they lie.

    Where the handler is not theirs, those that fire at this instant, just behind zero, count as well. It is
    called once more with the states that it may set moved: a witness that it sets does not move.
    """
    first = handler.sets_at
    last = first + ix.SET_WIDTH * handler.sets
    asks = False
    for at in range(first, last, ix.SET_WIDTH):
        asks = asks or may_be_set(a, handler, a.program[at + ix.SET_WITNESS])
    if not asks:
        return
    largest = largest_state(a)
    moved, found = probed(a)
    copy_cache(a, a.c, found)
    for m in range(a.y.shape[0]):
        moved[m] = a.y[m]
    for at in range(first, last, ix.SET_WIDTH):
        m = a.program[at + ix.SET_STATE]
        moved[m] = a.y[m] + move(m, 0) * (largest if largest > 0.0 else 1.0)
        a.c[a.program[at + ix.SET_RESULT]] = moved[m]
    block = handler.block
    time = a.clock[ix.TIME]
    if walk(a.table, a.ints, block, block + 1, time, moved, a.p, a.d, a.k, a.h, a.c) != 0:
        return
    for after in range(2):
        if walk(a.watched, a.ints, 0, a.program[ix.WATCHED], time, moved, a.p, a.d, a.k, a.h, found) != 0:
            return
        for at in range(first, last, ix.SET_WIDTH):
            i = a.program[at + ix.SET_WITNESS]
            there = found[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]]
            was = value(a, i) if after == 0 or a.witnesses[i].band >= 0.0 else 0.0
            if after == 0:
                a.scratch[a.program[ix.ROUNDING] + i] = abs(there - was)
            elif abs(there - was) < 0.5 * rounding(a, i) and may_be_set(a, handler, i):
                a.places[a.program[ix.WAS_SET] + i] = 1 if is_own(a, handler, i) else SET_BY_ANOTHER
        for at in range(first, last, ix.SET_WIDTH):
            moved[a.program[at + ix.SET_STATE]] = a.c[a.program[at + ix.SET_RESULT]]


def note_written(a: Arrays) -> None:
    """Updates have run: a witness that they have set to zero triggers when it leaves it.

    WAS_SET says which of those that lay at zero were set there again. One that had come to zero, and was
    taken away from it, gets 2 there.
    """
    largest = -1.0
    measured = False
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        now = value(a, i)
        before = a.scratch[a.program[ix.BEFORE] + i]
        was_set = a.places[a.program[ix.WAS_SET] + i]
        a.places[a.program[ix.WAS_SET] + i] = 0
        if (now == before or now != now) and was_set == 0:
            continue
        if is_out(a, i, before):
            forget_level(a, i)
        witness.value = now
        fired = a.places[a.program[ix.FIRED_BY] + i] != 0
        if (fired and witness.guard != 0.0) or is_held(a, i):
            continue  # it was turned where it is
        if now == before:
            if witness.band >= 0.0 and witness.level == 0.0:
                if abs(witness.guard) == ARRIVED:
                    a.places[a.program[ix.WAS_SET] + i] = 2
                witness.guard = set_guard(a, i)
            continue
        if abs(witness.guard) == ARRIVED and witness.band >= 0.0:
            a.places[a.program[ix.WAS_SET] + i] = 2
            witness.guard = 0.0
        witness.band = NOT_AT_ZERO
        if largest < 0.0:
            largest = largest_state(a)
        if not is_near(a, i, now, before, largest):
            continue
        if not measured:
            measure_rounding(a)
            measured = True
        if abs(now) <= rounding(a, i):
            witness.level = 0.0
            witness.band = rounding(a, i)
            witness.guard = set_guard(a, i)
