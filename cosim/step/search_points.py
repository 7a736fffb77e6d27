"""The points at which a search evaluates witnesses: their values there, and what may hide between them.

A point has a time, the values of the witnesses above their levels, and their rates. Three points hold
something else: `SEEN` the lowest values so far and the largest rates, and the one behind it the highest
values and the smallest rates with which something could hide; in place of times, which witness was not a
number first, and when. The points from `QUARTERS` on hold what a search has seen at the quarters of the step,
for the forecast; their times are NaN where it has not been there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.run_data.run import Reals, Run
from cosim_compiler.record import rows_of

A_CYCLE = 2.0  # parts for each way through its range at the largest rate: 2 pi parts in a cycle of a sinusoid
BESIDE = 0.01  # of its range: a witness that is closer to zero is beside a zero
DEPTH = 6  # how often a part is halved where a witness is not as smooth as a cubic
LEFT, RIGHT, MIDDLE, FIRST_STACKED = 0, 1, 2, 3
SEEN = FIRST_STACKED + DEPTH + 4
ASIDE = SEEN + 2  # what `cosim.step.witnesses` keeps of an earlier search: LEFT and RIGHT
QUARTERS = ASIDE + 2
POINTS = QUARTERS + 3


class Points(NamedTuple):
    """The points of a search."""

    numbers: Reals
    witnesses: int  # how many


def points_of(run: Run) -> Points:
    """The search points of a run."""
    return Points(run.point_numbers, len(run.witnesses))


def numbers_of_points(witnesses: int) -> int:
    """The count of numbers that search points take."""
    return POINTS * (1 + 2 * witnesses)


def time_at(points: Points, point: int) -> float:
    """The time of a point, s."""
    return points.numbers[point * (1 + 2 * points.witnesses)]


def set_time(points: Points, point: int, t: float) -> None:
    """Say when a point is."""
    points.numbers[point * (1 + 2 * points.witnesses)] = t


def values_at(points: Points, point: int) -> Reals:
    """The witnesses at a point, above their levels."""
    at = point * (1 + 2 * points.witnesses) + 1
    return rows_of(float, points.numbers, at, points.witnesses)


def rates_at(points: Points, point: int) -> Reals:
    """The rates of the witnesses at a point, 1/s."""
    at = point * (1 + 2 * points.witnesses) + 1 + points.witnesses
    return rows_of(float, points.numbers, at, points.witnesses)


def copy_point(points: Points, source: int, target: int) -> None:
    """Write one point over another."""
    width = 1 + 2 * points.witnesses
    for i in range(width):
        points.numbers[target * width + i] = points.numbers[source * width + i]


# ---- what was seen of each witness in this step


def lowest_values(points: Points) -> Reals:
    """The lowest values so far."""
    return values_at(points, SEEN)


def highest_values(points: Points) -> Reals:
    """The highest values so far."""
    return values_at(points, SEEN + 1)


def largest_rates(points: Points) -> Reals:
    """The largest rates so far, 1/s."""
    return rates_at(points, SEEN)


def hiding_rates(points: Points) -> Reals:
    """The smallest rates with which something could hide between two points of the last search, 1/s."""
    return rates_at(points, SEEN + 1)


def store_range(points: Points, i: int, t: float, value: float, rate: float) -> None:
    """Remember the range of a witness, how fast it was, and where it first was not a number."""
    if value != value and (time_at(points, SEEN) < 0.0 or t < time_at(points, SEEN + 1)):
        set_time(points, SEEN, float(i))
        set_time(points, SEEN + 1, t)
    if value < lowest_values(points)[i]:
        lowest_values(points)[i] = value
    if value > highest_values(points)[i]:
        highest_values(points)[i] = value
    if rate > largest_rates(points)[i]:
        largest_rates(points)[i] = rate


def clear_searched(points: Points) -> None:
    """Forget extremes, rates and quarters of the last step, before the first search of a step."""
    set_time(points, SEEN, -1.0)
    for i in range(points.witnesses):
        lowest_values(points)[i] = math.inf
        highest_values(points)[i] = -math.inf
        largest_rates(points)[i] = 0.0
    for quarter in range(3):
        set_time(points, QUARTERS + quarter, math.nan)
    clear_hidden(points)


def clear_hidden(points: Points) -> None:
    """Forget the rates at which something may hide between points, before each search."""
    for i in range(points.witnesses):
        hiding_rates(points)[i] = math.inf


def searched_without_value(points: Points) -> tuple[int, float]:
    """The first witness that was not a number at a point, -1: none; and when."""
    return int(time_at(points, SEEN)), time_at(points, SEEN + 1)


def spacing_for(points: Points, i: int) -> float:
    """The largest distance of points at which a witness with its present rates hides nothing between them.

    Infinite where zero is further off than its whole range.
    """
    low = lowest_values(points)[i]
    high = highest_values(points)[i]
    rate = largest_rates(points)[i]
    range_of = high - low
    if not range_of > 0.0 or not rate > 0.0 or low > range_of or -high > range_of:
        return math.inf
    return range_of / (A_CYCLE * rate)


def hiding_rate(points: Points, i: int) -> float:
    """The rate at which witness `i` could touch zero between LEFT and RIGHT; infinite if it crosses."""
    step = time_at(points, RIGHT) - time_at(points, LEFT)
    left = values_at(points, LEFT)[i]
    right = values_at(points, RIGHT)[i]
    return (abs(left) + abs(right)) / step if left * right > 0.0 and step > 0.0 else math.inf


def may_hide(points: Points, i: int) -> bool:
    """Whether witness `i` could touch zero between LEFT and RIGHT, at the largest rate so far."""
    return hiding_rate(points, i) < largest_rates(points)[i]


def store_hidden_speeds(points: Points) -> None:
    """Remember how fast witnesses have to be to touch zero between LEFT and RIGHT, which is done with.

    Beside a zero that is known (where a ball has just left the floor) any rate would do: that says nothing.
    """
    for i in range(points.witnesses):
        far = BESIDE * (highest_values(points)[i] - lowest_values(points)[i])
        if abs(values_at(points, LEFT)[i]) > far and abs(values_at(points, RIGHT)[i]) > far:
            hiding_rates(points)[i] = min(hiding_rates(points)[i], hiding_rate(points, i))


def may_hide_touch(points: Points, i: int) -> bool:
    """Whether witness `i` could have touched zero between two points of the last search."""
    return hiding_rates(points)[i] < largest_rates(points)[i]
