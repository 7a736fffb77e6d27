"""Foreseeing when witnesses cross zero behind the end of a step.

It goes by how the witnesses ran inside the step. What it says is a proposal where the next step might end and
nothing more: whether a witness crosses there is found out as in every other step.
"""

from __future__ import annotations

import math

from cosim.run_data.run import Run
from cosim.step.crossing import evaluate_at
from cosim.step.failures import BlockFailed
from cosim.step.search_points import LEFT, QUARTERS, points_of, time_at, values_at
from cosim.step.watched import above, level, value

CLOSER = 0.1  # of the step behind a time that did not come true: the next one has to be nearer than that
NOISE = 1e-15  # of the values: so large is the rounding of a difference
MOST_STEPS = 60
MOST_NEIGHBOURS = 4
UNIT = 1.1102230246251568e-16  # of a number, a little more than half the distance to the next one
TRIES = 5


def first_root(value: float, rate: float, bend: float, twist: float, end: float) -> float:
    """The smallest 0 < x <= end at which value + rate x + bend x^2 + twist x^3 has not the sign of `value`.

    NaN when there is none. Between the turns of the cubic Newton's method is followed inside a bracket.
    """
    first_turn = math.nan  # the turns
    second_turn = math.nan
    inside = bend * bend - 3.0 * twist * rate
    if inside > 0.0:
        stable = -(bend + math.copysign(math.sqrt(inside), bend))
        if stable != 0.0:
            first_turn = rate / stable
        if twist != 0.0:
            second_turn = stable / (3.0 * twist)
    if second_turn < first_turn or first_turn != first_turn:
        first_turn, second_turn = second_turn, first_turn
    low = 0.0
    for piece in range(3):
        high = first_turn if piece == 0 else (second_turn if piece == 1 else end)
        if not low < high:
            continue
        high = min(high, end)
        value_at_end = value + high * (rate + high * (bend + high * twist))
        if (value_at_end > 0.0) != (value > 0.0) or value_at_end == 0.0:
            x = high
            neighbours = 0
            for _ in range(MOST_STEPS):
                now = value + x * (rate + x * (bend + x * twist))
                if (now > 0.0) == (value > 0.0) and now != 0.0:
                    low = x
                else:
                    high = x
                slope = rate + x * (2.0 * bend + x * (3.0 * twist))
                guess = 0.5 * (low + high)
                if slope != 0.0:
                    newton = x - now / slope
                    if low < newton < high:
                        guess = newton
                    elif neighbours < MOST_NEIGHBOURS and abs(newton - x) <= 4.0 * UNIT * x:
                        # there, up to rounding: the next number on the other side ends the search
                        neighbours += 1
                        guess = x - UNIT * x if x == high else x + UNIT * x
                if not low < guess < high or guess == x:
                    break
                x = guess
            return high
        if high == end:
            break
        low = high
    return math.nan


def settle(
    run: Run, i: int, time: float, first: float, last: float, rate: float, zero: float
) -> tuple[float, float]:
    """Look for a zero of witness `i` inside the step, near `time`, where its rate is `rate`.

    Returns it, and by how much the last try has moved it.
    """
    moved = math.inf
    before = 0.0
    for n in range(TRIES):
        evaluate_at(run, time, LEFT)
        value = values_at(points_of(run), LEFT)[i] + zero
        if n > 0 and moved != 0.0:
            rate = (value - before) / moved
        if rate == 0.0 or value != value:
            break
        before = value
        later = min(max(time - value / rate, first), last)
        moved = later - time
        time = later
        if abs(moved) <= 1e-13 * abs(later):
            break
    return time, moved


def predict_crossings(run: Run, start: float, stop: float, aim: float) -> None:
    """Predict when the witnesses may cross next, by the step that was kept and searched."""
    try:
        forecast(run, start, stop, aim)
    except BlockFailed:
        for witness in run.witnesses:
            witness.expected = math.inf
            witness.doubt = math.inf


def forecast(run: Run, start: float, stop: float, aim: float) -> None:
    """Renew the times at which witnesses are expected.

    Each witness is taken for the polynomial through its values at the ends of the step from `start` to `stop`
    and at three points between, up to a step behind now, where the State is: the end, or the event to which
    the step was taken again. Zeros that lie inside the step are looked for on dense output itself.

    What is kept of a witness is a time and by how much it may be wrong, s. Infinite: none is expected. Minus
    infinite: an expected one did not come true, and the next would not have been much nearer; the witness is
    left alone until it crosses or is moved. The time lies `aim` (s) behind a zero.
    """
    count = len(run.witnesses)
    points = points_of(run)
    now = run.clock.time
    horizon = min(run.step_memory.next_step, run.method_settings.largest_step)
    quarter = 0.25 * (stop - start)
    for number in range(3):
        time = start + (number + 1) * quarter
        if time_at(points, QUARTERS + number) != time:  # else the search has looked there
            evaluate_at(run, time, QUARTERS + number)
    behind = (now - stop) / quarter
    for i in range(count):
        witness = run.witnesses[i]
        zero = 0.0
        guard = run.levels[i].guard
        present = above(run, i, value(run, i))
        if guard * (present + level(run, i)) > 0.0:
            zero = level(run, i)  # it is out on the other side: zero is zero again
        current_value = present + zero
        direction = run.probes[i].direction
        before = witness.expected
        time = math.inf
        doubt = 0.0
        if (current_value > 0.0 and direction % 2 == 1) or (current_value < 0.0 and direction >= 2):
            v0 = run.start_values[i] + zero
            v1 = values_at(points, QUARTERS)[i] + zero
            v2 = values_at(points, QUARTERS + 1)[i] + zero
            v3 = values_at(points, QUARTERS + 2)[i] + zero
            v4 = run.stop_values[i] + zero
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
            value_behind = v4 + behind * (rate + behind * (bend + behind * twist))
            rate += behind * (2.0 * bend + behind * (3.0 * twist))
            bend += behind * (3.0 * twist)
            x = math.nan
            if value_behind * current_value > 0.0:
                x = first_root(value_behind, rate, bend, twist, horizon / quarter)
            if x == x:
                slope = rate + x * (2.0 * bend + x * (3.0 * twist))
                far = x + behind
                correction = -fourth * far * (far + 1.0) * (far + 2.0) * (far + 3.0) / 24.0 / slope
                # what rounding of the differences can do to it
                rounding = size * (1.0 + x * (2.0 + x * (1.0 + x))) / abs(slope)
                time = now + (x + correction) * quarter
                doubt = (abs(correction) + rounding) * quarter
                if now < time < stop:
                    settled, moved = settle(run, i, time, now, stop, slope / quarter, zero)
                    if abs(moved) < doubt:
                        time = settled
                        doubt = max(abs(moved), 1e-16)
                time += aim
            if not doubt <= aim:
                time = math.inf  # a step that ends in front of a zero is one that was not asked for
            if now < before < math.inf and not doubt <= witness.doubt:
                time = before
                doubt = witness.doubt
        if before <= now and (before == -math.inf or not time - now <= CLOSER * (now - start)):
            time = -math.inf
        witness.expected = time
        witness.doubt = doubt
