"""Foreseeing when witnesses cross zero beyond the end of a step.

It goes by how the witnesses ran inside the step. What it says is a proposal where the next step might end and
nothing more: whether a witness crosses there is found out as in every other step.

Each witness is taken for a cubic: that through its values at the end of the step and at the three quarters
before. What the value at the start of the step adds to it, a fourth power, says how far the cubic may be off.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.run_data.records.witnesses import MISSED, NOT_EXPECTED
from cosim.run_data.run import Run
from cosim.step.crossing import evaluate_at
from cosim.step.failures import BlockFailed
from cosim.step.search_points import LEFT, QUARTERS, points_of, time_at, values_at
from cosim.step.witness_values import level, value, value_above_level
from cosim.step.zeros import passing_triggers

MUCH_NEARER = (
    0.1  # of the step since a prediction that did not come true: the next has to be nearer than that
)
DIFFERENCE_ROUNDING = 1e-15  # of the values: so large is the rounding of a difference
LEAST_ERROR = 1e-16  # s
ROOT_STEPS = 60
MOST_NEIGHBOURS = 4
HALF_A_UNIT = 1.1102230246251568e-16  # a little more than half the distance from 1 to the next number
TRIES = 5
SAME_ZERO = 1e-13  # of the time: a try that moves it by less is the last


class Cubic(NamedTuple):
    """``value + rate x + bend x^2 + twist x^3``."""

    value: float
    rate: float
    bend: float
    twist: float


class Differences(NamedTuple):
    """Backward differences of five values at equal distances; those that are rounding are 0."""

    value: float  # the last one
    first: float
    second: float
    third: float
    fourth: float
    rounding: float  # of the values


class Prediction(NamedTuple):
    """When a witness may cross next, s (infinite: not soon), and by how much that may be wrong."""

    time: float
    predicted_error: float


NOT_SOON = Prediction(math.inf, 0.0)


def predict_crossings(run: Run, start: float, stop: float, aim: float, has_crossed: bool) -> None:
    """Predict when the witnesses may cross next, by the step that was kept and searched.

    The step goes from `start` to `stop`; the State is at its end, or at the event to which it was repeated.
    With `has_crossed` those in `has_crossed` have crossed: what handlers make of them is not known yet.
    """
    remaining = 0
    for i in range(len(run.witnesses)):
        remaining += 0 if has_crossed and run.has_crossed[i] != 0 else 1
    if remaining == 0:
        return
    try:
        evaluate_quarters(run, start, stop)
        for i in range(len(run.witnesses)):
            if not (has_crossed and run.has_crossed[i] != 0):
                renew_prediction(run, i, start, stop, aim)
    except BlockFailed:
        for witness in run.witnesses:
            witness.expected = NOT_EXPECTED
            witness.predicted_error = math.inf


def evaluate_quarters(run: Run, start: float, stop: float) -> None:
    """Evaluate the witnesses at the quarters of the step where the search has not been."""
    points = points_of(run)
    quarter = 0.25 * (stop - start)
    for number in range(3):
        time = start + (number + 1) * quarter
        if time_at(points, QUARTERS + number) != time:
            evaluate_at(run, time, QUARTERS + number)


def renew_prediction(run: Run, i: int, start: float, stop: float, aim: float) -> None:
    """Renew the time at which a witness is expected, which lies `aim` (s) behind its zero, and its error.

    NOT_EXPECTED: no crossing is predicted. MISSED: a predicted one did not come true, and the next would not
    have been much nearer; the witness is left alone until it crosses or is moved.
    """
    witness = run.witnesses[i]
    now = run.clock.time
    former = witness.expected
    prediction = predicted_crossing(run, i, start, stop)
    time = prediction.time + aim
    predicted_error = prediction.predicted_error
    if not predicted_error <= aim:
        time = NOT_EXPECTED  # a step that ends in front of a zero is one that was not asked for
    if now < former < math.inf and not predicted_error <= witness.predicted_error:
        time = former
        predicted_error = witness.predicted_error
    if former <= now and (former == MISSED or not time - now <= MUCH_NEARER * (now - start)):
        time = MISSED
    witness.expected = time
    witness.predicted_error = predicted_error


def predicted_crossing(run: Run, i: int, start: float, stop: float) -> Prediction:
    """The time at which the cubic of a witness leaves its sign, up to a step ahead of the State.

    A zero that lies inside the step is located on dense output itself.
    """
    zero = zero_beyond(run, i)
    present = value_above_level(run, i, value(run, i)) + zero
    if not passing_triggers(run.probes[i].direction, present, 0.0):
        return NOT_SOON
    now = run.clock.time
    quarter = 0.25 * (stop - start)
    ahead = (now - stop) / quarter
    differences = differences_of(run, i, zero)
    cubic = extrapolated(differences, ahead)
    horizon = min(run.step_memory.next_step, run.method_settings.largest_step)
    x = first_root(cubic, horizon / quarter) if cubic.value * present > 0.0 else math.nan
    if x != x:
        return NOT_SOON
    slope = rate_of_cubic(cubic, x)
    correction = -fourth_power(differences, x + ahead) / slope
    # what rounding of the differences can do to it
    rounding = differences.rounding * (1.0 + x * (2.0 + x * (1.0 + x))) / abs(slope)
    time = now + (x + correction) * quarter
    predicted_error = (abs(correction) + rounding) * quarter
    if now < time < stop:
        located = zero_inside(run, i, time, stop, slope / quarter, zero)
        if located.predicted_error < predicted_error:
            return Prediction(located.time, max(located.predicted_error, LEAST_ERROR))
    return Prediction(time, predicted_error)


def fourth_power(differences: Differences, x: float) -> float:
    """What the value at the start of the step adds to the cubic through the others, `x` behind its end."""
    return differences.fourth * x * (x + 1.0) * (x + 2.0) * (x + 3.0) / 24.0


def zero_beyond(run: Run, i: int) -> float:
    """What has to be added to a witness above its level so that the next zero lies at 0.

    That is the level itself once the witness has come out on the side that it guards: then it is compared
    with zero again. Until then it is 0.
    """
    present = value_above_level(run, i, value(run, i))
    is_out = run.levels[i].guard * (present + level(run, i)) > 0.0
    return level(run, i) if is_out else 0.0


def differences_of(run: Run, i: int, zero: float) -> Differences:
    """The differences of a witness, from quarter to quarter of the step, at its end."""
    points = points_of(run)
    v0 = run.start_values[i] + zero
    v1 = values_at(points, QUARTERS)[i] + zero
    v2 = values_at(points, QUARTERS + 1)[i] + zero
    v3 = values_at(points, QUARTERS + 2)[i] + zero
    v4 = run.stop_values[i] + zero
    rounding = DIFFERENCE_ROUNDING * max(max(abs(v0), abs(v1)), max(max(abs(v2), abs(v3)), abs(v4)))
    second = (v4 - v3) - (v3 - v2)
    third = second - ((v3 - v2) - (v2 - v1))
    fourth = third - (((v3 - v2) - (v2 - v1)) - ((v2 - v1) - (v1 - v0)))
    return Differences(
        v4,
        v4 - v3,
        zero_if_rounding(second, 4.0 * rounding),
        zero_if_rounding(third, 8.0 * rounding),
        zero_if_rounding(fourth, 16.0 * rounding),
        rounding,
    )


def zero_if_rounding(difference: float, rounding: float) -> float:
    """A difference, 0 where it is no more than rounding."""
    return 0.0 if abs(difference) <= rounding else difference


def extrapolated(differences: Differences, ahead: float) -> Cubic:
    """The cubic through the last four values, in powers of the distance from `ahead` of the last one."""
    rate = differences.first + 0.5 * differences.second + differences.third / 3.0
    bend = 0.5 * (differences.second + differences.third)
    twist = differences.third / 6.0
    return Cubic(
        differences.value + ahead * (rate + ahead * (bend + ahead * twist)),
        rate + ahead * (2.0 * bend + ahead * (3.0 * twist)),
        bend + ahead * (3.0 * twist),
        twist,
    )


def value_of_cubic(cubic: Cubic, x: float) -> float:
    """The value at `x`."""
    return cubic.value + x * (cubic.rate + x * (cubic.bend + x * cubic.twist))


def rate_of_cubic(cubic: Cubic, x: float) -> float:
    """The derivative at `x`."""
    return cubic.rate + x * (2.0 * cubic.bend + x * (3.0 * cubic.twist))


def has_left(cubic: Cubic, value: float) -> bool:
    """Whether a value has no longer the sign that the cubic has at 0."""
    return (value > 0.0) != (cubic.value > 0.0) or value == 0.0


def first_root(cubic: Cubic, end: float) -> float:
    """The smallest 0 < x <= `end` at which a cubic has not the sign that it has at 0; NaN when there is none.

    Between its turns it changes its sign at most once.
    """
    first_turn, second_turn = turns_of(cubic)
    low = 0.0
    for piece in range(3):
        high = first_turn if piece == 0 else (second_turn if piece == 1 else end)
        if not low < high:
            continue
        high = min(high, end)
        if has_left(cubic, value_of_cubic(cubic, high)):
            return root_between(cubic, low, high)
        if high == end:
            break
        low = high
    return math.nan


def turns_of(cubic: Cubic) -> tuple[float, float]:
    """The turning points of a cubic, the smaller one first; NaN for each that does not exist.

    Of the two ways to write a root of its derivative the one that does not cancel.
    """
    first = math.nan
    second = math.nan
    inside = cubic.bend * cubic.bend - 3.0 * cubic.twist * cubic.rate
    if inside > 0.0:
        stable = -(cubic.bend + math.copysign(math.sqrt(inside), cubic.bend))
        if stable != 0.0:
            first = cubic.rate / stable
        if cubic.twist != 0.0:
            second = stable / (3.0 * cubic.twist)
    if second < first or first != first:
        return second, first
    return first, second


def root_between(cubic: Cubic, low: float, high: float) -> float:
    """The place at which a cubic loses the sign that it has at `low`, before `high`: Newton in a bracket."""
    x = high
    neighbours = 0
    for _ in range(ROOT_STEPS):
        value_here = value_of_cubic(cubic, x)
        if has_left(cubic, value_here):
            high = x
        else:
            low = x
        slope = rate_of_cubic(cubic, x)
        guess = 0.5 * (low + high)
        if slope != 0.0:
            newton = x - value_here / slope
            if low < newton < high:
                guess = newton
            elif neighbours < MOST_NEIGHBOURS and abs(newton - x) <= 4.0 * HALF_A_UNIT * x:
                # there, up to rounding: the next number on the other side ends the search
                neighbours += 1
                guess = x - HALF_A_UNIT * x if x == high else x + HALF_A_UNIT * x
        if not low < guess < high or guess == x:
            break
        x = guess
    return high


def zero_inside(run: Run, i: int, guess: float, stop: float, rate: float, zero: float) -> Prediction:
    """Locate a zero of a witness between now and `stop`, near a guess, where its rate is `rate`: secants.

    The predicted error is by how much the last try has moved it.
    """
    time = guess
    moved = math.inf
    previous = 0.0
    for n in range(TRIES):
        evaluate_at(run, time, LEFT)
        value_here = values_at(points_of(run), LEFT)[i] + zero
        if n > 0 and moved != 0.0:
            rate = (value_here - previous) / moved
        if rate == 0.0 or value_here != value_here:
            break
        previous = value_here
        later = min(max(time - value_here / rate, run.clock.time), stop)
        moved = later - time
        time = later
        if abs(moved) <= SAME_ZERO * abs(later):
            break
    return Prediction(time, abs(moved))
