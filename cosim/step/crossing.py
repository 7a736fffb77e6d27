"""Kernel functions that find the first time inside a step at which a witness crosses zero.

They look at the solution through the integrator's dense output and walk only the blocks that the
witnesses need, so no derivative is evaluated. All witnesses are looked at together.

`probe`, `level` and `ends` are described in `cosim.step.layout`, the points in `work` in `cosim.step.seen`.
"""

from __future__ import annotations

import math

from cosim.compiled.walker import call_dense, walk
from cosim.step import layout as ix
from cosim.step.arrays import Integers, Reals
from cosim.step.seen import (
    DEPTH,
    FIRST_STACKED,
    LEFT,
    MIDDLE,
    RIGHT,
    copy_row,
    may_hide,
    note_hidden,
    see,
)

PARTS = 4  # of a step, looked at whatever the witnesses do
ASKEW = 0.4045  # of a step, (sqrt(5) + 1) / 8: one more look, as oscillations may keep time with the others
MOST_PARTS = 1024  # where they oscillate
HIDING = 1e3  # differences, a thousandth of the step: in shorter parts nothing hides that is fast elsewhere
EXTREMUM_STEPS = 30
NEAREST = 1e-6  # of a part: turns closer than that to an end or to each other are not told apart
SPLITS = 64  # of a part, between two turns: more are made by rounding alone
NOTHING_FOUND, FOUND = 0, 1  # a negative code: minus (1 + index of the block that failed)

SEARCH_SIGNATURE = "TIffFFIFFFIFFFFFffi>i"
RATES_SIGNATURE = "TIfFFFIFFIFFfF>i"


def crosses(before: float, after: float, direction: int, guard: float) -> bool:
    """Whether going from one value to another is an event; leaving zero only on guard, NaN is no value."""
    if before == 0.0:
        return (guard > 0.0 and after < 0.0) or (guard < 0.0 and after > 0.0)
    falls = direction % 2 == 1 and before > 0.0 and after <= 0.0
    rises = direction >= 2 and before < 0.0 and after >= 0.0
    return falls or rises


def evaluate(
    table: Integers,
    ints: Integers,
    t: float,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    y: Reals,
    c: Reals,
    probe: Integers,
    coefficients: Reals,
    dense: Reals,
    level: Reals,
    row: Reals,
) -> int:
    """The witnesses at a time of the last step, into `row`; 0 or 1 + the index of a failed block."""
    call_dense(probe[ix.PROBE_DENSE], (t, coefficients, dense, y, y))
    status = walk(table, ints, 0, probe[ix.PROBE_BLOCKS], t, y, p, d, k, h, c)
    row[0] = t
    for i in range(probe[ix.PROBE_WITNESSES]):
        row[1 + i] = (
            c[probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.VALUE_AT]]
            - level[ix.LEVEL_WIDTH * i + ix.LEVEL_ZERO]
        )
    return status


def point(
    table: Integers,
    ints: Integers,
    t: float,
    step: float,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    y: Reals,
    c: Reals,
    probe: Integers,
    coefficients: Reals,
    dense: Reals,
    level: Reals,
    work: Reals,
    at: int,
) -> int:
    """Values and rates of the witnesses at `t`; a rate that is not declared is a difference over `step`."""
    count = probe[ix.PROBE_WITNESSES]
    width = 1 + 2 * count
    row = work[at * width : at * width + width]
    missing = 0
    for i in range(count):
        if probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.RATE_AT] < 0:
            missing += 1
    if missing > 0:
        status = evaluate(table, ints, t + step, p, d, k, h, y, c, probe, coefficients, dense, level, row)
        if status != 0:
            return status
        for i in range(count):
            row[1 + count + i] = row[1 + i]
    status = evaluate(table, ints, t, p, d, k, h, y, c, probe, coefficients, dense, level, row)
    moved = (t + step) - t
    for i in range(count):
        rate = probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.RATE_AT]
        if rate >= 0:
            row[1 + count + i] = c[rate]
        elif moved == 0.0:
            row[1 + count + i] = 0.0
        else:
            row[1 + count + i] = (row[1 + count + i] - row[1 + i]) / moved
        see(work, count, i, t, row[1 + i], abs(row[1 + count + i]))
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


def search_extremum(
    table: Integers,
    ints: Integers,
    i: int,
    turn: int,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    y: Reals,
    c: Reals,
    probe: Integers,
    coefficients: Reals,
    dense: Reals,
    level: Reals,
    work: Reals,
    difference: float,
    shortest: float,
) -> int:
    """Follow a dip of witness `i` between LEFT and RIGHT; 1 when it passes zero, at the time left in MIDDLE.

    The turn of the cubic through the ends is tried, every third time the middle, until the tangents show that
    zero is out of reach.
    """
    count = probe[ix.PROBE_WITNESSES]
    width = 1 + 2 * count
    a = work[LEFT * width]
    va = work[LEFT * width + 1 + i]
    ra = work[LEFT * width + 1 + count + i]
    b = work[RIGHT * width]
    vb = work[RIGHT * width + 1 + i]
    rb = work[RIGHT * width + 1 + count + i]
    for n in range(EXTREMUM_STEPS):
        if not b - a > shortest or ra == rb:
            return 0
        step = b - a
        first = step * ra
        bend = 3.0 * (vb - va) - step * (2.0 * ra + rb)
        change = step * (ra + rb) - 2.0 * (vb - va)
        if va * vb > 0.0 and turn * bend >= 0.0 and turn * (bend + 3.0 * change) >= 0.0:
            # a convex function cannot reach below where the tangents at its two ends meet
            meet = (vb - va + ra * a - rb * b) / (ra - rb)
            if turn * (va + ra * (meet - a)) > 0.0:
                return 0
        inside = bend * bend - 3.0 * change * first
        part = 0.5
        if inside > 0.0 and n % 3 < 2:
            root = turn * math.sqrt(inside)
            if turn * bend >= 0.0:
                part = -first / (bend + root)
            elif change != 0.0:
                part = (root - bend) / (3.0 * change)
        if not 0.0 < part < 1.0:
            part = 0.5
        middle = a + part * step
        if not a < middle < b:
            return 0
        status = point(
            table,
            ints,
            middle,
            difference,
            p,
            d,
            k,
            h,
            y,
            c,
            probe,
            coefficients,
            dense,
            level,
            work,
            MIDDLE,
        )
        if status != 0:
            return -status
        v = work[MIDDLE * width + 1 + i]
        r = work[MIDDLE * width + 1 + count + i]
        if v != v or r != r:
            return 0
        if turn * v <= 0.0:
            return 1
        if turn * r < 0.0:
            a = middle
            va = v
            ra = r
        else:
            b = middle
            vb = v
            rb = r
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
    inside = square * square - 3.0 * cubic * first
    if not inside > 0.0 or cubic == 0.0:
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


def first_guess(work: Reals, count: int, probe: Integers, level: Reals) -> float:
    """Where the first crossing between LEFT and RIGHT is if witnesses are straight; NaN when none crosses."""
    width = 1 + 2 * count
    a = work[LEFT * width]
    b = work[RIGHT * width]
    first = math.nan
    for i in range(count):
        va = work[LEFT * width + 1 + i]
        vb = work[RIGHT * width + 1 + i]
        if crosses(
            va,
            vb,
            probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.DIRECTION],
            level[ix.LEVEL_WIDTH * i + ix.LEVEL_GUARD],
        ):
            guess = (vb * a - va * b) / (vb - va)
            if not a <= guess <= b:
                guess = 0.5 * (a + b)
            if not guess >= first:
                first = guess
    return first


def narrow(
    table: Integers,
    ints: Integers,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    y: Reals,
    c: Reals,
    probe: Integers,
    coefficients: Reals,
    dense: Reals,
    level: Reals,
    work: Reals,
    window: float,
) -> int:
    """Shrink LEFT … RIGHT around the first crossing between them to `window`: the ITP method.

    At most one evaluation more than bisection, mostly far fewer, whatever the shape of the witnesses.
    """
    count = probe[ix.PROBE_WITNESSES]
    width = 1 + 2 * count
    a = work[LEFT * width]
    b = work[RIGHT * width]
    if not b - a > window:
        return 0
    scale = 0.2 / (b - a)
    # twice the interval that is left when nothing but halving was done
    reach = window * math.pow(2.0, math.ceil(math.log((b - a) / window) / math.log(2.0)) + 1.0)
    row = work[MIDDLE * width : MIDDLE * width + width]
    while b - a > window:
        half = 0.5 * (a + b)
        guess = first_guess(work, count, probe, level)
        side = 1.0 if half >= guess else -1.0
        shift = max(scale * (b - a) * (b - a), 0.25 * window)
        x = guess + side * shift if shift <= abs(half - guess) else half
        radius = max(0.5 * (reach - (b - a)), 0.0)
        if abs(x - half) > radius:
            x = half - side * radius
        reach = 0.5 * reach
        if not a < x < b:
            return 0
        status = evaluate(table, ints, x, p, d, k, h, y, c, probe, coefficients, dense, level, row)
        if status != 0:
            return status
        crossed = False
        for i in range(count):
            before = work[LEFT * width + 1 + i]
            if row[1 + i] != row[1 + i]:
                row[1 + i] = before
            if crosses(
                before,
                row[1 + i],
                probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.DIRECTION],
                level[ix.LEVEL_WIDTH * i + ix.LEVEL_GUARD],
            ):
                crossed = True
        if crossed:
            copy_row(work, width, MIDDLE, RIGHT)
            b = x
        else:
            copy_row(work, width, MIDDLE, LEFT)
            a = x
    return 0


def first_crossing(
    table: Integers,
    ints: Integers,
    start: float,
    stop: float,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    y: Reals,
    c: Reals,
    probe: Integers,
    coefficients: Reals,
    dense: Reals,
    level: Reals,
    ends: Reals,
    work: Reals,
    window: float,
    difference: float,
    parts: int,
) -> int:
    """The first crossing between `start` and `stop`; FOUND leaves its window in ``ends[0:2]``.

    `ends` holds, from 2 on, the values of the witnesses at the start and at the end of the step, above
    their levels; `work` then has the points LEFT and RIGHT of the window.
    """
    count = probe[ix.PROBE_WITNESSES]
    width = 1 + 2 * count
    if parts == PARTS:
        b = start + ASKEW * (stop - start)
        status = point(
            table, ints, b, difference, p, d, k, h, y, c, probe, coefficients, dense, level, work, LEFT
        )
        if status != 0:
            return -status
    status = point(
        table, ints, start, difference, p, d, k, h, y, c, probe, coefficients, dense, level, work, LEFT
    )
    if status != 0:
        return -status
    for i in range(count):
        work[LEFT * width + 1 + i] = ends[ix.ENDS_HEADER + i]
    for part in range(1, parts + 1):
        b = stop
        if part < parts:
            b = start + (stop - start) * (part / parts)
        status = point(
            table,
            ints,
            b,
            -difference,
            p,
            d,
            k,
            h,
            y,
            c,
            probe,
            coefficients,
            dense,
            level,
            work,
            FIRST_STACKED,
        )
        if status != 0:
            return -status
        if part == parts:
            for i in range(count):
                work[FIRST_STACKED * width + 1 + i] = ends[ix.ENDS_HEADER + count + i]
        depth = 0
        dips = 0
        splits = 0
        while depth >= 0:
            copy_row(work, width, FIRST_STACKED + depth, RIGHT)
            again = False
            # a dip through zero makes a point of its own
            for i in range(count):
                turn = turns(
                    work[LEFT * width + 1 + i],
                    work[RIGHT * width + 1 + i],
                    work[LEFT * width + 1 + count + i],
                    work[RIGHT * width + 1 + count + i],
                )
                if turn != 0 and dips < 3 and depth < DEPTH + 1:
                    code = search_extremum(
                        table,
                        ints,
                        i,
                        turn,
                        p,
                        d,
                        k,
                        h,
                        y,
                        c,
                        probe,
                        coefficients,
                        dense,
                        level,
                        work,
                        difference,
                        window,
                    )
                    if code < 0:
                        return code
                    if code > 0:
                        depth += 1
                        dips += 1
                        copy_row(work, width, MIDDLE, FIRST_STACKED + depth)
                        again = True
                        break
            if again:
                continue
            split = math.nan
            if depth < DEPTH and splits < SPLITS:
                for i in range(count):
                    at = between_turns(work, count, i)
                    if not at >= split:
                        split = at if at == at else split
            if work[LEFT * width] < split < work[RIGHT * width]:
                status = point(
                    table,
                    ints,
                    split,
                    difference,
                    p,
                    d,
                    k,
                    h,
                    y,
                    c,
                    probe,
                    coefficients,
                    dense,
                    level,
                    work,
                    FIRST_STACKED + depth + 1,
                )
                if status != 0:
                    return -status
                depth += 1
                splits += 1
                continue
            guess = first_guess(work, count, probe, level)
            crossed = guess == guess
            if depth < DEPTH and work[RIGHT * width] - work[LEFT * width] > 4.0 * window:
                middle = 0.5 * (work[LEFT * width] + work[RIGHT * width])
                status = point(
                    table,
                    ints,
                    middle,
                    difference,
                    p,
                    d,
                    k,
                    h,
                    y,
                    c,
                    probe,
                    coefficients,
                    dense,
                    level,
                    work,
                    MIDDLE,
                )
                if status != 0:
                    return -status
                smooth = True
                long = work[RIGHT * width] - work[LEFT * width] > HIDING * difference
                for i in range(count):
                    smooth = smooth and is_smooth(work, count, i)
                    if (
                        parts > PARTS
                        and long
                        and probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.RATE_AT] >= 0
                    ):
                        smooth = smooth and not may_hide(work, count, i)
                if not smooth:
                    depth += 1
                    copy_row(work, width, MIDDLE, FIRST_STACKED + depth)
                    continue
            note_hidden(work, count)
            if crossed:
                status = narrow(
                    table, ints, p, d, k, h, y, c, probe, coefficients, dense, level, work, window
                )
                if status != 0:
                    return -status
                ends[ix.WINDOW_START] = work[LEFT * width]
                ends[ix.WINDOW_END] = work[RIGHT * width]
                return FOUND
            copy_row(work, width, RIGHT, LEFT)
            depth -= 1
    return NOTHING_FOUND


def rates_along(
    table: Integers,
    ints: Integers,
    t: float,
    y: Reals,
    p: Reals,
    d: Reals,
    k: Integers,
    h: Reals,
    c: Reals,
    probe: Integers,
    scratch_y: Reals,
    scratch_c: Reals,
    spacing: int,
    out: Reals,
) -> int:
    """How fast the witnesses change along the solution; ``c[0:n]`` is the derivative of `y` at `t`.

    Central differences: the curvature of the solution drops out. Returns 0 or 1 + a failed block.
    """
    count = probe[ix.PROBE_WITNESSES]
    later = t + spacing
    earlier = t - spacing
    for m in range(y.shape[0]):
        scratch_y[m] = y[m] + (later - t) * c[m]
    status = walk(table, ints, 0, probe[ix.PROBE_BLOCKS], later, scratch_y, p, d, k, h, scratch_c)
    if status != 0:
        return status
    for i in range(count):
        out[i] = scratch_c[probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.VALUE_AT]]
    for m in range(y.shape[0]):
        scratch_y[m] = y[m] + (earlier - t) * c[m]
    status = walk(table, ints, 0, probe[ix.PROBE_BLOCKS], earlier, scratch_y, p, d, k, h, scratch_c)
    for i in range(count):
        rate = probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.RATE_AT]
        if rate >= 0:
            out[i] = c[rate]
        elif later == earlier:
            out[i] = 0.0
        else:
            before = scratch_c[probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.VALUE_AT]]
            out[i] = (out[i] - before) / (later - earlier)
    return status
