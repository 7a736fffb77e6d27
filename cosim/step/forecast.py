"""A kernel function that foresees when witnesses cross zero behind the end of a step.

It goes by how the witnesses ran inside the step. What it says is a proposal where the next step might end and
nothing more: whether a witness crosses there is found out as in every other step.
"""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.arrays import Integers, Reals
from cosim.step.crossing import evaluate

FORECAST_SIGNATURE = "TIffffFFIFFFIFFFFFFf>i"
CLOSER = 0.1  # of the step behind a time that did not come true: the next one has to be nearer than that
NOISE = 1e-15  # of the values: so large is the rounding of a difference
MOST_STEPS = 60
TRIES = 5


def first_root(value: float, rate: float, bend: float, twist: float, end: float) -> float:
    """The smallest 0 < x <= end at which value + rate x + bend x^2 + twist x^3 has not the sign of `value`.

    NaN when there is none. Between the turns of the cubic Newton's method is followed inside a bracket.
    """
    one = math.nan  # the turns
    two = math.nan
    inside = bend * bend - 3.0 * twist * rate
    if inside > 0.0:
        stable = -(bend + math.copysign(math.sqrt(inside), bend))
        if stable != 0.0:
            one = rate / stable
        if twist != 0.0:
            two = stable / (3.0 * twist)
    if two < one or one != one:
        one, two = two, one
    low = 0.0
    for piece in range(3):
        high = one if piece == 0 else (two if piece == 1 else end)
        if not low < high:
            continue
        high = min(high, end)
        there = value + high * (rate + high * (bend + high * twist))
        if (there > 0.0) != (value > 0.0) or there == 0.0:
            x = high
            for _ in range(MOST_STEPS):
                now = value + x * (rate + x * (bend + x * twist))
                if (now > 0.0) == (value > 0.0) and now != 0.0:
                    low = x
                else:
                    high = x
                slope = rate + x * (2.0 * bend + x * (3.0 * twist))
                guess = 0.5 * (low + high)
                if slope != 0.0 and low < x - now / slope < high:
                    guess = x - now / slope
                if not low < guess < high or guess == x:
                    break
                x = guess
            return high
        if high == end:
            break
        low = high
    return math.nan


def settle(
    table: Integers,
    ints: Integers,
    time: float,
    first: float,
    last: float,
    rate: float,
    i: int,
    zero: float,
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
    out: Reals,
) -> int:
    """A zero of witness `i` inside the step, near `time`: ``out[0]``, and by how much the last try moved it.

    `rate` is how fast the witness changes there. Returns 0, or 1 + the index of a block that failed.
    """
    out[0] = time
    out[1] = math.inf
    before = 0.0
    for n in range(TRIES):
        status = evaluate(table, ints, out[0], p, d, k, h, y, c, probe, coefficients, dense, level, row)
        if status != 0:
            return status
        value = row[1 + i] + zero
        if n > 0 and out[1] != 0.0:
            rate = (value - before) / out[1]
        if rate == 0.0 or value != value:
            return 0
        before = value
        moved = min(max(out[0] - value / rate, first), last)
        out[1] = moved - out[0]
        out[0] = moved
        if abs(out[1]) <= 1e-13 * abs(moved):
            return 0
    return 0


def forecast(
    table: Integers,
    ints: Integers,
    start: float,
    stop: float,
    now: float,
    horizon: float,
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
    expected: Reals,
    aim: float,
) -> int:
    """Renew the times at which witnesses are expected; 0, or 1 + the index of a block that failed.

    Each witness is taken for the polynomial through its values at the ends of the step from `start` to `stop`
    and at three points between, up to `horizon` (s) behind `now`, where the State is: the end, or the event
    to which the step was taken again. Zeros that lie inside the step are looked for on dense output itself.

    Parameters
    ----------
    ends : ndarray
        From 2 on the values of the witnesses at start and stop, above their levels, and at `now`.
    expected : ndarray
        For each witness a time and by how much it may be wrong, s. Infinite: none is expected. Minus
        infinite: an expected one did not come true, and the next would not have been much nearer; the
        witness is left alone until it crosses or is moved.
    aim : float
        s; so far behind a zero the time lies.
    """
    count = probe[ix.PROBE_WITNESSES]
    width = 1 + 2 * count
    quarter = 0.25 * (stop - start)
    for part in range(1, 4):
        row = work[part * width : part * width + width]
        status = evaluate(
            table, ints, start + part * quarter, p, d, k, h, y, c, probe, coefficients, dense, level, row
        )
        if status != 0:
            return status
    row = work[:width]
    found = work[4 * width : 4 * width + 2]
    behind = (now - stop) / quarter
    for i in range(count):
        zero = 0.0
        at = ix.LEVEL_WIDTH * i
        present = ends[ix.ENDS_HEADER + 2 * count + i]
        if level[at + ix.LEVEL_GUARD] * (present + level[at + ix.LEVEL_ZERO]) > 0.0:
            zero = level[at + ix.LEVEL_ZERO]  # it is out on the other side: zero is zero again
        value = present + zero
        way = probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.DIRECTION]
        before = expected[ix.EXPECTED_WIDTH * i + ix.EXPECTED_TIME]
        time = math.inf
        doubt = 0.0
        if (value > 0.0 and way % 2 == 1) or (value < 0.0 and way >= 2):
            v0 = ends[ix.ENDS_HEADER + i] + zero
            v1 = work[width + 1 + i] + zero
            v2 = work[2 * width + 1 + i] + zero
            v3 = work[3 * width + 1 + i] + zero
            v4 = ends[ix.ENDS_HEADER + count + i] + zero
            size = NOISE * max(max(abs(v0), abs(v1)), max(max(abs(v2), abs(v3)), abs(v4)))
            second = (v4 - v3) - (v3 - v2)
            third = second - ((v3 - v2) - (v2 - v1))
            fourth = third - (((v3 - v2) - (v2 - v1)) - ((v2 - v1) - (v1 - v0)))
            second = 0.0 if abs(second) <= 4.0 * size else second
            third = 0.0 if abs(third) <= 8.0 * size else third
            fourth = 0.0 if abs(fourth) <= 16.0 * size else fourth
            # the cubic through the last four points, in powers of the time behind the stop, in quarters
            rate = (v4 - v3) + 0.5 * second + third / 3.0
            bend = 0.5 * (second + third)
            twist = third / 6.0
            # and behind the present time
            there = v4 + behind * (rate + behind * (bend + behind * twist))
            rate += behind * (2.0 * bend + behind * (3.0 * twist))
            bend += behind * (3.0 * twist)
            x = math.nan
            if there * value > 0.0:
                x = first_root(there, rate, bend, twist, horizon / quarter)
            if x == x:
                slope = rate + x * (2.0 * bend + x * (3.0 * twist))
                far = x + behind
                more = -fourth * far * (far + 1.0) * (far + 2.0) * (far + 3.0) / 24.0 / slope
                # what rounding of the differences can do to it
                rounding = size * (1.0 + x * (2.0 + x * (1.0 + x))) / abs(slope)
                time = now + (x + more) * quarter
                doubt = (abs(more) + rounding) * quarter
                if now < time < stop:
                    status = settle(
                        table, ints, time, now, stop, slope / quarter, i, zero,
                        p, d, k, h, y, c, probe, coefficients, dense, level, row, found,
                    )  # fmt: skip
                    if status != 0:
                        return status
                    if abs(found[1]) < doubt:
                        time = found[0]
                        doubt = max(abs(found[1]), 1e-16)
                time += aim
            if not doubt <= aim:
                time = math.inf  # a step that ends in front of a zero is one that was not asked for
            if now < before < math.inf and not doubt <= expected[ix.EXPECTED_WIDTH * i + ix.EXPECTED_DOUBT]:
                time = before
                doubt = expected[ix.EXPECTED_WIDTH * i + ix.EXPECTED_DOUBT]
        if before <= now and (before == -math.inf or not time - now <= CLOSER * (now - start)):
            time = -math.inf
        expected[ix.EXPECTED_WIDTH * i + ix.EXPECTED_TIME] = time
        expected[ix.EXPECTED_WIDTH * i + ix.EXPECTED_DOUBT] = doubt
    return 0
