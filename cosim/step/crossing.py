"""Finding the first time inside a step at which a witness crosses zero.

The solution is looked at through the integrator's dense output, and only the blocks that the witnesses need
are walked, so no derivative is evaluated. All witnesses are looked at together. What ``probe``, LEVELS and
ENDS hold is described in `cosim.step.layout`, the points in `cosim.step.seen`.
"""

from __future__ import annotations

import math

from cosim.contracts.method_layout import END as STEP_END
from cosim.contracts.method_layout import START as STEP_START
from cosim.step import layout as ix
from cosim.step.arrays import Arrays, Reals
from cosim.step.evaluation import probed
from cosim.step.realize import interpolate
from cosim.step.seen import (
    DEPTH,
    FIRST_STACKED,
    LEFT,
    MIDDLE,
    POINTS,
    QUARTERS,
    RIGHT,
    copy_row,
    may_hide,
    note_hidden,
    see,
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


def points_of(a: Arrays) -> tuple[Reals, int]:
    """The points at which a search looks, see `cosim.step.seen`, and how many numbers each of them has."""
    at = a.program[ix.POINTS]
    width = 1 + 2 * a.program[ix.WITNESSES]
    return a.scratch[at : at + POINTS * width], width


def declared_rate(a: Arrays, i: int) -> int:
    """Where in the cache a witness says how fast it changes; -1: nowhere."""
    return a.probe[ix.PROBE_WIDTH * i + ix.RATE_AT]


def has_crossed(a: Arrays, i: int, before: float, after: float) -> bool:
    """Whether going from one value to another, above its level, is an event of a witness."""
    guard = a.scratch[a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i + ix.LEVEL_GUARD]
    return crosses(before, after, a.probe[ix.PROBE_WIDTH * i + ix.DIRECTION], guard)


def copy_end(a: Arrays, c: Reals, at_start: bool) -> None:
    """The witnesses at one end of the step, with the rates that they declare, into a cache."""
    for i in range(a.program[ix.WITNESSES]):
        place = a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]
        c[place] = a.scratch[a.program[ix.BEFORE] + i] if at_start else a.c[place]
        rate = declared_rate(a, i)
        if rate >= 0:
            c[rate] = a.scratch[a.program[ix.RATES_BEFORE] + i] if at_start else a.c[rate]


def look_at(a: Arrays, t: float, at: int) -> int:
    """The witnesses at a time of the last step, into a point; 0 or 1 + the index of a failed block."""
    y, c = probed(a)
    kept = a.program[ix.KEPT_WORK]
    at_start = t == a.scratch[kept + STEP_START]
    status = 0
    if a.places[ix.ENDS_KNOWN] != 0 and (at_start or t == a.scratch[kept + STEP_END]):
        copy_end(a, c, at_start)
    else:
        interpolate(a, t, a.scratch[kept : kept + a.work.shape[0]])
        status = walk(a.watched, a.ints, 0, a.program[ix.WATCHED], t, y, a.p, a.d, a.k, a.h, c)
    points, width = points_of(a)
    row = at * width
    points[row] = t
    for i in range(a.program[ix.WITNESSES]):
        points[row + 1 + i] = c[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]] - level(a, i)
    if a.places[ix.HAS_BANDS] != 0:
        for i in range(a.program[ix.WITNESSES]):
            points[row + 1 + i] = above(a, i, c[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]])
    return status


def look_with_rates(a: Arrays, t: float, step: float, at: int) -> int:
    """As `look_at`, with their rates; a rate that is not declared is a difference over `step`."""
    count = a.program[ix.WITNESSES]
    points, width = points_of(a)
    row = points[at * width : at * width + width]
    missing = False
    for i in range(count):
        missing = missing or declared_rate(a, i) < 0
    if missing:
        status = look_at(a, t + step, at)
        if status != 0:
            return status
        for i in range(count):
            row[1 + count + i] = row[1 + i]
    status = look_at(a, t, at)
    _, c = probed(a)
    moved = (t + step) - t
    for i in range(count):
        rate = declared_rate(a, i)
        if rate >= 0:
            row[1 + count + i] = c[rate]
        elif moved == 0.0:
            row[1 + count + i] = 0.0
        else:
            row[1 + count + i] = (row[1 + count + i] - row[1 + i]) / moved
        see(points, count, i, t, row[1 + i], abs(row[1 + count + i]))
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


def search_extremum(a: Arrays, i: int, turn: int, difference: float, shortest: float) -> int:
    """Follow a dip of witness `i` between LEFT and RIGHT; 1 when it passes zero, at the time left in MIDDLE.

    The turn of the cubic through the ends is tried, every third time the middle, until the tangents show that
    zero is out of reach.
    """
    count = a.program[ix.WITNESSES]
    points, width = points_of(a)
    left = points[LEFT * width]
    v_left = points[LEFT * width + 1 + i]
    r_left = points[LEFT * width + 1 + count + i]
    right = points[RIGHT * width]
    v_right = points[RIGHT * width + 1 + i]
    r_right = points[RIGHT * width + 1 + count + i]
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
        status = look_with_rates(a, middle, difference, MIDDLE)
        if status != 0:
            return -status
        v = points[MIDDLE * width + 1 + i]
        r = points[MIDDLE * width + 1 + count + i]
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


def between_turns(work: Reals, count: int, i: int) -> float:
    """Where to look between LEFT and RIGHT when witness `i` may turn twice there; NaN when it may not.

    The cubic through the values and rates at both ends is asked. The answer lies a little behind its first
    turn, so that each turn has a part of its own.
    """
    width = 1 + 2 * count
    start = work[LEFT * width]
    step = work[RIGHT * width] - start
    rise = work[RIGHT * width + 1 + i] - work[LEFT * width + 1 + i]
    first = step * work[LEFT * width + 1 + count + i]
    last = step * work[RIGHT * width + 1 + count + i]
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
    left = work[LEFT * width + 1 + i]
    right = work[RIGHT * width + 1 + i]
    low = left + one * (first + one * (square + one * cubic))
    high = left + two * (first + two * (square + two * cubic))
    far = max(0.25 * min(abs(left), abs(right)), 1e-4 * max(abs(left), abs(right)))
    if left > 0.0 and right > 0.0 and low > far and high > far:
        return math.nan
    if left < 0.0 and right < 0.0 and low < -far and high < -far:
        return math.nan
    return start + (one + 0.1 * (two - one)) * step


def is_smooth(work: Reals, count: int, i: int) -> bool:
    """Whether witness `i` between LEFT and RIGHT is as the cubic through its values and rates foretells."""
    width = 1 + 2 * count
    step = work[RIGHT * width] - work[LEFT * width]
    a = work[LEFT * width + 1 + i]
    b = work[RIGHT * width + 1 + i]
    m = work[MIDDLE * width + 1 + i]
    if a != a or b != b or m != m:
        return True
    rates = work[LEFT * width + 1 + count + i] - work[RIGHT * width + 1 + count + i]
    foretold = 0.5 * (a + b) + 0.125 * step * rates
    nearest = min(abs(a), min(abs(b), abs(m)))
    largest = max(abs(a), max(abs(b), abs(m)))
    return abs(m - foretold) <= 0.25 * nearest + 1e-4 * largest


def first_guess(a: Arrays, points: Reals) -> float:
    """Where the first crossing between LEFT and RIGHT is if witnesses are straight; NaN when none crosses."""
    count = a.program[ix.WITNESSES]
    width = 1 + 2 * count
    left = points[LEFT * width]
    right = points[RIGHT * width]
    first = math.nan
    for i in range(count):
        v_left = points[LEFT * width + 1 + i]
        v_right = points[RIGHT * width + 1 + i]
        if has_crossed(a, i, v_left, v_right):
            guess = (v_right * left - v_left * right) / (v_right - v_left)
            if not left <= guess <= right:
                guess = 0.5 * (left + right)
            if not guess >= first:
                first = guess
    return first


def narrow(a: Arrays, window: float) -> int:
    """Shrink LEFT … RIGHT around the first crossing between them to `window`: the ITP method.

    At most one evaluation more than bisection, mostly far fewer, whatever the shape of the witnesses.
    """
    count = a.program[ix.WITNESSES]
    points, width = points_of(a)
    left = points[LEFT * width]
    right = points[RIGHT * width]
    if not right - left > window:
        return 0
    scale = 0.2 / (right - left)
    # twice the interval that is left when nothing but halving was done
    reach = window * math.pow(2.0, math.ceil(math.log((right - left) / window) / math.log(2.0)) + 1.0)
    row = points[MIDDLE * width : MIDDLE * width + width]
    while right - left > window:
        half = 0.5 * (left + right)
        guess = first_guess(a, points)
        side = 1.0 if half >= guess else -1.0
        shift = max(scale * (right - left) * (right - left), 0.25 * window)
        x = guess + side * shift if shift <= abs(half - guess) else half
        radius = max(0.5 * (reach - (right - left)), 0.0)
        if abs(x - half) > radius:
            x = half - side * radius
        reach = 0.5 * reach
        if not left < x < right:
            return 0
        status = look_at(a, x, MIDDLE)
        if status != 0:
            return status
        crossed = False
        for i in range(count):
            before = points[LEFT * width + 1 + i]
            if row[1 + i] != row[1 + i]:
                row[1 + i] = before
            crossed = crossed or has_crossed(a, i, before, row[1 + i])
        if crossed:
            copy_row(points, width, MIDDLE, RIGHT)
            right = x
        else:
            copy_row(points, width, MIDDLE, LEFT)
            left = x
    return 0


def first_crossing(a: Arrays, start: float, stop: float, window: float, difference: float, parts: int) -> int:
    """The first crossing between `start` and `stop`; FOUND leaves its window in ENDS, else minus a status.

    ENDS holds the values of the witnesses at the start and at the end of the step, above their levels. The
    points LEFT and RIGHT then are those of the window. `difference` is what undeclared rates are taken over.
    """
    count = a.program[ix.WITNESSES]
    points, width = points_of(a)
    ends = a.scratch[a.program[ix.ENDS] : a.program[ix.ENDS] + ix.ENDS_HEADER + 2 * count]
    if parts == PARTS:
        status = look_with_rates(a, start + ASKEW * (stop - start), difference, LEFT)
        if status != 0:
            return -status
    status = look_with_rates(a, start, difference, LEFT)
    if status != 0:
        return -status
    for i in range(count):
        points[LEFT * width + 1 + i] = ends[ix.ENDS_HEADER + i]
    for number in range(1, parts + 1):
        end = stop
        if number < parts:
            end = start + (stop - start) * (number / parts)
        status = look_with_rates(a, end, -difference, FIRST_STACKED)
        if status != 0:
            return -status
        if number == parts:
            for i in range(count):
                points[FIRST_STACKED * width + 1 + i] = ends[ix.ENDS_HEADER + count + i]
        elif parts == PARTS:
            copy_row(points, width, FIRST_STACKED, QUARTERS + number - 1)
        depth = 0
        dips = 0
        splits = 0
        while depth >= 0:
            copy_row(points, width, FIRST_STACKED + depth, RIGHT)
            again = False
            # a dip through zero makes a point of its own
            for i in range(count):
                turn = turns(
                    points[LEFT * width + 1 + i],
                    points[RIGHT * width + 1 + i],
                    points[LEFT * width + 1 + count + i],
                    points[RIGHT * width + 1 + count + i],
                )
                if turn != 0 and dips < 3 and depth < DEPTH + 1:
                    code = search_extremum(a, i, turn, difference, window)
                    if code < 0:
                        return code
                    if code > 0:
                        depth += 1
                        dips += 1
                        copy_row(points, width, MIDDLE, FIRST_STACKED + depth)
                        again = True
                        break
            if again:
                continue
            split = math.nan
            if depth < DEPTH and splits < SPLITS:
                for i in range(count):
                    at = between_turns(points, count, i)
                    if not at >= split:
                        split = at if at == at else split
            if points[LEFT * width] < split < points[RIGHT * width]:
                status = look_with_rates(a, split, difference, FIRST_STACKED + depth + 1)
                if status != 0:
                    return -status
                depth += 1
                splits += 1
                continue
            guess = first_guess(a, points)
            crossed = guess == guess
            if depth < DEPTH and points[RIGHT * width] - points[LEFT * width] > 4.0 * window:
                middle = 0.5 * (points[LEFT * width] + points[RIGHT * width])
                status = look_with_rates(a, middle, difference, MIDDLE)
                if status != 0:
                    return -status
                smooth = True
                long = points[RIGHT * width] - points[LEFT * width] > HIDING * difference
                for i in range(count):
                    smooth = smooth and is_smooth(points, count, i)
                    if parts > PARTS and long and declared_rate(a, i) >= 0:
                        smooth = smooth and not may_hide(points, count, i)
                if not smooth:
                    depth += 1
                    copy_row(points, width, MIDDLE, FIRST_STACKED + depth)
                    continue
            note_hidden(points, count)
            if crossed:
                status = narrow(a, window)
                if status != 0:
                    return -status
                ends[ix.WINDOW_START] = points[LEFT * width]
                ends[ix.WINDOW_END] = points[RIGHT * width]
                return FOUND
            copy_row(points, width, RIGHT, LEFT)
            depth -= 1
    return NOTHING_FOUND
