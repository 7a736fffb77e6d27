"""Kinks inside a step: where a number that a component computes changes its sign.

A step that goes across a kink has an error of the order h^2, which its estimate may not show. So the numbers
are compared at both ends of a step; where one has changed its sign, the step is taken again so that it ends
just behind the kink. Inside the step they are computed on the cubic through both ends. It does not see the
kink either, but that of a step that ends near the kink is as good there as its end, and tells the rest.
"""

from __future__ import annotations

import math

from cosim.kit import (
    ERROR_SLOTS,
    EVALUATIONS,
    KINK_SLOTS,
    SLOTS_HEADER,
    SMOOTH_SLOTS,
    WORK_HEADER,
    walk,
)
from cosim_integrators.kit.dense_output import hermite, is_late
from cosim_integrators.kit.error_norm import weighted_error

AT_START, BEFORE, BEHIND, HERE = range(4)  # where the numbers are kept from
TAIL = 36  # numbers that a method may have at the very end of `work`
MOST_CUTS = 8  # how often a step is taken again for the sake of kinks
MOST_LOOKS = 60
SHORTEST = 1e-13  # of a step: nearer than that no kink is looked for
NEAR = 0.1  # of the square of the distance to the nearer end: the cubic is not better
DIRECT = 0.1  # of the step that control would take
HARMLESS = 0.1  # of the tolerance
MOST_OF_CHANGE = 0.5  # of a derivative over the step: where it is one of no time, the derivative jumps


def kink_room(count, n):
    """Numbers in `work` for so many kinks, with a derivative and what a method has at its end."""
    return 0 if count == 0 else TAIL + 4 * count + n


def kinks_at(work, slots, which):
    """Where in `work` the numbers of one place are kept."""
    return work.shape[0] - TAIL - (4 - which) * slots[KINK_SLOTS]


def note_kinks(c, work, slots, which):
    """Keep the numbers that change their signs at kinks."""
    at = kinks_at(work, slots, which)
    first = SLOTS_HEADER + slots[ERROR_SLOTS] + slots[SMOOTH_SLOTS]
    for i in range(slots[KINK_SLOTS]):
        work[at + i] = c[slots[first + i]]


def move_kinks(work, slots, to):
    """Keep the numbers of the last look as those before, or behind, the first kink."""
    here = kinks_at(work, slots, HERE)
    at = kinks_at(work, slots, to)
    for i in range(slots[KINK_SLOTS]):
        work[at + i] = work[here + i]


def has_passed_kink(work, slots):
    """Whether one of the numbers of the last look has another sign than at the start."""
    start = kinks_at(work, slots, AT_START)
    here = kinks_at(work, slots, HERE)
    passed = False
    for i in range(slots[KINK_SLOTS]):
        passed = passed or (work[start + i] < 0.0) != (work[here + i] < 0.0)
    return passed


def first_zero(low, high, work, slots):
    """Where lines between the looks before and behind put the first kink."""
    start = kinks_at(work, slots, AT_START)
    before = kinks_at(work, slots, BEFORE)
    behind = kinks_at(work, slots, BEHIND)
    share = 1.0
    for i in range(slots[KINK_SLOTS]):
        if (work[start + i] < 0.0) != (work[behind + i] < 0.0):
            one = abs(work[before + i])
            part = one / (one + abs(work[behind + i]))
            if part < share:
                share = part
    return low + share * (high - low)


def size_of_kink(t, t_end, y, c, slope, settings, floors, work):
    """How much a derivative changes over a step, times its length, in tolerances; keeps it at the end."""
    n = y.shape[0]
    spare = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    for m in range(n):
        spare[m] = (t_end - t) * (c[m] - slope[m])
    size = weighted_error(spare, work[WORK_HEADER : WORK_HEADER + n], y, settings, floors)
    for m in range(n):
        spare[m] = c[m]
    return size


def cubic_inside(at, t, t_end, n, slope, last_slope, work, out):
    """``out`` = the cubic through both ends of a step, at a time inside it."""
    late = is_late(at, t, t_end)
    near = work[WORK_HEADER + n * late : WORK_HEADER + n * late + n]
    other = work[WORK_HEADER + n - n * late : WORK_HEADER + 2 * n - n * late]
    hermite(at, t, t_end, near, other, slope, last_slope, out)


def jump_between(
    table, ints, first, last, t, t_end, low, high, y, p, d, k, h, c, slope, settings, floors, work, slots
):
    """As `size_of_kink`, of the change between two times inside the step."""
    n = y.shape[0]
    start = work[WORK_HEADER : WORK_HEADER + n]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    last_slope = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    at = kinks_at(work, slots, AT_START) - n
    change = work[at : at + n]
    for looks in range(2):
        cubic_inside(low if looks == 0 else high, t, t_end, n, slope, last_slope, work, y)
        work[EVALUATIONS] += 1.0
        if walk(table, ints, first, last, low if looks == 0 else high, y, p, d, k, h, c) != 0:
            return 0.0
        for m in range(n):
            change[m] = c[m] if looks == 0 else (t_end - t) * (c[m] - change[m])
    for m in range(n):
        y[m] = end[m]
    return weighted_error(change, start, y, settings, floors)


def approach(t, kink, ideal):
    """Where a step of an explicit method ends on its way to a kink: there, if it is short, else before it.

    The states of the stages are of a lower order than the end: some are beyond a kink where a long step ends.
    """
    return kink if kink - t <= DIRECT * ideal else t + (1.0 - DIRECT) * (kink - t)


def find_kink(
    table, ints, first, last, t, t_end, y, p, d, k, h, c, slope, smallest, settings, floors, work, slots,
    known_size,
):  # fmt: skip
    """Where a step has to end for the sake of a kink, just behind it (NaN: nowhere), and the kink's size.

    State and cache are those of the end on entry, and on return where the step stays. `slope` is the
    derivative at the start, `smallest` the shortest step, `known_size` the size from a longer step, else 0.
    It is infinite where a derivative jumps: that stays to error control, as it may jump back at once.
    """
    note_kinks(c, work, slots, HERE)
    if known_size == math.inf or not has_passed_kink(work, slots):
        return math.nan, known_size
    n = y.shape[0]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    last_slope = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    step = t_end - t
    change = size_of_kink(t, t_end, y, c, slope, settings, floors, work)
    size = max(known_size, change)
    move_kinks(work, slots, BEHIND)
    begin = kinks_at(work, slots, AT_START)
    before = kinks_at(work, slots, BEFORE)
    for i in range(slots[KINK_SLOTS]):
        work[before + i] = work[begin + i]
    low = t
    high = t_end
    aim = 1.0
    for looks in range(MOST_LOOKS):
        at = first_zero(low, high, work, slots)
        nearest = min(at - t, t_end - at)
        enough = max(SHORTEST * step, NEAR * nearest * nearest / step)
        if size > 0.0:
            enough = max(enough, NEAR * HARMLESS / size * step)
        if (
            high - low <= enough
            or size * (high - t) <= HARMLESS * step
            or size * (t_end - low) <= HARMLESS * step
        ):
            break
        at += 0.45 * aim * enough
        if looks % 4 == 3 or not low < at < high:
            at = low + 0.5 * (high - low)
        cubic_inside(at, t, t_end, n, slope, last_slope, work, y)
        work[EVALUATIONS] += 1.0
        if walk(table, ints, first, last, at, y, p, d, k, h, c) != 0:
            break
        note_kinks(c, work, slots, HERE)
        if has_passed_kink(work, slots):
            high = at
            aim = -1.0
            move_kinks(work, slots, BEHIND)
        else:
            low = at
            aim = 1.0
            move_kinks(work, slots, BEFORE)
    if known_size == 0.0 and high < t_end:
        size = max(size, change * step / (t_end - high))
        jump = jump_between(
            table, ints, first, last, t, t_end, low, high, y, p, d, k, h, c, slope, settings, floors, work,
            slots,
        )  # fmt: skip
        if jump > MOST_OF_CHANGE * change:
            size = math.inf
    is_near = (
        size == math.inf or size * (high - t) <= HARMLESS * step or size * (t_end - high) <= HARMLESS * step
    )
    is_near = is_near or t_end - high <= SHORTEST * step or high - t <= max(smallest, SHORTEST * step)
    if not is_near:
        return high, size
    if low > t or high < t_end:
        for m in range(n):
            y[m] = end[m]
        work[EVALUATIONS] += 1.0
        walk(table, ints, first, last, t_end, y, p, d, k, h, c)
    return math.nan, size
