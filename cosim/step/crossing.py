"""Finding the first time inside a step at which a witness crosses zero.

The solution is read from the integrator's dense output, and only the blocks that the witnesses need
are walked, so no derivative is evaluated. All witnesses are evaluated together. What the arrays of a
search hold is described in `cosim.run_data.run`, the points in `cosim.step.search_points`.

`first_crossing` goes through a step in parts, from left to right, and `crosses_in_part` through one of them:
a part is divided where something may hide in it (`dips_to_zero`, `first_turn`, `is_uneven`), and a crossing
between its ends is narrowed down (`narrow`). Between two points a witness counts as the cubic through its
values and rates there.

References
----------
I. F. D. Oliveira and R. H. C. Takahashi, "An Enhancement of the Bisection Method Average Performance
Preserving Minmax Optimality", ACM Transactions on Mathematical Software 47 (1), 2020: the ITP method.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.run_data.run import Reals, Run
from cosim.step.block_calls import probed
from cosim.step.integration import interpolate
from cosim.step.search_points import (
    DEPTH,
    FIRST_STACKED,
    LEFT,
    MIDDLE,
    QUARTERS,
    RIGHT,
    Points,
    copy_point,
    may_hide,
    points_of,
    rates_at,
    set_time,
    store_hidden_speeds,
    store_range,
    time_at,
    values_at,
)
from cosim.step.tape import record_touch, record_touches
from cosim.step.witness_values import (
    has_events,
    level,
    value_above_level,
    walk_watched,
)
from cosim.step.zeros import leaving_triggers, passing_triggers

PARTS = 4  # of a step, evaluated whatever the witnesses do
ASKEW = 0.4045  # of a step, (sqrt(5) + 1) / 8: one more point, as oscillations may keep time with the others
MOST_PARTS = 1024  # where they oscillate
RESOLVED = 1e-13  # of the time, some 500 spacings of numbers: rates over less are rounding
HIDING = (
    1e3  # of the length over which rates are taken: shorter parts are not divided for what may hide there
)
EXTREMUM_STEPS = 30
NEAREST = 1e-6  # of a part: turns closer than that to an end or to each other count as one
SPLITS = 64  # of a part, between two turns: more are made by rounding alone
MOST_DIPS = 3  # of a part that are followed
# so far may a witness be off from its cubic, and hide no crossing: of its value that is closest to zero, and
# of its largest one (less divides parts for rounding, more passes over dips)
OFF_OF_NEAREST, OFF_OF_LARGEST = 0.25, 1e-4
BEHIND_TURN = (
    0.1  # of the distance of two turns: a part that is divided there has one of them, not at its end
)
ITP_SCALE = 0.2  # of the square of the interval, over its first length: the guess is moved so far at least


class Reading(NamedTuple):
    """A witness at a time: its value above its level, and its rate."""

    time: float
    value: float
    rate: float


def reading_at(points: Points, point: int, i: int) -> Reading:
    """Witness `i` at a point."""
    return Reading(time_at(points, point), values_at(points, point)[i], rates_at(points, point)[i])


def crosses(before: float, after: float, direction: int, guard: float) -> bool:
    """Whether going from one value to another is an event; leaving zero only on guard, NaN is not a value."""
    return leaving_triggers(guard, after) if before == 0.0 else passing_triggers(direction, before, after)


def declared_rate(run: Run, i: int) -> int:
    """The offset in the cache of a witness's declared rate; -1: it declares none."""
    return run.probes[i].rate


def is_crossing(run: Run, i: int, before: float, after: float) -> bool:
    """Whether going from one value to another, above its level, is an event of a witness."""
    guard = run.levels[i].guard
    return crosses(before, after, run.probes[i].direction, guard)


def copy_end(run: Run, c: Reals, at_start: bool) -> None:
    """The witnesses at one end of the step, with the rates that they declare, into a cache."""
    for i in range(len(run.witnesses)):
        place = run.probes[i].value
        c[place] = run.values_before[i] if at_start else run.c[place]
        rate = declared_rate(run, i)
        if rate >= 0:
            c[rate] = run.rates_before[i] if at_start else run.c[rate]


def evaluate_at(run: Run, t: float, at: int) -> None:
    """Compute the witnesses at a time of the last step, into a point."""
    y, c = probed(run)
    at_start = t == run.searched_step.start
    if run.course.ends_known != 0 and (at_start or t == run.searched_step.end):
        copy_end(run, c, at_start)
    else:
        interpolate(run, t, run.searched_work)
        walk_watched(run, t, y, c)
    points = points_of(run)
    set_time(points, at, t)
    values = values_at(points, at)
    for i in range(len(run.witnesses)):
        values[i] = c[run.probes[i].value] - level(run, i)
    if run.course.has_bands != 0:
        for i in range(len(run.witnesses)):
            values[i] = value_above_level(run, i, c[run.probes[i].value])


def evaluate_with_rates(run: Run, t: float, step: float, at: int) -> None:
    """Evaluate the witnesses with their rates; undeclared rates are differences over `step`."""
    count = len(run.witnesses)
    points = points_of(run)
    values = values_at(points, at)
    rates = rates_at(points, at)
    missing = False
    for i in range(count):
        missing = missing or declared_rate(run, i) < 0
    if missing:
        evaluate_at(run, t + step, at)
        for i in range(count):
            rates[i] = values[i]
    evaluate_at(run, t, at)
    _, c = probed(run)
    moved = (t + step) - t
    for i in range(count):
        rate = declared_rate(run, i)
        if rate >= 0:
            rates[i] = c[rate]
        elif moved == 0.0:
            rates[i] = 0.0
        else:
            rates[i] = (rates[i] - values[i]) / moved
        store_range(points, i, t, values[i], abs(rates[i]))


def turn_between(left: float, right: float, left_rate: float, right_rate: float) -> int:
    """The direction in which a witness may turn that dips to zero and comes back between two points.

    1: positive at both ends, going down and coming up again; -1: the mirror image; 0: neither.
    """
    if right > 0.0 and left >= 0.0 and right_rate > 0.0 > left_rate:
        return 1
    if right < 0.0 and left <= 0.0 and right_rate < 0.0 < left_rate:
        return -1
    return 0


def search_extremum(run: Run, i: int, turn: int, difference: float, shortest: float) -> bool:
    """Follow a dip of witness `i` between LEFT and RIGHT; whether it passes zero, at a time left in MIDDLE.

    The turn of the cubic through the ends is tried, every third time the middle, until the tangents show that
    zero is out of reach.
    """
    points = points_of(run)
    has_turns = rates_show_turns(points, difference)
    left = reading_at(points, LEFT, i)
    right = reading_at(points, RIGHT, i)
    for n in range(EXTREMUM_STEPS):
        step = right.time - left.time
        if not step > shortest or left.rate == right.rate:
            break
        middle = time_of_turn(left, right, turn, n % 3 == 2)
        if not left.time < middle < right.time:
            break
        evaluate_with_rates(run, middle, difference, MIDDLE)
        inside = reading_at(points, MIDDLE, i)
        if inside.value != inside.value or inside.rate != inside.rate:
            return False
        if turn * inside.value <= 0.0:
            if has_turns:
                record_touch(run, i, middle, inside.value, inside.rate, (right.rate - left.rate) / step)
            return True
        if turn * inside.rate < 0.0:
            left = inside
        else:
            right = inside
    if has_turns and right.time > left.time:
        bend = (right.rate - left.rate) / (right.time - left.time)
        if abs(left.value) < abs(right.value):
            record_touch(run, i, left.time, left.value, left.rate, bend)
        else:
            record_touch(run, i, right.time, right.value, right.rate, bend)
    return False


def time_of_turn(left: Reading, right: Reading, turn: int, halves: bool) -> float:
    """The time at which a dip between two points may turn; NaN where it cannot reach zero.

    It turns where the cubic through both does; with `halves` the answer is the middle instead.
    """
    step = right.time - left.time
    # the cubic, x from 0 to 1 over the step: left.value + slope x + bend x^2 + change x^3
    slope = step * left.rate
    bend = 3.0 * (right.value - left.value) - step * (2.0 * left.rate + right.rate)
    change = step * (left.rate + right.rate) - 2.0 * (right.value - left.value)
    is_convex = turn * bend >= 0.0 and turn * (bend + 3.0 * change) >= 0.0
    if left.value * right.value > 0.0 and is_convex:
        # a convex function cannot reach below where the tangents at its two ends meet
        rise = right.value - left.value + left.rate * left.time - right.rate * right.time
        meet = rise / (left.rate - right.rate)
        if turn * (left.value + left.rate * (meet - left.time)) > 0.0:
            return math.nan
    share = 0.5 if halves else turn_of_cubic(slope, bend, change, turn)
    return left.time + share * step


def turn_of_cubic(slope: float, bend: float, change: float, turn: int) -> float:
    """The place of the minimum (`turn` 1) or maximum (-1) of a cubic between 0 and 1; 0.5 without one.

    Of the two ways to write a root of ``slope + 2 bend x + 3 change x^2`` the one that does not cancel.
    """
    square = bend * bend - 3.0 * change * slope
    share = 0.5
    if square > 0.0:
        root = turn * math.sqrt(square)
        if turn * bend >= 0.0:
            share = -slope / (bend + root)
        elif change != 0.0:
            share = (root - bend) / (3.0 * change)
    return share if 0.0 < share < 1.0 else 0.5


def place_between_turns(points: Points, i: int) -> float:
    """The place at which to divide LEFT … RIGHT if witness `i` may turn twice there; NaN if it may not.

    It may where the cubic through the values and rates at both ends does, and comes close to zero at a turn.
    The answer lies a little behind its first turn, so that each turn has a part of its own.
    """
    start = time_at(points, LEFT)
    step = time_at(points, RIGHT) - start
    left = values_at(points, LEFT)[i]
    right = values_at(points, RIGHT)[i]
    first = step * rates_at(points, LEFT)[i]
    last = step * rates_at(points, RIGHT)[i]
    # the cubic, x from 0 to 1 over the step: left + first x + square x^2 + cubic x^3
    cubic = first + last - 2.0 * (right - left)
    square = 3.0 * (right - left) - 2.0 * first - last
    earlier_turn, later_turn = turns_inside(first, square, cubic)
    if earlier_turn != earlier_turn:
        return math.nan
    low = left + earlier_turn * (first + earlier_turn * (square + earlier_turn * cubic))
    high = left + later_turn * (first + later_turn * (square + later_turn * cubic))
    # no turn that stays on one side, this far from zero, hides a crossing
    nearest = min(abs(left), abs(right))
    far = max(OFF_OF_NEAREST * nearest, OFF_OF_LARGEST * max(abs(left), abs(right)))
    if left > 0.0 and right > 0.0 and low > far and high > far:
        return math.nan
    if left < 0.0 and right < 0.0 and low < -far and high < -far:
        return math.nan
    return start + (earlier_turn + BEHIND_TURN * (later_turn - earlier_turn)) * step


def turns_inside(first: float, square: float, cubic: float) -> tuple[float, float]:
    """The two turns of a cubic with these coefficients between 0 and 1; NaN where it has not both there."""
    if not (square * cubic < 0.0 and abs(square) < 3.0 * abs(cubic)):
        return math.nan, math.nan  # the middle between its turns lies outside
    inside = square * square - 3.0 * cubic * first
    if not inside > 0.0:
        return math.nan, math.nan
    root = math.sqrt(inside)
    earlier = (-square - root) / (3.0 * cubic)
    later = (-square + root) / (3.0 * cubic)
    if earlier > later:
        earlier, later = later, earlier
    if not (earlier > NEAREST and later < 1.0 - NEAREST and later - earlier > NEAREST):
        return math.nan, math.nan
    return earlier, later


def is_smooth(points: Points, i: int) -> bool:
    """Whether witness `i` between LEFT and RIGHT is as the cubic through its values and rates foretells."""
    step = time_at(points, RIGHT) - time_at(points, LEFT)
    a = values_at(points, LEFT)[i]
    b = values_at(points, RIGHT)[i]
    m = values_at(points, MIDDLE)[i]
    if a != a or b != b or m != m:
        return True
    rates = rates_at(points, LEFT)[i] - rates_at(points, RIGHT)[i]
    foretold = 0.5 * (a + b) + 0.125 * step * rates
    nearest = min(abs(a), min(abs(b), abs(m)))
    largest = max(abs(a), max(abs(b), abs(m)))
    return abs(m - foretold) <= OFF_OF_NEAREST * nearest + OFF_OF_LARGEST * largest


def first_guess(run: Run, points: Points) -> float:
    """The first crossing between LEFT and RIGHT of witnesses that are straight; NaN if none crosses."""
    count = len(run.witnesses)
    left = time_at(points, LEFT)
    right = time_at(points, RIGHT)
    first = math.nan
    for i in range(count):
        v_left = values_at(points, LEFT)[i]
        v_right = values_at(points, RIGHT)[i]
        if is_crossing(run, i, v_left, v_right):
            guess = (v_right * left - v_left * right) / (v_right - v_left)
            if not left <= guess <= right:
                guess = 0.5 * (left + right)
            if not guess >= first:
                first = guess
    return first


def narrow(run: Run, window: float) -> None:
    """Shrink LEFT … RIGHT around the first crossing between them to `window`: the ITP method.

    The secant's guess, moved a little toward the middle so that the far end comes closer too, and no further
    from the middle than bisection, one evaluation behind, allows. So it takes at most one evaluation more
    than bisection, mostly far fewer, whatever the shape of the witnesses.
    """
    points = points_of(run)
    left = time_at(points, LEFT)
    right = time_at(points, RIGHT)
    if not right - left > window:
        return
    scale = ITP_SCALE / (right - left)
    # twice the interval that is left when nothing but halving was done
    reach = window * math.pow(2.0, math.ceil(math.log((right - left) / window) / math.log(2.0)) + 1.0)
    while right - left > window:
        half = 0.5 * (left + right)
        guess = first_guess(run, points)
        side = 1.0 if half >= guess else -1.0
        shift = max(scale * (right - left) * (right - left), 0.25 * window)
        x = guess + side * shift if shift <= abs(half - guess) else half
        radius = max(0.5 * (reach - (right - left)), 0.0)
        if abs(x - half) > radius:
            x = half - side * radius
        reach = 0.5 * reach
        if not left < x < right:  # rounded to an end
            x = half
        if not left < x < right:
            return
        if evaluate_middle(run, x):
            right = x
        else:
            left = x


def evaluate_middle(run: Run, x: float) -> bool:
    """Move LEFT or RIGHT to `x`, so that the first crossing stays between them; whether RIGHT was moved."""
    points = points_of(run)
    evaluate_at(run, x, MIDDLE)
    middle = values_at(points, MIDDLE)
    crossed = False
    for i in range(points.witnesses):
        before = values_at(points, LEFT)[i]
        if middle[i] != middle[i]:
            middle[i] = before
        crossed = crossed or is_crossing(run, i, before, middle[i])
    copy_point(points, MIDDLE, RIGHT if crossed else LEFT)
    return crossed


def first_crossing(run: Run, start: float, stop: float, window: float, difference: float, parts: int) -> bool:
    """Whether a witness crosses between `start` and `stop`; `search_window` then holds the first crossing.

    `start_values` and `stop_values` are those at the start and at the end of the step, above their levels.
    The points LEFT and RIGHT then are those of the window. `difference` is what undeclared rates are taken
    over.
    """
    if parts == PARTS:  # for its values and rates alone (`store_range`): the start then replaces it in LEFT
        evaluate_with_rates(run, start + ASKEW * (stop - start), difference, LEFT)
    evaluate_start(run, start, difference)
    for number in range(1, parts + 1):
        evaluate_end(run, start, stop, difference, parts, number)
        if crosses_in_part(run, window, difference, parts > PARTS):
            store_window(run)
            return True
    return False


def evaluate_start(run: Run, start: float, difference: float) -> None:
    """The witnesses at the start of a search, into LEFT."""
    points = points_of(run)
    evaluate_with_rates(run, start, difference, LEFT)
    for i in range(points.witnesses):
        values_at(points, LEFT)[i] = run.start_values[i]


def evaluate_end(run: Run, start: float, stop: float, difference: float, parts: int, number: int) -> None:
    """The witnesses at the end of the part of that number, from 1, into the first stacked point."""
    points = points_of(run)
    end = stop
    if number < parts:
        end = start + (stop - start) * (number / parts)
    evaluate_with_rates(run, end, -difference, FIRST_STACKED)
    if number == parts:
        for i in range(points.witnesses):
            values_at(points, FIRST_STACKED)[i] = run.stop_values[i]
    elif parts == PARTS:
        copy_point(points, FIRST_STACKED, QUARTERS + number - 1)


def store_window(run: Run) -> None:
    """The crossing lies between LEFT and RIGHT."""
    points = points_of(run)
    run.search_window.start = time_at(points, LEFT)
    run.search_window.end = time_at(points, RIGHT)


def crosses_in_part(run: Run, window: float, difference: float, is_fine: bool) -> bool:
    """Whether a witness crosses between LEFT and the first stacked point; LEFT and RIGHT are then its window.

    Where something may hide in the part, a point inside is stacked in front, and the part up to there is
    searched first: a dip through zero, two turns, a witness that is not as smooth as a cubic.
    """
    points = points_of(run)
    depth = 0
    dips = 0
    splits = 0
    while depth >= 0:
        copy_point(points, FIRST_STACKED + depth, RIGHT)
        if dips < MOST_DIPS and depth < DEPTH + 1 and dips_to_zero(run, difference, window):
            depth += 1
            dips += 1
            copy_point(points, MIDDLE, FIRST_STACKED + depth)
            continue
        split = first_turn(run, points) if depth < DEPTH and splits < SPLITS else math.nan
        if time_at(points, LEFT) < split < time_at(points, RIGHT):
            evaluate_with_rates(run, split, difference, FIRST_STACKED + depth + 1)
            depth += 1
            splits += 1
            continue
        if depth < DEPTH and is_uneven(run, window, difference, is_fine):
            depth += 1
            copy_point(points, MIDDLE, FIRST_STACKED + depth)
            continue
        store_hidden_speeds(points)
        if rates_show_turns(points, difference):
            record_touches(run, points)
        guess = first_guess(run, points)
        if guess == guess:
            narrow(run, window)
            return True
        copy_point(points, RIGHT, LEFT)
        depth -= 1
    return False


def is_longer_than_rates(points: Points, difference: float) -> bool:
    """Whether the length over which rates are taken is short beside the part between LEFT and RIGHT."""
    return time_at(points, RIGHT) - time_at(points, LEFT) > HIDING * difference


def rates_show_turns(points: Points, difference: float) -> bool:
    """Whether rates, taken over a difference, show where witnesses turn: over too short a one they round."""
    is_resolved = difference > RESOLVED * abs(time_at(points, RIGHT))
    return is_resolved and is_longer_than_rates(points, difference)


def dips_to_zero(run: Run, difference: float, window: float) -> bool:
    """Whether a witness dips through zero between LEFT and RIGHT, at a time left in MIDDLE."""
    points = points_of(run)
    for i in range(points.witnesses):
        if not has_events(run, i):
            continue
        turn = turn_between(
            values_at(points, LEFT)[i],
            values_at(points, RIGHT)[i],
            rates_at(points, LEFT)[i],
            rates_at(points, RIGHT)[i],
        )
        if turn != 0 and search_extremum(run, i, turn, difference, window):
            return True
    return False


def first_turn(run: Run, points: Points) -> float:
    """The place at which to divide LEFT … RIGHT if a witness may turn twice there; NaN if none may."""
    first = math.nan
    for i in range(points.witnesses):
        time = place_between_turns(points, i) if has_events(run, i) else math.nan
        if time == time and not time >= first:
            first = time
    return first


def is_uneven(run: Run, window: float, difference: float, is_fine: bool) -> bool:
    """Whether between LEFT and RIGHT, at MIDDLE, a witness is not as smooth as a cubic.

    In a fine search also whether one that declares its rate could hide something there.
    """
    points = points_of(run)
    length = time_at(points, RIGHT) - time_at(points, LEFT)
    if not length > 4.0 * window:
        return False
    evaluate_with_rates(run, 0.5 * (time_at(points, LEFT) + time_at(points, RIGHT)), difference, MIDDLE)
    uneven = False
    for i in range(points.witnesses):
        if not has_events(run, i):
            continue
        uneven = uneven or not is_smooth(points, i)
        if is_fine and is_longer_than_rates(points, difference) and declared_rate(run, i) >= 0:
            uneven = uneven or may_hide(points, i)
    return uneven
