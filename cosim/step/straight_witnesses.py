"""Parts of a step that need no search: the dense output is a cubic and all witnesses are straight.

A straight witness is a sum of states and the time, each times a constant. Along a cubic it is a cubic as
well, so its values at the quarters of a step show all that it does there: between two of them it changes its
sign at most as often as the coefficients of its Bernstein form. Where these leave no doubt, a search would
only confirm that nothing crosses, and the cubic shows where a witness does.

References
----------
G. Farin, "Curves and Surfaces for Computer-Aided Geometric Design", 1988: the convex hull of Bernstein's
form, and that a polynomial changes its sign at most as often as its coefficients.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.run_data.run import Run
from cosim.step.crossing import PARTS, evaluate_at, evaluate_middle, is_crossing, narrow
from cosim.step.forecast import Cubic, rate_of_cubic, value_of_cubic
from cosim.step.integration import method_arrays
from cosim.step.search_points import (
    LEFT,
    QUARTERS,
    RIGHT,
    Points,
    points_of,
    set_time,
    time_at,
    values_at,
)

UNCLEAR = -1
"""What `first_part` finds where a search has to."""
NOISE = 1e-9  # of the values: four differences of a cubic are zero but for rounding
CLEAR = 1e-6  # of the values: coefficients that are nearer to zero leave a doubt
LEAVES = 1e-12  # of the values: a rate at a zero that is smaller may be rounding
NEWTON_STEPS = 8
WORSE = 1e3  # times the fourth difference, which shows rounding: the same


def first_part(run: Run, start: float, stop: float) -> int:
    """The quarter of a step in which a witness crosses first, once; PARTS where none does, or UNCLEAR.

    `start_values` and `stop_values` are those at its ends, above their levels.
    """
    if not are_straight(run):
        return UNCLEAR
    points = points_of(run)
    for number in range(1, PARTS):
        evaluate_at(run, start + (stop - start) * (number / PARTS), QUARTERS + number - 1)
    part = 0
    while part < PARTS and not some_witness_crosses(run, points, part):
        part += 1
    for i in range(points.witnesses):
        if not is_clear(run, points, i, part):
            return UNCLEAR
    return part


def are_straight(run: Run) -> bool:
    """Whether all witnesses are straight, none is held, and dense output is a cubic that meets both ends."""
    if run.course.ends_known == 0 or run.method_settings.is_cubic == 0.0:
        return False
    straight = method_arrays(run).work.dense_ready == 0.0
    for kind in run.witness_kinds:
        straight = straight and kind.is_straight != 0
    return straight


def value_at(run: Run, points: Points, i: int, number: int) -> float:
    """Witness `i` above its level at a quarter of the step: 0 its start … 4 its end."""
    if number == 0:
        return run.start_values[i]
    if number == PARTS:
        return run.stop_values[i]
    return values_at(points, QUARTERS + number - 1)[i]


def witness_crosses(run: Run, points: Points, i: int, part: int) -> bool:
    """Whether going from one end of a part to the other is an event of witness `i`."""
    return is_crossing(run, i, value_at(run, points, i, part), value_at(run, points, i, part + 1))


def some_witness_crosses(run: Run, points: Points, part: int) -> bool:
    """Whether going from one end of a part to the other is an event of any witness."""
    some = False
    for i in range(points.witnesses):
        some = some or witness_crosses(run, points, i, part)
    return some


class Quarters(NamedTuple):
    """The differences of a witness at the quarters of a step, which say all about a cubic."""

    first: float  # forward, at the start of the step
    second: float
    third: float
    fourth: float  # rounding
    largest: float  # of the values


def quarters_of(run: Run, points: Points, i: int) -> Quarters:
    """The differences of witness `i` at the quarters of the step."""
    w0 = run.start_values[i]
    w1 = value_at(run, points, i, 1)
    w2 = value_at(run, points, i, 2)
    w3 = value_at(run, points, i, 3)
    w4 = run.stop_values[i]
    second = (w2 - w1) - (w1 - w0)
    third = ((w3 - w2) - (w2 - w1)) - second
    fourth = (((w4 - w3) - (w3 - w2)) - ((w3 - w2) - (w2 - w1))) - third
    largest = max(max(abs(w0), abs(w1)), max(max(abs(w2), abs(w3)), abs(w4)))
    return Quarters(w1 - w0, second, third, fourth, largest)


def is_clear(run: Run, points: Points, i: int, crossed: int) -> bool:
    """Whether witness `i` keeps its sign up to the part `crossed`, and changes it there once if it crosses.

    In each part the coefficients of Bernstein's form are its values at both ends, and two between them that
    follow from its rates there. NaN is never clear.
    """
    quarters = quarters_of(run, points, i)
    largest = quarters.largest
    if not (largest > 0.0 and abs(quarters.fourth) <= NOISE * largest):
        return False
    least = CLEAR * largest
    least_rate = max(LEAVES * largest, WORSE * abs(quarters.fourth))
    rate = third_of_rate(quarters, 0.0)
    for part in range(min(crossed + 1, PARTS)):
        before = value_at(run, points, i, part)
        after = value_at(run, points, i, part + 1)
        rate_after = third_of_rate(quarters, part + 1.0)
        # the sign that it has or leaves zero for, and both inner coefficients on that side
        sign = 1.0 if before > 0.0 or (before == 0.0 and rate > 0.0) else -1.0
        inner = sign * (before + rate)
        inner_after = sign * (after - rate_after)
        if before == 0.0 and (part > 0 or not inner > least_rate):
            return False
        if part == crossed and witness_crosses(run, points, i, part):
            if not (sign * after <= 0.0 and (inner > least or inner_after < -least)):
                return False
        elif not (inner > least and inner_after > least and sign * after > 0.0):
            return False
        rate = rate_after
    return True


def locate_crossing(run: Run, start: float, stop: float, part: int, window: float) -> None:
    """Locate the first crossing in a part that `first_part` has found: `search_window` then holds it.

    The cubic says where it lies, and two points close to that, on either side, show it on dense output.
    """
    points = points_of(run)
    length = (stop - start) / PARTS
    begin = start + (stop - start) * (part / PARTS)
    set_time(points, LEFT, begin)
    set_time(points, RIGHT, stop if part == PARTS - 1 else start + (stop - start) * ((part + 1) / PARTS))
    first = 1.0
    for i in range(points.witnesses):
        values_at(points, LEFT)[i] = value_at(run, points, i, part)
        values_at(points, RIGHT)[i] = value_at(run, points, i, part + 1)
        if witness_crosses(run, points, i, part):
            cubic = cubic_behind(run, points, i, part)
            first = min(first, near_root(cubic, 0.1 * window / length))
    guess = begin + first * length
    for side in range(2):
        time = guess + (0.25 - 0.5 * side) * window
        if time_at(points, LEFT) < time < time_at(points, RIGHT):
            evaluate_middle(run, time)
    narrow(run, window)
    run.search_window.start = time_at(points, LEFT)
    run.search_window.end = time_at(points, RIGHT)


def cubic_behind(run: Run, points: Points, i: int, part: int) -> Cubic:
    """A cubic with the zeros of witness `i` behind the start of a part, 0, to its end, 1."""
    quarters = quarters_of(run, points, i)
    value = value_at(run, points, i, part)
    rate = 3.0 * third_of_rate(quarters, float(part))
    bend = 0.5 * (quarters.second + quarters.third * (part - 1.0))
    twist = quarters.third / 6.0
    if value == 0.0:
        return Cubic(rate, bend, twist, 0.0)  # divided by the distance
    return Cubic(value, rate, bend, twist)


def near_root(cubic: Cubic, close: float) -> float:
    """A place up to `close` from the zero of a cubic that changes its sign once between 0 and 1.

    Newton's method from the zero of its parabola. Where it does not converge the answer is no such place.
    """
    x = 1.0
    square = cubic.rate * cubic.rate - 4.0 * cubic.bend * cubic.value
    if square > 0.0:
        # of the two ways to write a root the one that does not cancel
        stable = -0.5 * (cubic.rate + math.copysign(math.sqrt(square), cubic.rate))
        x = cubic.value / stable
        if not 0.0 < x < 1.0:
            x = stable / cubic.bend if cubic.bend != 0.0 else 1.0
    for _ in range(NEWTON_STEPS):
        rate = rate_of_cubic(cubic, x)
        if rate == 0.0:
            break
        moved = value_of_cubic(cubic, x) / rate
        x = min(max(x - moved, 0.0), 1.0)
        if abs(moved) <= close:
            break
    return x


def third_of_rate(quarters: Quarters, x: float) -> float:
    """A third of the rate of a witness, per quarter of the step, `x` quarters behind the start."""
    ahead = 0.5 * x * x - x + 1.0 / 3.0
    return (quarters.first + (x - 0.5) * quarters.second + ahead * quarters.third) / 3.0
