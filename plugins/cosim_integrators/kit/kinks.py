"""Kinks inside a step: points at which a number that a component computes changes its sign.

A step across a kink has an error of the order h^2, which its estimate may not show. So the numbers are
compared at both ends of a step; if one has changed its sign, the step is repeated so that it ends just behind
the kink. Inside the step the numbers are evaluated on the cubic through both ends. A long step's cubic
locates the kink roughly; the cubic of the repeated step, which ends near the kink, is as accurate there as
its end.
"""

from __future__ import annotations

import math

from cosim.kit import rarely
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.error_norm import weighted_error
from cosim_integrators.kit.interpolants import hermite
from cosim_integrators.kit.place_in_step import is_late
from cosim_integrators.kit.start_of_step import copy_values

AT_START, BEFORE, BEHIND, HERE = range(4)  # points at which the numbers are stored
TAIL = 36  # numbers that a method may have at the very end of `work`: `bdf` has room for a matrix there
MOST_CUTS = 8  # repetitions of a step because of kinks
MOST_POINTS = 60  # evaluations in the search for one kink
SHORTEST = 1e-13  # of a step: a bracket that narrow is not narrowed further
NEAR = 0.1  # times the squared distance to the nearer end, over the step: the cubic is no more accurate
DIRECT = 0.1  # of the step that error control would take: a kink within it is approached in one step
HARMLESS = 0.1  # tolerances: a kink may add that much to the error
MOST_OF_CHANGE = 0.5  # of the change of a derivative over the step; more of it within the bracket is a jump


def kink_room(count, n):
    """The count of numbers in `work` for kinks: their values, a derivative, and the method's tail."""
    return 0 if count == 0 else TAIL + 4 * count + n


def kink_values(method, place):
    """The numbers that change their sign at kinks, as they were at a place, such as `AT_START`."""
    numbers = method.work_numbers
    count = method.slots.kinks
    at = numbers.shape[0] - TAIL - (4 - place) * count
    return numbers[at : at + count]


def change_of_derivative(method):
    """A vector for the change of the derivative."""
    numbers = method.work_numbers
    at = numbers.shape[0] - TAIL - 4 * method.slots.kinks - method.n
    return numbers[at : at + method.n]


def store_kink_values(method, c, place):
    """Store the numbers of the last evaluation."""
    values = kink_values(method, place)
    slots = method.kink_slots
    for i in range(slots.shape[0]):
        values[i] = c[slots[i]]


def has_passed_kink(method):
    """Whether one of the numbers of the last point has another sign than at the start."""
    start = kink_values(method, AT_START)
    last = kink_values(method, HERE)
    has_passed = False
    for i in range(start.shape[0]):
        has_passed = has_passed or (start[i] < 0.0) != (last[i] < 0.0)
    return has_passed


def first_zero(method, low, high):
    """The time of the first kink, by linear interpolation between `low`, before it, and `high`, behind it."""
    start = kink_values(method, AT_START)
    before = kink_values(method, BEFORE)
    behind = kink_values(method, BEHIND)
    share = 1.0
    for i in range(start.shape[0]):
        if (start[i] < 0.0) != (behind[i] < 0.0):
            distance = abs(before[i])
            share = min(share, distance / (distance + abs(behind[i])))
    return low + share * (high - low)


def size_of_kink(system, method, t, t_end):
    """The largest change of a derivative over a step, times the step, in tolerances.

    Leaves the derivative at the end of the step in the spare vector.
    """
    y = system.y
    c = system.c
    slope = method.slope
    spare = method.spare
    for m in range(method.n):
        spare[m] = (t_end - t) * (c[m] - slope[m])
    size = weighted_error(method, spare, y, method.floors)
    for m in range(method.n):
        spare[m] = c[m]
    return size


def evaluate_inside(system, method, t, t_end, at):
    """Evaluate the system on the cubic through both ends of a step, at the time `at`.

    The derivative at the end of the step is in the spare vector. Returns 0, or 1 + the index of the block
    that failed.
    """
    late = is_late(at, t, t_end)
    near = method.near_end(late)
    other = method.near_end(not late)
    hermite(at, t, t_end, near, other, method.slope, method.spare, system.y)
    return evaluate(system, method, at)


@rarely
def jump_between(system, method, t, t_end, low, high):
    """The change of a derivative between two times inside the step, times the step, in tolerances."""
    c = system.c
    change = change_of_derivative(method)
    for point in range(2):
        if evaluate_inside(system, method, t, t_end, low if point == 0 else high) != 0:
            return 0.0
        for m in range(method.n):
            change[m] = c[m] if point == 0 else (t_end - t) * (c[m] - change[m])
    copy_values(system.y, method.end)
    return weighted_error(method, change, system.y, method.floors)


def end_before_kink(t, kink, ideal):
    """The end of a step of an explicit method toward a kink: at the kink if it is near, else before it.

    The states of the stages are of a lower order than the end: in a long step that ends at the kink some
    stages would lie beyond it.
    """
    return kink if kink - t <= DIRECT * ideal else t + (1.0 - DIRECT) * (kink - t)


def prepare_kink_search(method, c):
    """At the start of a step, allow `MOST_CUTS` repetitions and store the numbers."""
    work = method.work
    work.kink_cuts = 0.0
    work.kink_size = 0.0
    if method.is_controlled and method.slots.kinks > 0:
        work.kink_cuts = MOST_CUTS
        store_kink_values(method, c, AT_START)


def may_be_cut(method, error):
    """Whether a kink may have made the error of an attempt too large."""
    return method.work.kink_cuts > 0.0 and 1.0 < error < math.inf


def is_cut_by_kink(system, method, t, t_end, smallest):
    """Whether an attempt from `t` to `t_end` must be repeated to ``work.kink_time``, just behind a kink.

    State and cache are those of the end on entry, and on return if the result is False. `smallest` is the
    shortest step.
    """
    work = method.work
    if work.kink_cuts == 0.0:
        return False
    locate_kink(system, method, t, t_end, smallest)
    if not work.kink_time < t_end:
        return False
    work.kink_cuts -= 1.0
    work.rejections += 1.0
    return True


@rarely
def locate_kink(system, method, t, t_end, smallest):
    """Find ``work.kink_time``, at which the step has to end (NaN: it needs not), and ``work.kink_size``.

    The size that a longer attempt at this step has shown is kept if it is larger. It is infinite if a
    derivative jumps: that is left to error control, since the derivative may jump back at once.
    """
    work = method.work
    known_size = work.kink_size
    work.kink_time = math.nan
    store_kink_values(method, system.c, HERE)
    if known_size == math.inf or not has_passed_kink(method):
        return
    step = t_end - t
    change = size_of_kink(system, method, t, t_end)
    size = max(known_size, change)
    low, high = narrow_kink(system, method, t, t_end, size)
    if known_size == 0.0 and high < t_end:
        size = max(size, change * step / (t_end - high))
        if jump_between(system, method, t, t_end, low, high) > MOST_OF_CHANGE * change:
            size = math.inf
    work.kink_size = size
    shortest = max(smallest, SHORTEST * step)
    if method.slots.holds:  # rounding may make a held witness release just behind the start
        high = max(high, t + 2.0 * shortest)
    # nothing is gained by ending at a kink that is harmless or lies at an end of the step
    stays = size == math.inf or is_harmless(method, size, high - t, t_end - high)
    stays = stays or t_end - high <= SHORTEST * step or high - t <= shortest
    if not stays:
        work.kink_time = high
        return
    if low > t or high < t_end:
        copy_values(system.y, method.end)
        evaluate(system, method, t_end)


def is_harmless(method, size, from_start, to_end):
    """Whether a step may cross a kink of this size at these distances from its ends and stay accurate.

    While a witness is held no step may: its release is an event, and needs an accurate time.
    """
    least = HARMLESS * (from_start + to_end)
    return not method.slots.holds and (size * from_start <= least or size * to_end <= least)


def narrow_kink(system, method, t, t_end, size):
    """Bracket the first kink of a step by secants: the times just before and just behind it.

    Each secant aims a little beyond the kink, seen from the last point, so that the bracket shrinks from both
    sides; every fourth time the bracket is halved. `size` is that of the kink, 0 if unknown.
    """
    step = t_end - t
    last = kink_values(method, HERE)
    before = kink_values(method, BEFORE)
    behind = kink_values(method, BEHIND)
    copy_values(behind, last)
    copy_values(before, kink_values(method, AT_START))
    low = t
    high = t_end
    aim = 1.0
    for points in range(MOST_POINTS):
        guess = first_zero(method, low, high)
        to_end = min(guess - t, t_end - guess)
        enough = max(SHORTEST * step, NEAR * to_end * to_end / step)
        if size > 0.0 and not method.slots.holds:
            enough = max(enough, NEAR * HARMLESS / size * step)
        if high - low <= enough or is_harmless(method, size, high - t, t_end - low):
            break
        guess += 0.45 * aim * enough  # less than half: two such points leave a bracket narrower than `enough`
        if points % 4 == 3 or not low < guess < high:
            guess = low + 0.5 * (high - low)
        if evaluate_inside(system, method, t, t_end, guess) != 0:
            break
        store_kink_values(method, system.c, HERE)
        if has_passed_kink(method):
            high = guess
            aim = -1.0
            copy_values(behind, last)
        else:
            low = guess
            aim = 1.0
            copy_values(before, last)
    return low, high
