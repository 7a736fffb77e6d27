"""The points at which a search looks at witnesses: what was seen there, and what may hide between them.

`work` has `POINTS` rows of 1 + 2 * witnesses numbers: a time, the values above the level, their rates. The
row `SEEN` has the lowest values so far and the largest rates, the next one the highest values and the
smallest rates with which something could hide; in place of times, which witness was not a number first, and
when. The three rows from `QUARTERS` on have what a search has seen at the quarters of the step, for the
forecast; their times are NaN where it has not been there.
"""

from __future__ import annotations

import math

from cosim.step.arrays import Reals

A_CYCLE = 2.0  # parts for each way through its range at the largest rate: 2 pi in a cycle of a sinusoid
BESIDE = 0.01  # of its range: a witness that is closer to zero is beside a zero
DEPTH = 6  # how often a part is halved where a witness is not as smooth as a cubic
LEFT, RIGHT, MIDDLE, FIRST_STACKED = 0, 1, 2, 3
SEEN = FIRST_STACKED + DEPTH + 4
ASIDE = SEEN + 2  # what `cosim.step.witnesses` keeps of an earlier search: LEFT and RIGHT
QUARTERS = ASIDE + 2
POINTS = QUARTERS + 3


def see(work: Reals, count: int, i: int, t: float, value: float, rate: float) -> None:
    """Remember the range of a witness, how fast it was, and where it first was not a number."""
    width = 1 + 2 * count
    low = SEEN * width + 1 + i
    if value != value and (work[SEEN * width] < 0.0 or t < work[(SEEN + 1) * width]):
        work[SEEN * width] = float(i)
        work[(SEEN + 1) * width] = t
    if value < work[low]:
        work[low] = value
    if value > work[low + width]:
        work[low + width] = value
    if rate > work[low + count]:
        work[low + count] = rate


def forget_seen(work: Reals, count: int) -> None:
    """Before the first search of a step."""
    width = 1 + 2 * count
    work[SEEN * width] = -1.0
    for i in range(count):
        work[SEEN * width + 1 + i] = math.inf
        work[(SEEN + 1) * width + 1 + i] = -math.inf
        work[SEEN * width + 1 + count + i] = 0.0
    for quarter in range(3):
        work[(QUARTERS + quarter) * width] = math.nan
    forget_hidden(work, count)


def forget_hidden(work: Reals, count: int) -> None:
    """Before each search."""
    width = 1 + 2 * count
    for i in range(count):
        work[(SEEN + 1) * width + 1 + count + i] = math.inf


def seen_without_value(work: Reals, count: int) -> tuple[int, float]:
    """The first witness that was not a number where it was looked at, -1: none; and when."""
    width = 1 + 2 * count
    return int(work[SEEN * width]), work[(SEEN + 1) * width]


def spacing_for(work: Reals, count: int, i: int) -> float:
    """How far apart points may lie so that a witness that goes on as it was seen hides nothing between them.

    Infinite where zero is further off than its whole range.
    """
    width = 1 + 2 * count
    low = work[SEEN * width + 1 + i]
    high = work[(SEEN + 1) * width + 1 + i]
    rate = work[SEEN * width + 1 + count + i]
    range_of = high - low
    if not range_of > 0.0 or not rate > 0.0 or low > range_of or -high > range_of:
        return math.inf
    return range_of / (A_CYCLE * rate)


def hiding_rate(work: Reals, count: int, i: int) -> float:
    """How fast witness `i` has to be to touch zero between LEFT and RIGHT; infinite where it crosses."""
    width = 1 + 2 * count
    step = work[RIGHT * width] - work[LEFT * width]
    a = work[LEFT * width + 1 + i]
    b = work[RIGHT * width + 1 + i]
    return (abs(a) + abs(b)) / step if a * b > 0.0 and step > 0.0 else math.inf


def may_hide(work: Reals, count: int, i: int) -> bool:
    """Whether witness `i` could touch zero between LEFT and RIGHT, at the largest rate so far."""
    return hiding_rate(work, count, i) < work[SEEN * (1 + 2 * count) + 1 + count + i]


def note_hidden(work: Reals, count: int) -> None:
    """Remember how fast witnesses have to be to touch zero between LEFT and RIGHT, which is done with.

    Beside a zero that is known (where a ball has just left the floor) any rate would do: that says nothing.
    """
    width = 1 + 2 * count
    for i in range(count):
        at = SEEN * width + 1 + i
        far = BESIDE * (work[at + width] - work[at])
        if abs(work[LEFT * width + 1 + i]) > far and abs(work[RIGHT * width + 1 + i]) > far:
            work[at + width + count] = min(work[at + width + count], hiding_rate(work, count, i))


def hides(work: Reals, count: int, i: int) -> bool:
    """Whether witness `i` could have touched zero between two points of the last search."""
    width = 1 + 2 * count
    return work[(SEEN + 1) * width + 1 + count + i] < work[SEEN * width + 1 + count + i]


def copy_row(work: Reals, width: int, source: int, target: int) -> None:
    """One point of `work` over another."""
    for i in range(width):
        work[target * width + i] = work[source * width + i]
