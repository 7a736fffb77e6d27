"""Witnesses: what is kept of them from step to step, and ending a step just past one that crosses zero."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import FIXED, IS_CUBIC
from cosim.contracts.method_layout import START as STEP_START
from cosim.step import layout as ix
from cosim.step.arrays import Arrays, Reals
from cosim.step.codes import FAILED_ACCURACY, FAILED_SIDE
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
from cosim.step.event_log import NOT_A_NUMBER, WRONG_SIDE, tell
from cosim.step.forecast import foresee
from cosim.step.holds import (
    held_count,
    leave_out_held,
    note_held,
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
from cosim.step.triggered import fire, note_located
from cosim.step.watched import (
    RATE_SPACING,
    above,
    direction_of,
    is_condition,
    look,
    value,
)
from cosim.step.zeros import (
    ARRIVED,
    NOT_AT_ZERO,
    PASSED,
    come_out,
    is_near,
    is_out,
    largest_state,
    measure_rounding,
    note_zeros,
    rounding,
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
CLOSER = 0.1  # than the window: evaluations of witnesses are cheap, and late events add up
DIFFERENCE = 1e-6  # of the step: over which rates of witnesses that declare none are taken
WORTH_A_LOOK = 100.0  # windows: in shorter flights (that pile up) coordinates are mostly rounding
SEARCHES = 3  # of a step again, with more points, as the witnesses turn out to be faster
HALF_A_UNIT = 1.1102230246251568e-16  # a little more than half the distance from 1 to the next number


def start_witnesses(a: Arrays, goes_on: int) -> int:
    """At the beginning of a run, or where one goes on with another integrator; 0 or a code."""
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        was_started = witness.fired != 0.0
        has_come = witness.band >= 0.0 and witness.guard == 0.0
        same = goes_on != 0 and was_started and has_come and witness.value == value(a, i)
        a.places[a.program[ix.WAS_SET] + i] = 1 if same else 0
        witness.forget()
        witness.fired = -math.inf
        witness.expected = math.inf
    start_zeros(a)
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        if a.places[a.program[ix.WAS_SET] + i] != 0:
            witness.guard = 0.0
        now = value(a, i)
        witness.value = now
        tell_of_nan(a, i, now, a.clock[ix.TIME])
        way = direction_of(a, i)
        wrong = (way == ix.FALLING and now < 0.0) or (way == ix.RISING and now > 0.0)
        if wrong and not is_condition(a, i) and witness.band < 0.0:
            tell(a, WRONG_SIDE, i, now)
            if a.program[ix.POLICY] == ix.STOP_AT:
                a.places[ix.WITNESS] = i
                return FAILED_SIDE
    return 0


def note(a: Arrays) -> None:
    """At the end of a step: what is written from here on is a jump from these values."""
    for i in range(a.program[ix.WITNESSES]):
        now = value(a, i)
        a.witnesses[i].value = now
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


def foresees(a: Arrays) -> bool:
    """Whether steps may be made to end where an event is foreseen: not while a witness is held."""
    return a.settings[FIXED] == 0.0 and a.program[ix.CHEAP] != 0 and held_count(a) == 0


def next_expected(a: Arrays) -> float:
    """When the next crossing is expected; infinite when none is."""
    first = math.inf
    if foresees(a):
        for i in range(a.program[ix.WITNESSES]):
            expected = a.witnesses[i].expected
            if a.clock[ix.TIME] < expected < first:
                first = expected
    return first


def begin_watch(a: Arrays) -> None:
    """At the start of a step: the witnesses, and the levels that they are compared with."""
    leave_out_held(a)
    a.places[ix.HAS_BANDS] = 0
    for i in range(a.program[ix.WITNESSES]):
        witness = a.witnesses[i]
        now = value(a, i)
        if is_out(a, i, now):
            come_out(a, i, now)
        elif witness.level == 0.0 and witness.band < 0.0:
            witness.guard = 0.0
        guard = witness.guard
        a.scratch[a.program[ix.BEFORE] + i] = now
        rate = declared_rate(a, i)
        if rate >= 0:
            a.scratch[a.program[ix.RATES_BEFORE] + i] = a.c[rate]
        row = a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i
        a.scratch[row + ix.LEVEL_ZERO] = witness.level
        a.scratch[row + ix.LEVEL_GUARD] = 0.0 if abs(guard) == PASSED else guard
        # one that has come to zero and not passed it is still on the side from which it came
        has_arrived = abs(guard) == ARRIVED
        band = NOT_AT_ZERO if has_arrived else witness.band
        a.scratch[row + ix.LEVEL_BAND] = band
        if band > 0.0:
            a.places[ix.HAS_BANDS] = 1


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
            look(a, RATE_SPACING)
    else:
        code = complete(a) if a.settings[IS_CUBIC] == 0.0 else 0
        if code != 0:
            return code
        for m in range(a.work.shape[0]):
            a.scratch[a.program[ix.KEPT_WORK] + m] = a.work[m]
        # with what holds a witness, or remembers, values computed at an end again may be others
        remembers = held_count(a) > 0 or a.program[ix.RINGS] > 0 or a.program[ix.REMEMBERS] != 0
        a.places[ix.ENDS_KNOWN] = 1 if a.work[STEP_START] == start and not remembers else 0
        found = search(a, a.work[STEP_START], stop, length)
        if found == FOUND and is_noise(a):
            found = search(a, a.work[STEP_START], stop, length)
        a.places[ix.ENDS_KNOWN] = 0
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
            largest = largest_state(a)
        if is_near(a, i, furthest, before, largest):
            measure_rounding(a)
            if abs(furthest) <= rounding(a, i):
                a.scratch[a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i + ix.LEVEL_BAND] = rounding(a, i)
                a.places[ix.HAS_BANDS] = 1
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


def go_to(a: Arrays, length: float) -> int:
    """Take the step again so that it ends just past the crossing; CROSSED then says which have. 0 or a code.

    The rates of the witnesses there are in RATES_NOW, as `look` finds them.
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
    spacing = min(RATE_SPACING, 1e-3 * (stop - before))
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
        look(a, spacing)
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
    is_redone = missing and earliest < math.inf
    if is_redone:
        code = redo(a, earliest)
        if code != 0:
            return code
    if is_redone or spacing < RATE_SPACING:
        look(a, RATE_SPACING)
    compare_with_low(a, wanted)
    return 0
