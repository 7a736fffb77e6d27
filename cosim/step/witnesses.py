"""Witnesses: what is kept of them from step to step, and ending a step just past one that crosses zero."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import FIXED, IS_CUBIC
from cosim.contracts.method_layout import START as STEP_START
from cosim.step.codes import FAILED_ACCURACY, FAILED_SIDE
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.crossing import (
    FOUND,
    MOST_PARTS,
    PARTS,
    declared_rate,
    first_crossing,
    has_crossed,
)
from cosim.step.evaluation import copy_cache, probed
from cosim.step.event_log import NOT_A_NUMBER, WRONG_SIDE, tell
from cosim.step.forecast import foresee
from cosim.step.holds import (
    held_count,
    leave_out_held,
    note_held,
)
from cosim.step.plan import STOP_RUN
from cosim.step.realize import complete, redo
from cosim.step.records import FALLING, RISING
from cosim.step.run import Integers, Run
from cosim.step.search_points import (
    ASIDE,
    LEFT,
    RIGHT,
    Points,
    copy_point,
    forget_hidden,
    forget_seen,
    hides,
    highest_values,
    lowest_values,
    points_of,
    seen_without_value,
    spacing_for,
    values_at,
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


def start_witnesses(run: Run, goes_on: int) -> int:
    """At the beginning of a run, or where one goes on with another integrator; 0 or a code."""
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        was_started = witness.fired != 0.0
        has_come = witness.band >= 0.0 and witness.guard == 0.0
        same = goes_on != 0 and was_started and has_come and witness.value == value(run, i)
        run.was_set[i] = 1 if same else 0
        witness.forget()
        witness.fired = -math.inf
        witness.expected = math.inf
    start_zeros(run)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        if run.was_set[i] != 0:
            witness.guard = 0.0
        now = value(run, i)
        witness.value = now
        tell_of_nan(run, i, now, run.clock.time)
        way = direction_of(run, i)
        wrong = (way == FALLING and now < 0.0) or (way == RISING and now > 0.0)
        if wrong and not is_condition(run, i) and witness.band < 0.0:
            tell(run, WRONG_SIDE, i, now)
            if run.plan.policy == STOP_RUN:
                run.failure.witness = i
                return FAILED_SIDE
    return 0


def note(run: Run) -> None:
    """At the end of a step: what is written from here on is a jump from these values."""
    for i in range(len(run.witnesses)):
        now = value(run, i)
        run.witnesses[i].value = now
        tell_of_nan(run, i, now, run.clock.time)


def tell_of_nan(run: Run, i: int, now: float, t: float) -> None:
    """A finding where a witness is not a number at `t`, once in a run."""
    if now != now and run.reported_witnesses[i] == 0:
        run.reported_witnesses[i] = 1
        tell(run, NOT_A_NUMBER, i, t)


def tell_of_nan_inside(run: Run) -> None:
    """A finding where the search has seen a witness that was not a number before the present time."""
    points = points_of(run)
    i, t = seen_without_value(points)
    if i >= 0 and t <= run.clock.time:
        tell_of_nan(run, i, math.nan, t)


def foresees(run: Run) -> bool:
    """Whether steps may be made to end where an event is foreseen: not while a witness is held."""
    return run.settings[FIXED] == 0.0 and run.plan.restarts_cheaply != 0 and held_count(run) == 0


def next_expected(run: Run) -> float:
    """When the next crossing is expected; infinite when none is."""
    first = math.inf
    if foresees(run):
        for i in range(len(run.witnesses)):
            expected = run.witnesses[i].expected
            if run.clock.time < expected < first:
                first = expected
    return first


def begin_watch(run: Run) -> None:
    """At the start of a step: the witnesses, and the levels that they are compared with."""
    leave_out_held(run)
    run.course.has_bands = 0
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        now = value(run, i)
        if is_out(run, i, now):
            come_out(run, i, now)
        elif witness.level == 0.0 and witness.band < 0.0:
            witness.guard = 0.0
        guard = witness.guard
        run.values_before[i] = now
        rate = declared_rate(run, i)
        if rate >= 0:
            run.rates_before[i] = run.c[rate]
        level = run.levels[i]
        level.zero = witness.level
        level.guard = 0.0 if abs(guard) == PASSED else guard
        # one that has come to zero and not passed it is still on the side from which it came
        has_arrived = abs(guard) == ARRIVED
        band = NOT_AT_ZERO if has_arrived else witness.band
        level.band = band
        if band > 0.0:
            run.course.has_bands = 1


def isolation_window(run: Run) -> float:
    """To which length triggered events are located; NaN when they are not."""
    accuracy = run.options.accuracy
    fixed = run.settings[FIXED]
    if accuracy != accuracy:
        return math.nan
    shortest = max(1e-14, 1e-14 * abs(run.clock.time))
    return max(shortest, 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed == 0.0 else fixed))


def spacing_of(x: float) -> float:
    """Distance of a number that is not negative to the next one; without functions that not all have."""
    if x < 2.2250738585072014e-308:
        return 5e-324
    return (x + x * HALF_A_UNIT) - x


def trigger(run: Run, start: float) -> int:
    """End the step just past the first witness that crosses, and note what it triggers; 0 or a code."""
    count = len(run.witnesses)
    if count == 0:
        return 0
    forget_located(run)
    length = isolation_window(run)
    stop = run.clock.time
    attempted = stop - start
    located = False
    for i in range(count):
        before = above(run, i, run.values_before[i])
        after = above(run, i, value(run, i))
        run.start_values[i] = before
        run.stop_values[i] = after
        run.has_crossed[i] = 1 if has_crossed(run, i, before, after) else 0
        located = located or run.has_crossed[i] != 0
    if length != length:
        length = attempted
        if located and run.y.shape[0] > 0 and run.settings[FIXED] == 0.0:
            return FAILED_ACCURACY
        if located:
            note_located(run, start, 0)
            look(run, RATE_SPACING)
    else:
        code = complete(run) if run.settings[IS_CUBIC] == 0.0 else 0
        if code != 0:
            return code
        for m in range(run.work.shape[0]):
            run.searched_work[m] = run.work[m]
        # with what holds a witness, or remembers, values computed at an end again may be others
        remembers = held_count(run) > 0 or len(run.rings) > 0 or run.plan.remembers != 0
        run.course.ends_known = 1 if run.work[STEP_START] == start and not remembers else 0
        found = search(run, run.work[STEP_START], stop, length)
        if found == FOUND and is_noise(run):
            found = search(run, run.work[STEP_START], stop, length)
        run.course.ends_known = 0
        if found < 0:
            return -found
        located = False
        if found == FOUND:
            code = go_to(run, length)
            if code != 0:
                return code
            for i in range(count):
                located = located or run.has_crossed[i] != 0
            if located:
                note_located(run, min(run.search_window.start, run.clock.time), 1)
        tell_of_nan_inside(run)
        if foresees(run):
            foresee(run, start, stop, AIM * length)
    if located:
        fire(run, max(NEAR_BY * length, min(REPEATED, attempted / LONGER)))
    note_zeros(run, 1 if located else 0)
    note(run)
    note_held(run)
    return 0


def forget_located(run: Run) -> None:
    """No witness has crossed in this step so far."""
    run.located.start = math.nan


def search(run: Run, start: float, stop: float, window: float) -> int:
    """The first crossing in a part of the step that was kept: FOUND, another number, or minus a code."""
    count = len(run.witnesses)
    points = points_of(run)
    _, c = probed(run)
    copy_cache(run, run.c, c)
    shortest = max(CLOSER * window, 4.0 * spacing_of(abs(stop)))
    difference = DIFFERENCE * (stop - start)
    forget_seen(points)
    found = first_crossing(run, start, stop, shortest, difference, PARTS)
    if found < 0:
        run.failure.block = run.watched_blocks[-found - 1]
        return -CODE_BLOCK
    # What lies before may be hidden between the points: the first search stays as it is where nothing does.
    spacing = (stop - start) / PARTS
    for _ in range(SEARCHES):
        wanted = points_apart(run, points, spacing, 1 if found == FOUND else 0)
        end = run.search_window.start if found == FOUND else stop
        worth = 4.0 if run.options.shortest_pulse < spacing else WORTH_A_LOOK
        if not wanted < 0.999 * spacing or not end - start > worth * window:
            break
        parts = max(PARTS + 1, math.ceil((end - start) / wanted))
        spacing = (end - start) / parts
        last = run.search_window.end
        for i in range(count):
            if found == FOUND:
                run.stop_values[i] = values_at(points, LEFT)[i]
        copy_point(points, LEFT, ASIDE)
        copy_point(points, RIGHT, ASIDE + 1)
        forget_hidden(points)
        again = first_crossing(run, start, end, shortest, difference, parts)
        if again == FOUND:
            found = FOUND
            continue
        copy_point(points, ASIDE, LEFT)
        copy_point(points, ASIDE + 1, RIGHT)
        run.search_window.start = end
        run.search_window.end = last
        if again < 0:
            break
    for i in range(count):
        # for the forecast: where the whole step has ended
        run.stop_values[i] = above(run, i, value(run, i))
    return found


def is_noise(run: Run) -> bool:
    """Whether a witness that was found to cross was on the side from which it has by rounding alone.

    It then counts as zero there for the rest of this step. Such is one that comes from the other side and
    goes along zero, or back from it.
    """
    count = len(run.witnesses)
    points = points_of(run)
    largest = -1.0
    found = False
    for i in range(count):
        before = run.start_values[i]
        left = values_at(points, LEFT)[i]
        if not (before * left < 0.0 and has_crossed(run, i, left, values_at(points, RIGHT)[i])):
            continue
        furthest = (lowest_values(points) if left < 0.0 else highest_values(points))[i]
        if largest < 0.0:
            largest = largest_state(run)
        if is_near(run, i, furthest, before, largest):
            measure_rounding(run)
            if abs(furthest) <= rounding(run, i):
                run.levels[i].band = rounding(run, i)
                run.course.has_bands = 1
                found = True
    return found


def points_apart(run: Run, points: Points, spacing: float, found: int) -> float:
    """How far apart the points may lie at which witnesses are looked at, by what was seen and promised.

    `spacing` is how far apart they were. Where a witness that declares its rate could have hidden something
    between two of them, at the largest of its rates, half of it: then such parts are halved, too. One that
    lies at zero until a crossing that was `found` has rates of rounding.
    """
    count = len(run.witnesses)
    wanted = math.inf
    for i in range(count):
        lies = found != 0 and values_at(points, LEFT)[i] == 0.0
        if not is_condition(run, i) and not lies:
            wanted = min(wanted, spacing_for(points, i))
            if declared_rate(run, i) >= 0 and hides(points, i):
                wanted = min(wanted, 0.5 * spacing)
    length = run.clock.time - run.work[STEP_START]
    return min(max(wanted, length / MOST_PARTS), run.options.shortest_pulse)


def compare_with_low(run: Run, target: Integers) -> None:
    """Which witnesses have crossed from the start of the window to now, into `places`."""
    count = len(run.witnesses)
    for i in range(count):
        now = above(run, i, value(run, i))
        run.present_values[i] = now
        target[i] = 1 if has_crossed(run, i, run.window_values[i], now) else 0


def is_missing(run: Run, wanted: Integers, there: Integers) -> bool:
    """Whether a witness that has to cross has not."""
    missing = False
    for i in range(len(run.witnesses)):
        missing = missing or (wanted[i] != 0 and there[i] == 0)
    return missing


def largest_shift(run: Run, wanted: Integers) -> float:
    """How much later the last of the witnesses crosses, by its present value and rate."""
    shift = 0.0
    first = True
    for i in range(len(run.witnesses)):
        if wanted[i] != 0:
            part = run.present_values[i] / run.rates_now[i]
            if part - part == 0.0:
                if first or -part > shift:
                    shift = -part
                first = False
    return shift


def go_to(run: Run, length: float) -> int:
    """Take the step again so that it ends just past the crossing; CROSSED then says which have. 0 or a code.

    The rates of the witnesses there are in RATES_NOW, as `look` finds them.
    Dense output and a step of the method itself may differ about the zero: then it is bracketed on steps.
    """
    count = len(run.witnesses)
    wanted = run.has_crossed
    there = run.has_fired
    stop = run.clock.time
    for i in range(count):
        low = values_at(points_of(run), LEFT)[i]
        run.window_values[i] = low
        high = values_at(points_of(run), RIGHT)[i]
        wanted[i] = 1 if has_crossed(run, i, low, high) else 0
    time = run.search_window.end
    reach = length
    before = run.work[STEP_START]
    if stop - time <= NEARLY * length:
        time = stop  # the step ends there already
    latest = before  # at which not all have crossed
    spacing = min(RATE_SPACING, 1e-3 * (stop - before))
    compare_with_low(run, there)
    earliest = math.inf if is_missing(run, wanted, there) else stop
    missing = False
    for n in range(CORRECTIONS):
        if run.clock.time != time:
            code = redo(run, time)
            if code != 0:
                return code
        compare_with_low(run, there)
        missing = is_missing(run, wanted, there)
        if missing:
            latest = time
        else:
            earliest = time
        look(run, spacing)
        shift = largest_shift(run, wanted)
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
        run.search_window.start = max(time - length, before)
    is_redone = missing and earliest < math.inf
    if is_redone:
        code = redo(run, earliest)
        if code != 0:
            return code
    if is_redone or spacing < RATE_SPACING:
        look(run, RATE_SPACING)
    compare_with_low(run, wanted)
    return 0
