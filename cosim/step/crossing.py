"""Finding the first time inside a step at which a witness crosses zero.

The solution is looked at through the integrator's dense output, and only the blocks that the witnesses need
are walked, so no derivative is evaluated. All witnesses are looked at together. What ``probe``, LEVELS and
ENDS hold is described in `cosim.step.run`, the points in `cosim.step.search_points`.
"""

from __future__ import annotations

import math

from cosim.contracts.method_layout import END as STEP_END
from cosim.contracts.method_layout import START as STEP_START
from cosim.step.evaluation import probed
from cosim.step.realize import interpolate
from cosim.step.run import Reals, Run
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
    note_hidden,
    points_of,
    rates_at,
    see,
    set_time,
    time_at,
    values_at,
)
from cosim.step.watched import above, level
from cosim.step.zeros import EITHER
from cosim.walker import walk

PARTS = 4  # of a step, looked at whatever the witnesses do
ASKEW = 0.4045  # of a step, (sqrt(5) + 1) / 8: one more look, as oscillations may keep time with the others
MOST_PARTS = 1024  # where they oscillate
HIDING = 1e3  # differences, a thousandth of the step: in shorter parts nothing hides that is fast elsewhere
EXTREMUM_STEPS = 30
NEAREST = 1e-6  # of a part: turns closer than that to an end or to each other are not told apart
SPLITS = 64  # of a part, between two turns: more are made by rounding alone
NOTHING_FOUND, FOUND = 0, 1  # a negative code: minus (1 + index of the block that failed)


def crosses(before: float, after: float, direction: int, guard: float) -> bool:
    """Whether going from one value to another is an event; leaving zero only on guard, NaN is no value."""
    if before == 0.0:
        return (guard > 0.0 and after < 0.0) or ((guard < 0.0 or guard == EITHER) and after > 0.0)
    falls = direction % 2 == 1 and before > 0.0 and after <= 0.0
    rises = direction >= 2 and before < 0.0 and after >= 0.0
    return falls or rises


def declared_rate(run: Run, i: int) -> int:
    """Where in the cache a witness says how fast it changes; -1: nowhere."""
    return run.probes[i].rate


def has_crossed(run: Run, i: int, before: float, after: float) -> bool:
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


def look_at(run: Run, t: float, at: int) -> int:
    """The witnesses at a time of the last step, into a point; 0 or 1 + the index of a failed block."""
    y, c = probed(run)
    at_start = t == run.searched_work[STEP_START]
    status = 0
    if run.course.ends_known != 0 and (at_start or t == run.searched_work[STEP_END]):
        copy_end(run, c, at_start)
    else:
        interpolate(run, t, run.searched_work)
        status = walk(run.watched, run.ints, 0, len(run.watched_blocks), t, y, run.p, run.d, run.k, run.h, c)
    points = points_of(run)
    set_time(points, at, t)
    values = values_at(points, at)
    for i in range(len(run.witnesses)):
        values[i] = c[run.probes[i].value] - level(run, i)
    if run.course.has_bands != 0:
        for i in range(len(run.witnesses)):
            values[i] = above(run, i, c[run.probes[i].value])
    return status


def look_with_rates(run: Run, t: float, step: float, at: int) -> int:
    """As `look_at`, with their rates; a rate that is not declared is a difference over `step`."""
    count = len(run.witnesses)
    points = points_of(run)
    values = values_at(points, at)
    rates = rates_at(points, at)
    missing = False
    for i in range(count):
        missing = missing or declared_rate(run, i) < 0
    if missing:
        status = look_at(run, t + step, at)
        if status != 0:
            return status
        for i in range(count):
            rates[i] = values[i]
    status = look_at(run, t, at)
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
        see(points, i, t, values[i], abs(rates[i]))
    return status


def turns(left: float, right: float, left_rate: float, right_rate: float) -> int:
    """1 when a witness may dip to zero and come back between two points: which way it has to turn.

    1: positive at both ends, going down and coming up again; -1: the mirror image; 0: neither.
    """
    if right > 0.0 and left >= 0.0 and right_rate > 0.0 > left_rate:
        return 1
    if right < 0.0 and left <= 0.0 and right_rate < 0.0 < left_rate:
        return -1
    return 0


def search_extremum(run: Run, i: int, turn: int, difference: float, shortest: float) -> int:
    """Follow a dip of witness `i` between LEFT and RIGHT; 1 when it passes zero, at the time left in MIDDLE.

    The turn of the cubic through the ends is tried, every third time the middle, until the tangents show that
    zero is out of reach.
    """
    points = points_of(run)
    left = time_at(points, LEFT)
    v_left = values_at(points, LEFT)[i]
    r_left = rates_at(points, LEFT)[i]
    right = time_at(points, RIGHT)
    v_right = values_at(points, RIGHT)[i]
    r_right = rates_at(points, RIGHT)[i]
    for n in range(EXTREMUM_STEPS):
        if not right - left > shortest or r_left == r_right:
            return 0
        step = right - left
        first = step * r_left
        bend = 3.0 * (v_right - v_left) - step * (2.0 * r_left + r_right)
        change = step * (r_left + r_right) - 2.0 * (v_right - v_left)
        if v_left * v_right > 0.0 and turn * bend >= 0.0 and turn * (bend + 3.0 * change) >= 0.0:
            # a convex function cannot reach below where the tangents at its two ends meet
            meet = (v_right - v_left + r_left * left - r_right * right) / (r_left - r_right)
            if turn * (v_left + r_left * (meet - left)) > 0.0:
                return 0
        inside = bend * bend - 3.0 * change * first
        share = 0.5
        if inside > 0.0 and n % 3 < 2:
            root = turn * math.sqrt(inside)
            if turn * bend >= 0.0:
                share = -first / (bend + root)
            elif change != 0.0:
                share = (root - bend) / (3.0 * change)
        if not 0.0 < share < 1.0:
            share = 0.5
        middle = left + share * step
        if not left < middle < right:
            return 0
        status = look_with_rates(run, middle, difference, MIDDLE)
        if status != 0:
            return -status
        v = values_at(points, MIDDLE)[i]
        r = rates_at(points, MIDDLE)[i]
        if v != v or r != r:
            return 0
        if turn * v <= 0.0:
            return 1
        if turn * r < 0.0:
            left = middle
            v_left = v
            r_left = r
        else:
            right = middle
            v_right = v
            r_right = r
    return 0


def between_turns(points: Points, i: int) -> float:
    """Where to look between LEFT and RIGHT when witness `i` may turn twice there; NaN when it may not.

    The cubic through the values and rates at both ends is asked. The answer lies a little behind its first
    turn, so that each turn has a part of its own.
    """
    start = time_at(points, LEFT)
    step = time_at(points, RIGHT) - start
    rise = values_at(points, RIGHT)[i] - values_at(points, LEFT)[i]
    first = step * rates_at(points, LEFT)[i]
    last = step * rates_at(points, RIGHT)[i]
    cubic = first + last - 2.0 * rise
    square = 3.0 * rise - 2.0 * first - last
    if not (square * cubic < 0.0 and abs(square) < 3.0 * abs(cubic)):
        return math.nan  # the middle between its turns lies outside
    inside = square * square - 3.0 * cubic * first
    if not inside > 0.0:
        return math.nan
    root = math.sqrt(inside)
    one = (-square - root) / (3.0 * cubic)
    two = (-square + root) / (3.0 * cubic)
    if one > two:
        one, two = two, one
    if not (one > NEAREST and two < 1.0 - NEAREST and two - one > NEAREST):
        return math.nan
    left = values_at(points, LEFT)[i]
    right = values_at(points, RIGHT)[i]
    low = left + one * (first + one * (square + one * cubic))
    high = left + two * (first + two * (square + two * cubic))
    far = max(0.25 * min(abs(left), abs(right)), 1e-4 * max(abs(left), abs(right)))
    if left > 0.0 and right > 0.0 and low > far and high > far:
        return math.nan
    if left < 0.0 and right < 0.0 and low < -far and high < -far:
        return math.nan
    return start + (one + 0.1 * (two - one)) * step


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
    return abs(m - foretold) <= 0.25 * nearest + 1e-4 * largest


def first_guess(run: Run, points: Points) -> float:
    """Where the first crossing between LEFT and RIGHT is if witnesses are straight; NaN when none crosses."""
    count = len(run.witnesses)
    left = time_at(points, LEFT)
    right = time_at(points, RIGHT)
    first = math.nan
    for i in range(count):
        v_left = values_at(points, LEFT)[i]
        v_right = values_at(points, RIGHT)[i]
        if has_crossed(run, i, v_left, v_right):
            guess = (v_right * left - v_left * right) / (v_right - v_left)
            if not left <= guess <= right:
                guess = 0.5 * (left + right)
            if not guess >= first:
                first = guess
    return first


def narrow(run: Run, window: float) -> int:
    """Shrink LEFT … RIGHT around the first crossing between them to `window`: the ITP method.

    At most one evaluation more than bisection, mostly far fewer, whatever the shape of the witnesses.
    """
    count = len(run.witnesses)
    points = points_of(run)
    left = time_at(points, LEFT)
    right = time_at(points, RIGHT)
    if not right - left > window:
        return 0
    scale = 0.2 / (right - left)
    # twice the interval that is left when nothing but halving was done
    reach = window * math.pow(2.0, math.ceil(math.log((right - left) / window) / math.log(2.0)) + 1.0)
    middle = values_at(points, MIDDLE)
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
        if not left < x < right:
            return 0
        status = look_at(run, x, MIDDLE)
        if status != 0:
            return status
        crossed = False
        for i in range(count):
            before = values_at(points, LEFT)[i]
            if middle[i] != middle[i]:
                middle[i] = before
            crossed = crossed or has_crossed(run, i, before, middle[i])
        if crossed:
            copy_point(points, MIDDLE, RIGHT)
            right = x
        else:
            copy_point(points, MIDDLE, LEFT)
            left = x
    return 0


def first_crossing(run: Run, start: float, stop: float, window: float, difference: float, parts: int) -> int:
    """The first crossing between `start` and `stop`; FOUND leaves its window in ENDS, else minus a status.

    ENDS holds the values of the witnesses at the start and at the end of the step, above their levels. The
    points LEFT and RIGHT then are those of the window. `difference` is what undeclared rates are taken over.
    """
    count = len(run.witnesses)
    points = points_of(run)
    if parts == PARTS:
        status = look_with_rates(run, start + ASKEW * (stop - start), difference, LEFT)
        if status != 0:
            return -status
    status = look_with_rates(run, start, difference, LEFT)
    if status != 0:
        return -status
    for i in range(count):
        values_at(points, LEFT)[i] = run.start_values[i]
    for number in range(1, parts + 1):
        end = stop
        if number < parts:
            end = start + (stop - start) * (number / parts)
        status = look_with_rates(run, end, -difference, FIRST_STACKED)
        if status != 0:
            return -status
        if number == parts:
            for i in range(count):
                values_at(points, FIRST_STACKED)[i] = run.stop_values[i]
        elif parts == PARTS:
            copy_point(points, FIRST_STACKED, QUARTERS + number - 1)
        depth = 0
        dips = 0
        splits = 0
        while depth >= 0:
            copy_point(points, FIRST_STACKED + depth, RIGHT)
            again = False
            # a dip through zero makes a point of its own
            for i in range(count):
                turn = turns(
                    values_at(points, LEFT)[i],
                    values_at(points, RIGHT)[i],
                    rates_at(points, LEFT)[i],
                    rates_at(points, RIGHT)[i],
                )
                if turn != 0 and dips < 3 and depth < DEPTH + 1:
                    code = search_extremum(run, i, turn, difference, window)
                    if code < 0:
                        return code
                    if code > 0:
                        depth += 1
                        dips += 1
                        copy_point(points, MIDDLE, FIRST_STACKED + depth)
                        again = True
                        break
            if again:
                continue
            split = math.nan
            if depth < DEPTH and splits < SPLITS:
                for i in range(count):
                    at = between_turns(points, i)
                    if not at >= split:
                        split = at if at == at else split
            if time_at(points, LEFT) < split < time_at(points, RIGHT):
                status = look_with_rates(run, split, difference, FIRST_STACKED + depth + 1)
                if status != 0:
                    return -status
                depth += 1
                splits += 1
                continue
            guess = first_guess(run, points)
            crossed = guess == guess
            if depth < DEPTH and time_at(points, RIGHT) - time_at(points, LEFT) > 4.0 * window:
                middle = 0.5 * (time_at(points, LEFT) + time_at(points, RIGHT))
                status = look_with_rates(run, middle, difference, MIDDLE)
                if status != 0:
                    return -status
                smooth = True
                long = time_at(points, RIGHT) - time_at(points, LEFT) > HIDING * difference
                for i in range(count):
                    smooth = smooth and is_smooth(points, i)
                    if parts > PARTS and long and declared_rate(run, i) >= 0:
                        smooth = smooth and not may_hide(points, i)
                if not smooth:
                    depth += 1
                    copy_point(points, MIDDLE, FIRST_STACKED + depth)
                    continue
            note_hidden(points)
            if crossed:
                status = narrow(run, window)
                if status != 0:
                    return -status
                run.search_window.start = time_at(points, LEFT)
                run.search_window.end = time_at(points, RIGHT)
                return FOUND
            copy_point(points, RIGHT, LEFT)
            depth -= 1
    return NOTHING_FOUND
