"""Witnesses: what is kept of them from step to step, and ending a step just past one that crosses zero."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import FIXED, IS_CUBIC
from cosim.contracts.method_layout import START as STEP_START
from cosim.step import layout as ix
from cosim.step.agenda import row_of
from cosim.step.arrays import Arrays, Reals, part
from cosim.step.codes import FAILED_ACCURACY, FAILED_HOLD, FAILED_SIDE
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.crossing import (
    FOUND,
    MOST_PARTS,
    PARTS,
    declared_rate,
    first_crossing,
    has_crossed,
    points_of,
)
from cosim.step.evaluation import copy_cache, probed
from cosim.step.event_log import CHATTERING, NOT_A_NUMBER, WRONG_SIDE, ZENO, tell
from cosim.step.forecast import foresee
from cosim.step.holds import (
    can_hold,
    drop_moved,
    held_count,
    hold,
    is_held,
    leave_out_held,
    note_held,
    pushes_it,
)
from cosim.step.realize import complete, redo
from cosim.step.seen import (
    ASIDE,
    LEFT,
    RIGHT,
    SEEN,
    copy_row,
    forget_hidden,
    forget_seen,
    hides,
    seen_without_value,
    spacing_for,
)
from cosim.step.updates import TRIGGERED
from cosim.step.watched import (
    LEAVING,
    MOST_REPEATS,
    RATE_SPACING,
    above,
    direction_of,
    is_condition,
    is_moved,
    level,
    look,
    memory_of,
    value,
)
from cosim.step.zeros import (
    ARRIVED,
    EITHER,
    NEAR,
    EXACT,
    NOT_AT_ZERO,
    PASSED,
    STOPPED,
    come_out,
    fire_arrivals,
    forget_level,
    is_out,
    largest_number,
    measure_rounding,
    note_zeros,
    rounding,
    set_guard,
    start_zeros,
)

CHARACTERISTIC_TIME = 1.0  # s; the isolation window is 0.01 * accuracy * this, as in Drake's Simulator
NEARLY = 0.5  # of the window: so near to the end of a step an event is at its end
AIM = 0.01  # of the window: so far behind a zero that was foreseen the step toward it ends
CORRECTIONS = 80  # of the time of an event, where dense output and a step of its own differ
SECANTS = 4  # of them by the rates of the witnesses alone; then every second one makes the bracket smaller
REPEATED = 1e-7  # s; closer events of one witness repeat each other where the step is much longer,
LONGER = 1e4  # so many times: shorter flights are lost in the rounding of coordinates that are not small
NEAR_BY = 10.0  # windows: events of one witness closer than that repeat each other
LOST = 4.0  # of the rounding: a flight is a quarter as high as its time times the speed at its end
CLOSER = 0.1  # than the window: evaluations of witnesses are cheap, and late events add up
DIFFERENCE = 1e-6  # of the step: over which rates of witnesses that declare none are taken
WORTH_A_LOOK = 100.0  # windows: in shorter flights (that pile up) coordinates are mostly rounding
SEARCHES = 3  # of a step again, with more points, as the witnesses turn out to be faster
HALF_A_UNIT = 1.1102230246251568e-16  # a little more than half the distance from 1 to the next number


@part("Ai>i", needed_for="witnesses")
def start_witnesses(a: Arrays, goes_on: int) -> int:
    """At the beginning of a run, or where one goes on with another integrator; 0 or a code."""
    for i in range(a.program[ix.WITNESSES]):
        at = memory_of(a, i)
        was_started = a.clock[at + ix.FIRED] != 0.0
        has_come = a.clock[at + ix.BAND] >= 0.0 and a.clock[at + ix.GUARD] == 0.0
        same = goes_on != 0 and was_started and has_come and a.clock[at + ix.VALUE] == value(a, i)
        a.places[a.program[ix.WAS_SET] + i] = 1 if same else 0
        for column in range(ix.COLUMNS):
            a.clock[at + column] = 0.0
        a.clock[at + ix.FIRED] = -math.inf
        a.clock[at + ix.EXPECTED] = math.inf
    start_zeros(a)
    for i in range(a.program[ix.WITNESSES]):
        at = memory_of(a, i)
        if a.places[a.program[ix.WAS_SET] + i] != 0:
            a.clock[at + ix.GUARD] = 0.0
        now = value(a, i)
        a.clock[at + ix.VALUE] = now
        tell_of_nan(a, i, now, a.clock[ix.TIME])
        way = direction_of(a, i)
        wrong = (way == ix.FALLING and now < 0.0) or (way == ix.RISING and now > 0.0)
        if wrong and not is_condition(a, i) and a.clock[at + ix.BAND] < 0.0:
            tell(a, WRONG_SIDE, i, now)
            if a.program[ix.POLICY] == ix.STOP_AT:
                a.places[ix.WITNESS] = i
                return FAILED_SIDE
    return 0


def note(a: Arrays) -> None:
    """At the end of a step: what is written from here on is a jump from these values."""
    for i in range(a.program[ix.WITNESSES]):
        now = value(a, i)
        a.clock[memory_of(a, i) + ix.VALUE] = now
        tell_of_nan(a, i, now, a.clock[ix.TIME])


def tell_of_nan(a: Arrays, i: int, now: float, t: float) -> None:
    """A finding where a witness is not a number at `t`, once in a run."""
    told = a.program[ix.TOLD_OF_WITNESSES] + i
    if now != now and a.places[told] == 0:
        a.places[told] = 1
        tell(a, NOT_A_NUMBER, i, t)


def tell_of_nan_inside(a: Arrays) -> None:
    """A finding where the search has seen a witness that was not a number before the present time."""
    points, _ = points_of(a)
    i, t = seen_without_value(points, a.program[ix.WITNESSES])
    if i >= 0 and t <= a.clock[ix.TIME]:
        tell_of_nan(a, i, math.nan, t)


def forget_expected(a: Arrays) -> None:
    """Nothing that was foreseen can be relied on any more."""
    for i in range(a.program[ix.WITNESSES]):
        a.clock[memory_of(a, i) + ix.EXPECTED] = math.inf


def foresees(a: Arrays) -> bool:
    """Whether steps may be made to end where an event is foreseen: not while a witness is held."""
    return a.settings[FIXED] == 0.0 and a.program[ix.CHEAP] != 0 and held_count(a) == 0


def next_expected(a: Arrays) -> float:
    """When the next crossing is expected; infinite when none is."""
    first = math.inf
    if foresees(a):
        for i in range(a.program[ix.WITNESSES]):
            expected = a.clock[memory_of(a, i) + ix.EXPECTED]
            if a.clock[ix.TIME] < expected < first:
                first = expected
    return first


@part("A>v", needed_for="witnesses")
def begin_watch(a: Arrays) -> None:
    """At the start of a step: the witnesses, and the levels that they are compared with."""
    leave_out_held(a)
    for i in range(a.program[ix.WITNESSES]):
        at = memory_of(a, i)
        now = value(a, i)
        if is_out(a, i, now):
            come_out(a, i, now)
        elif a.clock[at + ix.LEVEL] == 0.0 and a.clock[at + ix.BAND] < 0.0:
            a.clock[at + ix.GUARD] = 0.0
        guard = a.clock[at + ix.GUARD]
        a.scratch[a.program[ix.BEFORE] + i] = now
        row = a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i
        a.scratch[row + ix.LEVEL_ZERO] = a.clock[at + ix.LEVEL]
        a.scratch[row + ix.LEVEL_GUARD] = 0.0 if abs(guard) == PASSED else guard
        # one that has come to zero and not passed it is still on the side from which it came
        has_arrived = abs(guard) == ARRIVED
        a.scratch[row + ix.LEVEL_BAND] = NOT_AT_ZERO if has_arrived else a.clock[at + ix.BAND]


def isolation_window(a: Arrays) -> float:
    """To which length triggered events are located; NaN when they are not."""
    accuracy = a.numbers[ix.ACCURACY]
    fixed = a.settings[FIXED]
    if accuracy != accuracy:
        return math.nan
    shortest = max(1e-14, 1e-14 * abs(a.clock[ix.TIME]))
    return max(shortest, 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed == 0.0 else fixed))


def spacing_of(x: float) -> float:
    """Distance of a number that is not negative to the next one; without functions that not all have."""
    if x < 2.2250738585072014e-308:
        return 5e-324
    return (x + x * HALF_A_UNIT) - x


@part("Af>i", needed_for="witnesses")
def trigger(a: Arrays, start: float) -> int:
    """End the step just past the first witness that crosses, and note what it triggers; 0 or a code."""
    count = a.program[ix.WITNESSES]
    if count == 0:
        return 0
    crossed = a.program[ix.CROSSED]
    forget_located(a)
    length = isolation_window(a)
    stop = a.clock[ix.TIME]
    attempted = stop - start
    located = False
    for i in range(count):
        before = above(a, i, a.scratch[a.program[ix.BEFORE] + i])
        after = above(a, i, value(a, i))
        a.scratch[a.program[ix.ENDS] + ix.ENDS_HEADER + i] = before
        a.scratch[a.program[ix.ENDS] + ix.ENDS_HEADER + count + i] = after
        a.places[crossed + i] = 1 if has_crossed(a, i, before, after) else 0
        located = located or a.places[crossed + i] != 0
    if length != length:
        length = attempted
        if located and a.y.shape[0] > 0 and a.settings[FIXED] == 0.0:
            return FAILED_ACCURACY
        if located:
            note_located(a, start, 0)
    else:
        code = complete(a) if a.settings[IS_CUBIC] == 0.0 else 0
        if code != 0:
            return code
        for m in range(a.work.shape[0]):
            a.scratch[a.program[ix.KEPT_WORK] + m] = a.work[m]
        found = search(a, a.work[STEP_START], stop, length)
        if found == FOUND and is_noise(a):
            found = search(a, a.work[STEP_START], stop, length)
        if found < 0:
            return -found
        located = False
        if found == FOUND:
            code = go_to(a, length)
            if code != 0:
                return code
            for i in range(count):
                located = located or a.places[crossed + i] != 0
            if located:
                note_located(a, min(a.scratch[a.program[ix.ENDS] + ix.WINDOW_START], a.clock[ix.TIME]), 1)
        tell_of_nan_inside(a)
        if foresees(a):
            foresee(a, start, stop, AIM * length)
    if located:
        fire(a, max(NEAR_BY * length, min(REPEATED, attempted / LONGER)))
    note_zeros(a, 1 if located else 0)
    note(a)
    note_held(a)
    return 0


def forget_located(a: Arrays) -> None:
    """No witness has crossed in this step so far."""
    a.scratch[a.program[ix.WINDOW] + ix.WINDOW_START] = math.nan


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


@part("Afff>i")
def search(a: Arrays, start: float, stop: float, window: float) -> int:
    """The first crossing in a part of the step that was kept: FOUND, another number, or minus a code."""
    count = a.program[ix.WITNESSES]
    points, width = points_of(a)
    ends = a.scratch[a.program[ix.ENDS] : a.program[ix.ENDS] + ix.ENDS_HEADER + 2 * count]
    _, c = probed(a)
    copy_cache(a, a.c, c)
    shortest = max(CLOSER * window, 4.0 * spacing_of(abs(stop)))
    difference = DIFFERENCE * (stop - start)
    forget_seen(points, count)
    found = first_crossing(a, start, stop, shortest, difference, PARTS)
    if found < 0:
        a.places[ix.BLOCK] = a.program[a.program[ix.WATCHED_AT] - found - 1]
        return -CODE_BLOCK
    # What lies before may be hidden between the points: the first search stays as it is where nothing does.
    spacing = (stop - start) / PARTS
    for _ in range(SEARCHES):
        wanted = points_apart(a, points, spacing, 1 if found == FOUND else 0)
        end = ends[ix.WINDOW_START] if found == FOUND else stop
        worth = 4.0 if a.numbers[ix.SHORTEST_PULSE] < spacing else WORTH_A_LOOK
        if not wanted < 0.999 * spacing or not end - start > worth * window:
            break
        parts = max(PARTS + 1, math.ceil((end - start) / wanted))
        spacing = (end - start) / parts
        last = ends[ix.WINDOW_END]
        for i in range(count):
            if found == FOUND:
                ends[ix.ENDS_HEADER + count + i] = points[1 + i]
        copy_row(points, width, LEFT, ASIDE)
        copy_row(points, width, RIGHT, ASIDE + 1)
        forget_hidden(points, count)
        again = first_crossing(a, start, end, shortest, difference, parts)
        if again == FOUND:
            found = FOUND
            continue
        copy_row(points, width, ASIDE, LEFT)
        copy_row(points, width, ASIDE + 1, RIGHT)
        ends[ix.WINDOW_START] = end
        ends[ix.WINDOW_END] = last
        if again < 0:
            break
    for i in range(count):
        # for the forecast: where the whole step has ended
        ends[ix.ENDS_HEADER + count + i] = above(a, i, value(a, i))
    return found


def is_noise(a: Arrays) -> bool:
    """Whether a witness that was found to cross was on the side from which it has by rounding alone.

    It then counts as zero there for the rest of this step. Such is one that comes from the other side and
    goes along zero, or back from it.
    """
    count = a.program[ix.WITNESSES]
    points, width = points_of(a)
    ends = a.program[ix.ENDS] + ix.ENDS_HEADER
    largest = -1.0
    found = False
    for i in range(count):
        before = a.scratch[ends + i]
        left = points[LEFT * width + 1 + i]
        if not (before * left < 0.0 and has_crossed(a, i, left, points[RIGHT * width + 1 + i])):
            continue
        furthest = points[(SEEN if left < 0.0 else SEEN + 1) * width + 1 + i]
        if largest < 0.0:
            largest = largest_number(a)
        if abs(furthest) <= NEAR * max(largest, abs(before)):
            measure_rounding(a)
            if abs(furthest) <= rounding(a, i):
                a.scratch[a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i + ix.LEVEL_BAND] = rounding(a, i)
                found = True
    return found


def points_apart(a: Arrays, points: Reals, spacing: float, found: int) -> float:
    """How far apart the points may lie at which witnesses are looked at, by what was seen and promised.

    `spacing` is how far apart they were. Where a witness that declares its rate could have hidden something
    between two of them, at the largest of its rates, half of it: then such parts are halved, too. One that
    lies at zero until a crossing that was `found` has rates of rounding.
    """
    count = a.program[ix.WITNESSES]
    wanted = math.inf
    for i in range(count):
        lies = found != 0 and points[LEFT * (1 + 2 * count) + 1 + i] == 0.0
        if not is_condition(a, i) and not lies:
            wanted = min(wanted, spacing_for(points, count, i))
            if declared_rate(a, i) >= 0 and hides(points, count, i):
                wanted = min(wanted, 0.5 * spacing)
    length = a.clock[ix.TIME] - a.work[STEP_START]
    return min(max(wanted, length / MOST_PARTS), a.numbers[ix.SHORTEST_PULSE])


def compare_with_low(a: Arrays, target: int) -> None:
    """Which witnesses have crossed from the start of the window to now, into `places`."""
    count = a.program[ix.WITNESSES]
    for i in range(count):
        now = above(a, i, value(a, i))
        a.scratch[a.program[ix.NOW] + i] = now
        a.places[target + i] = 1 if has_crossed(a, i, a.scratch[a.program[ix.LOW] + i], now) else 0


def is_missing(a: Arrays, wanted: int, there: int) -> bool:
    """Whether a witness that has to cross has not."""
    missing = False
    for i in range(a.program[ix.WITNESSES]):
        missing = missing or (a.places[wanted + i] != 0 and a.places[there + i] == 0)
    return missing


def largest_shift(a: Arrays, wanted: int) -> float:
    """How much later the last of the witnesses crosses, by its present value and rate."""
    shift = 0.0
    first = True
    for i in range(a.program[ix.WITNESSES]):
        if a.places[wanted + i] != 0:
            part = a.scratch[a.program[ix.NOW] + i] / a.scratch[a.program[ix.RATES_NOW] + i]
            if part - part == 0.0:
                if first or -part > shift:
                    shift = -part
                first = False
    return shift


@part("Af>i")
def go_to(a: Arrays, length: float) -> int:
    """Take the step again so that it ends just past the crossing; CROSSED then says which have. 0 or a code.

    Dense output and a step of the method itself may differ about the zero: then it is bracketed on steps.
    """
    count = a.program[ix.WITNESSES]
    wanted = a.program[ix.CROSSED]
    there = a.program[ix.FIRED_BY]
    width = 1 + 2 * count
    stop = a.clock[ix.TIME]
    for i in range(count):
        low = a.scratch[a.program[ix.POINTS] + 1 + i]
        a.scratch[a.program[ix.LOW] + i] = low
        high = a.scratch[a.program[ix.POINTS] + width + 1 + i]
        a.places[wanted + i] = 1 if has_crossed(a, i, low, high) else 0
    time = a.scratch[a.program[ix.ENDS] + ix.WINDOW_END]
    reach = length
    before = a.work[STEP_START]
    if stop - time <= NEARLY * length:
        time = stop  # the step ends there already
    latest = before  # at which not all have crossed
    compare_with_low(a, there)
    earliest = math.inf if is_missing(a, wanted, there) else stop
    missing = False
    for n in range(CORRECTIONS):
        if a.clock[ix.TIME] != time:
            code = redo(a, time)
            if code != 0:
                return code
        compare_with_low(a, there)
        missing = is_missing(a, wanted, there)
        if missing:
            latest = time
        else:
            earliest = time
        look(a, min(1e-6, 1e-3 * (stop - before)))
        shift = largest_shift(a, wanted)
        if time >= stop or (not missing and (shift >= -length or earliest - latest <= length)):
            break
        guess = time + shift + 0.25 * length
        if not latest < guess < earliest or (n >= SECANTS and n % 2 == 0):
            guess = 0.5 * (latest + earliest)
            if missing and latest + reach < earliest:
                guess = latest + reach
                reach = 4.0 * reach
        if guess in (latest, earliest):
            break
        time = min(guess, stop)
        a.scratch[a.program[ix.ENDS] + ix.WINDOW_START] = max(time - length, before)
    if missing and earliest < math.inf:
        code = redo(a, earliest)
        if code != 0:
            return code
    compare_with_low(a, wanted)
    return 0


def is_lost(a: Arrays, i: int, since: float) -> bool:
    """Whether a witness, since its last event, was no further from zero than rounding: it is pressed there."""
    flown = since * abs(a.clock[memory_of(a, i) + ix.RATE])
    if not flown <= LOST * NEAR * largest_number(a):
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
    largest = largest_number(a)
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
        if abs(now) <= NEAR * max(largest, abs(before)):
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
    """The updates that a witness has triggered and that wait, into WAITING; their witnesses into FIRED_BY."""
    a.places[a.program[ix.WAS_PUSHED]] = 0
    for i in range(a.program[ix.WITNESSES]):
        a.places[a.program[ix.FIRED_BY] + i] = 0
        a.places[a.program[ix.WAS_SET] + i] = 0
    for entry in range(a.program[ix.ENTRIES] if a.program[ix.WITNESSES] > 0 else 0):
        row = row_of(a, entry)
        updating = a.program[row + ix.CAUSE] == TRIGGERED and a.program[row + ix.DOES] != ix.PUBLISH
        a.places[a.program[ix.WAITING] + entry] = 0
        if updating and a.agenda[ix.FIRST_ENTRY + entry] != 0:
            a.places[a.program[ix.WAITING] + entry] = 1
            a.places[a.program[ix.FIRED_BY] + a.program[row + ix.FLAG]] = 1


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
                largest = largest_number(a)
            if stops or abs(now) <= NEAR * max(largest, abs(a.clock[at + ix.VALUE])):
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
        a.clock[at + ix.LEVEL] = now if rests and not is_zero else 0.0
        a.clock[at + ix.GUARD] = side if guarded else side * PASSED if rests and not is_zero else 0.0
        # what flies off comes back exactly: with a band, flights as low as that would gain from falling below
        exact = rests and not stops
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
