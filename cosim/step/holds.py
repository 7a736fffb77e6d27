"""Witnesses that are held at their zero because their events do not end.

What is held lies in `clock`: how many, whether the memory of the method is that of a system with held
witnesses, whether the derivatives are, which are held (in the order in which it began), then for each
witness a row: the kind of its hold, the side that it came from (1 from above, -1 from below), how many
numbers follow, and these. Where its handlers have pushed the state they are the direction, as many numbers
as there are states; where they have switched variables, for each of these its array (0 d, 1 k, 2 p), its
offset, its present value and the other one. While something is held the integrator walks a second list of
the blocks of a derivative, with `sliding_field` at its end. The row of that block in `ints` and the numbers
behind the cache in `c` are written from here before each step.
"""

from __future__ import annotations

import math

from cosim.cause import EventCause
from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.codes import FAILED_LOOSE
from cosim.step.evaluation import copy_cache, walk_here
from cosim.step.event_log import HELD as FOUND_HELD
from cosim.step.event_log import RELEASED, RELEASED_BY_HANDLER, RELEASED_BY_WRITE, tell
from cosim.step.records import Handler, Result
from cosim.step.sliding_field import (
    HELD,
    HELD_KIND,
    HELD_RATE,
    HELD_VALUE,
    HELD_WIDTH,
    PUSHED,
    PUSHES,
    SIDES_AT,
    SWITCH_AT,
    SWITCHED,
    SWITCHED_AT,
    SWITCHED_IN,
    SWITCHED_WIDTH,
    WITNESS_AT,
)
from cosim.step.watched import (
    LEAVING,
    MOST_REPEATS,
    RATE_SPACING,
    REPORTED,
    direction_of,
    look,
    rates_along,
    value,
)
from cosim.system.history_buffer import RING
from cosim.walker import walk

COUNT, METHOD, WITH_HOLDS, ORDER = range(4)  # of what is held, in `clock`
KIND, SIDE, SIZE, DATA = range(4)  # of the row of a hold
TRIGGERED = int(EventCause.TRIGGERED)
SWITCH_IN, SWITCH_OFFSET, PRESENT, OTHER, SWITCH_WIDTH = range(5)  # array, place in it, its two values


def can_hold(a: Arrays) -> bool:
    """Whether witnesses may be held at all."""
    return a.program[ix.HELD_LAST] > 0


def held_count(a: Arrays) -> int:
    """How many witnesses are held."""
    return int(a.clock[a.program[ix.HOLDS]]) if a.program[ix.HELD_LAST] > 0 else 0


def held_at(a: Arrays, j: int) -> int:
    """Which witness is the `j`-th one that is held."""
    return int(a.clock[a.program[ix.HOLDS] + ORDER + j])


def hold_row(a: Arrays, i: int) -> int:
    """Where in `clock` the row of a witness starts."""
    return a.program[ix.HOLDS] + ORDER + a.program[ix.WITNESSES] + a.program[ix.HOLDS_WIDTH] * i


def forget_holds(a: Arrays) -> None:
    """At the beginning of a run nothing is held."""
    for m in range(ORDER if can_hold(a) else 0):
        a.clock[a.program[ix.HOLDS] + m] = 0.0


def uses_held_method(a: Arrays) -> bool:
    """Whether the memory of the method is that of a system with held witnesses."""
    return a.program[ix.HELD_LAST] > 0 and a.clock[a.program[ix.HOLDS] + METHOD] != 0.0


def note_derivatives(a: Arrays, held: int) -> None:
    """The derivatives were computed with (1) or without (0) what holds witnesses."""
    if a.program[ix.HELD_LAST] > 0:
        a.clock[a.program[ix.HOLDS] + WITH_HOLDS] = float(held)


def has_held_derivatives(a: Arrays) -> bool:
    """Whether they were."""
    return a.program[ix.HELD_LAST] > 0 and a.clock[a.program[ix.HOLDS] + WITH_HOLDS] != 0.0


def is_held(a: Arrays, i: int) -> bool:
    """Whether a witness is held."""
    found = False
    for j in range(held_count(a)):
        found = found or held_at(a, j) == i
    return found


def leave_out_held(a: Arrays) -> None:
    """Look for crossings of all witnesses but those that are held."""
    for i in range(a.program[ix.WITNESSES]):
        a.probe[ix.PROBE_WIDTH * i + ix.DIRECTION] = direction_of(a, i)
    for j in range(held_count(a)):
        a.probe[ix.PROBE_WIDTH * held_at(a, j) + ix.DIRECTION] = 0


def set_up(a: Arrays) -> None:
    """Write the row of `sliding_field` and the numbers that it works with."""
    held = held_count(a)
    n = a.y.shape[0]
    row = a.program[ix.HELD_ROW]
    numbers = a.program[ix.CACHE]
    places = a.held_ints[row + WITNESS_AT]
    switches = a.held_ints[row + SWITCH_AT]
    pushes = held
    # behind the vectors, matrices and the cache of `sliding_field`
    values = held + 2 * held * n + held * held + 2 * held + 4 * n + a.program[ix.CACHE]
    pushed = 0
    for j in range(held):
        i = held_at(a, j)
        at = hold_row(a, i)
        kind = int(a.clock[at + KIND])
        looked = ix.PROBE_WIDTH * i
        to = places + HELD_WIDTH * j
        a.held_ints[to + HELD_VALUE] = a.probe[looked + ix.VALUE_AT]
        a.held_ints[to + HELD_RATE] = a.probe[looked + ix.RATE_AT]
        a.held_ints[to + HELD_KIND] = kind
        if kind == PUSHED:
            pushed += 1
            for m in range(n):
                a.c[numbers + pushes + j * n + m] = a.clock[at + DATA + m]
            continue
        for m in range(n):
            a.c[numbers + pushes + j * n + m] = 0.0
        count = int(a.clock[at + SIZE]) // SWITCH_WIDTH
        a.held_ints[switches] = count
        for s in range(count):
            data = at + DATA + SWITCH_WIDTH * s
            to = switches + 1 + SWITCHED_WIDTH * s
            a.held_ints[to + SWITCHED_IN] = int(a.clock[data + SWITCH_IN])
            a.held_ints[to + SWITCHED_AT] = int(a.clock[data + SWITCH_OFFSET])
            a.held_ints[to + SIDES_AT] = values
            a.c[numbers + values] = a.clock[data + PRESENT]
            a.c[numbers + values + 1] = a.clock[data + OTHER]
            values += 2
        switches += 1 + SWITCHED_WIDTH * count
    a.held_ints[row + HELD] = held
    a.held_ints[row + PUSHES] = pushed


def realize_held(a: Arrays) -> int:
    """The derivatives with what holds witnesses, at the present state; 0 or a code."""
    set_up(a)
    first = a.program[ix.HELD_FIRST]
    last = a.program[ix.HELD_LAST]
    status = walk(a.held_table, a.held_ints, first, last, a.clock[ix.TIME], a.y, a.p, a.d, a.k, a.h, a.c)
    note_derivatives(a, 1)
    if status != 0:
        a.places[ix.BLOCK] = min(status - 1 - first + a.program[ix.FIRST], a.program[ix.LAST] - 1)
        return CODE_BLOCK
    return 0


def release(a: Arrays) -> int:
    """Let go of witnesses that nothing presses any more; 0 or a code.

    One that leaves on the side for which its variables are not switched fires once more: now, or just
    behind its zero where that is still ahead.
    """
    count = held_count(a)
    if count == 0:
        return 0
    code = realize_held(a)
    if code != 0:
        return code
    kept = 0
    for j in range(count):
        i = held_at(a, j)
        at = hold_row(a, i)
        strength = a.c[a.program[ix.CACHE] + j]
        is_pushed = a.clock[at + KIND] == PUSHED
        if strength > 0.0 and (is_pushed or strength < 1.0):
            a.clock[a.program[ix.HOLDS] + ORDER + kept] = float(i)
            kept += 1
            continue
        now = value(a, i)
        witness = a.witnesses[i]
        side = a.clock[at + SIDE]
        is_out = is_pushed and now * side > 0.0
        witness.level = 0.0 if is_out else now
        witness.guard = side if is_pushed and not is_out else 0.0
        witness.band = -1.0 if is_out else 0.0
        witness.fired = -math.inf
        witness.repeats = 0.0
        tell(a, RELEASED, i, 0.0)
        if not strength >= 1.0:  # nor NaN
            continue
        look(a, RATE_SPACING)
        rate = a.scratch[a.program[ix.RATES_NOW] + i]
        if now * rate < 0.0 and direction_of(a, i) in (ix.BOTH, ix.RISING if rate > 0.0 else ix.FALLING):
            witness.level = 0.0
            witness.band = -1.0
        else:
            witness.repeats = LEAVING
            for handler in a.handlers:
                if handler.cause == TRIGGERED and handler.flag == i:
                    a.next_index[handler.number] = 1
    if kept == count:
        return 0
    a.clock[a.program[ix.HOLDS]] = float(kept)
    # the derivatives that are left in the cache are those with the holds
    note_derivatives(a, 0)
    return walk_here(a, a.program[ix.FIRST], a.program[ix.LAST])


def let_go(a: Arrays, i: int, why: int) -> None:
    """What is remembered of a witness that is not held any more because a variable was written."""
    tell(a, why, i, 0.0)
    witness = a.witnesses[i]
    now = value(a, i)
    side = a.clock[hold_row(a, i) + SIDE]
    guard = side if now * side <= 0.0 else 0.0
    witness.level = now * abs(guard)
    witness.guard = guard
    witness.band = 0.0 if guard != 0.0 else -1.0
    witness.fired = -math.inf
    witness.repeats = 0.0


def is_switched_over(a: Arrays, i: int) -> bool:
    """Whether the variables that a held witness switches were given other values."""
    at = hold_row(a, i)
    found = False
    if a.clock[at + KIND] == SWITCHED:
        for s in range(int(a.clock[at + SIZE]) // SWITCH_WIDTH):
            data = at + DATA + SWITCH_WIDTH * s
            array = int(a.clock[data + SWITCH_IN])
            offset = int(a.clock[data + SWITCH_OFFSET])
            present = a.p[offset] if array == 2 else float(a.k[offset]) if array == 1 else a.d[offset]
            found = found or present != a.clock[data + PRESENT]
    return found


def values_before(a: Arrays) -> int:
    """Values and rates of the witnesses in the state that handlers found, into LOW and NOW; 0 or a code."""
    size = a.c.shape[0]
    at = a.program[ix.STARTING]
    y = a.scratch[at : at + a.y.shape[0]]
    at += a.y.shape[0]
    p = a.scratch[at : at + a.p.shape[0]]
    at += a.p.shape[0]
    d = a.scratch[at : at + a.d.shape[0]]
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        for m in range(RING):  # what histories hold has grown since
            a.places[a.program[ix.STARTING_K] + ring + m] = a.k[ring + m]
    k = a.places[a.program[ix.STARTING_K] : a.program[ix.STARTING_K] + a.k.shape[0]]
    twin = a.scratch[a.program[ix.TWIN_C] : a.program[ix.TWIN_C] + size]
    t = a.clock[ix.TIME]
    copy_cache(a, a.c, twin)
    status = walk(a.table, a.ints, a.program[ix.ALL], a.program[ix.LAST], t, y, p, d, k, a.h, twin)
    if status != 0:
        a.places[ix.BLOCK] = status - 1
        return CODE_BLOCK
    for i in range(a.program[ix.WITNESSES]):
        a.scratch[a.program[ix.LOW] + i] = twin[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]]
    rates_along(a, y, p, d, k, twin, RATE_SPACING, a.program[ix.NOW])
    return 0


def drop(a: Arrays) -> int:
    """Let go of witnesses where handlers have changed what holds them; STARTING has the state before."""
    count = held_count(a)
    if count == 0:
        return 0
    moved = False
    for m in range(a.y.shape[0]):
        moved = moved or a.scratch[a.program[ix.STARTING] + m] != a.y[m]
    if moved:
        code = values_before(a)
        if code != 0:
            return code
        look(a, RATE_SPACING)
    kept = 0
    for j in range(count):
        i = held_at(a, j)
        stays = not is_switched_over(a, i)
        if moved:
            stays = stays and a.scratch[a.program[ix.LOW] + i] == value(a, i)
            stays = stays and a.scratch[a.program[ix.NOW] + i] == a.scratch[a.program[ix.RATES_NOW] + i]
        if stays:
            a.clock[a.program[ix.HOLDS] + ORDER + kept] = float(i)
            kept += 1
        else:
            let_go(a, i, RELEASED_BY_HANDLER)
    a.clock[a.program[ix.HOLDS]] = float(kept)
    return 0


def drop_moved(a: Arrays) -> None:
    """Let go of held witnesses that were moved, or set in motion, since the last step."""
    count = held_count(a)
    if count == 0:
        return
    look(a, RATE_SPACING)
    kept = 0
    for j in range(count):
        i = held_at(a, j)
        witness = a.witnesses[i]
        gone = value(a, i) != witness.value
        if a.clock[hold_row(a, i) + KIND] == PUSHED:
            gone = gone or a.scratch[a.program[ix.RATES_NOW] + i] != witness.rate
        if gone:
            let_go(a, i, RELEASED_BY_WRITE)
        else:
            a.clock[a.program[ix.HOLDS] + ORDER + kept] = float(i)
            kept += 1
    a.clock[a.program[ix.HOLDS]] = float(kept)


def note_held(a: Arrays) -> None:
    """At the end of a step: how fast the held witnesses change."""
    count = held_count(a)
    if count > 0:
        look(a, RATE_SPACING)
    for j in range(count):
        i = held_at(a, j)
        a.witnesses[i].rate = a.scratch[a.program[ix.RATES_NOW] + i]


# What handlers of a witness have done, for a hold


def candidate(a: Arrays, i: int) -> int:
    """Where in `scratch` it is gathered: a push, how many variables were switched, and these."""
    return a.program[ix.CANDIDATES] + a.program[ix.CANDIDATES_WIDTH] * i


def is_endless(a: Arrays, i: int) -> bool:
    """Whether a witness is to be held as soon as an event of it shows how."""
    return MOST_REPEATS <= a.witnesses[i].repeats < REPORTED


def begin_candidates(a: Arrays) -> None:
    """Handlers are about to run; FIRED_BY says of which witnesses."""
    for i in range(a.program[ix.WITNESSES]):
        if a.places[a.program[ix.FIRED_BY] + i] != 0:
            for m in range(a.y.shape[0] + 1):
                a.scratch[candidate(a, i) + m] = 0.0


def gathers(a: Arrays, handler: Handler) -> bool:
    """Whether what a handler writes says how its witness can be held."""
    if a.program[ix.CANDIDATES_WIDTH] == 0 or handler.cause != TRIGGERED or handler.is_private != 0:
        return False
    return handler.flag >= 0 and handler.does != ix.PUBLISH


def note_result(a: Arrays, handler: Handler, result: Result, m: int, before: float, after: float) -> None:
    """A handler of a witness has written a number."""
    at = candidate(a, handler.flag)
    n = a.y.shape[0]
    array = result.array
    offset = result.offset + m
    if array == ix.IN_Y:
        a.scratch[at + offset] += after - before
    elif result.is_switchable != 0 and before != after:
        count = int(a.scratch[at + n])
        data = at + n + 1 + SWITCH_WIDTH * count
        a.scratch[data + SWITCH_IN] = float(0 if array == ix.IN_D else 1 if array == ix.IN_K else 2)
        a.scratch[data + SWITCH_OFFSET] = float(offset)
        a.scratch[data + PRESENT] = after
        a.scratch[data + OTHER] = before
        a.scratch[at + n] = float(count + 1)


def pushes_it(a: Arrays, i: int) -> float:
    """The largest change of a state by the handlers of a witness; 0 where they have changed none."""
    largest = 0.0
    for m in range(a.y.shape[0]):
        largest = max(largest, abs(a.scratch[candidate(a, i) + m]))
    return largest


def note_push(a: Arrays, i: int, sign: float) -> None:
    """Keep how handlers have pushed the state last, of the events in a row, where a hold will have it."""
    row = hold_row(a, i)
    largest = pushes_it(a, i)
    if largest > 0.0:
        n = a.y.shape[0]
        a.clock[row + KIND] = float(PUSHED)
        a.clock[row + SIZE] = float(n)
        for m in range(n):
            a.clock[row + DATA + m] = sign * a.scratch[candidate(a, i) + m] / largest
    elif a.witnesses[i].repeats == 0.0:
        a.clock[row + SIZE] = 0.0


def is_pushed(a: Arrays, i: int, moves_on: int) -> bool:
    """Whether a witness is held by a push: that of this event, else the last one where the state `moves_on`.

    Handlers leave state and derivatives as they are where rounding lets a body that rests leave by itself.
    """
    if pushes_it(a, i) > 0.0:
        return True
    if moves_on == 0 or not can_hold(a):
        return False
    row = hold_row(a, i)
    return a.clock[row + KIND] == PUSHED and a.clock[row + SIZE] > 0.0


def hold(a: Arrays, i: int, side: float, moves_on: int) -> int:
    """Hold a witness by what its handlers have done, see `is_pushed`; 0 or a code."""
    n = a.y.shape[0]
    at = candidate(a, i)
    row = hold_row(a, i)
    count = int(a.scratch[at + n])
    if not is_pushed(a, i, moves_on):
        a.clock[row + KIND] = float(SWITCHED)
        a.clock[row + SIZE] = float(SWITCH_WIDTH * count)
        for m in range(SWITCH_WIDTH * count):
            a.clock[row + DATA + m] = a.scratch[at + n + 1 + m]
        if count == 0:
            a.places[ix.WITNESS] = i
            return FAILED_LOOSE
    a.clock[row + SIDE] = side
    held = held_count(a)
    a.clock[a.program[ix.HOLDS] + ORDER + held] = float(i)
    a.clock[a.program[ix.HOLDS]] = float(held + 1)
    witness = a.witnesses[i]
    witness.level = 0.0
    witness.guard = 0.0
    witness.band = -1.0
    witness.fired = -math.inf
    witness.repeats = 0.0
    for j in range(a.program[ix.WITNESSES]):
        a.witnesses[j].expected = math.inf
    tell(a, FOUND_HELD, i, 0.0)
    return 0
