"""The size of each state, to which the absolute part of its tolerance is relative.

That part, the floor, is the absolute tolerance of a state of size 1 times the largest value that the state
has had at the start of a step of this run. The values alone do not tell the size of four kinds of states:

- A state that leaves 0 grows like a power of time at first. Its size is extrapolated by that power over
  `steps_ahead` steps: as many as a state of known size takes to change by its size, so that steps become as
  long as if the later size were known. With the present size no step would be short enough if the power is at
  least that of the error estimate: then the error is as large as the state. While the state grows, its size
  counts as at least `NEGLIGIBLE` times that of the largest state.
- A state that consists of rounding, or little more: see `rounding`.
- A state that constraints correct (see `corrected_ends`): the error that a correction leaves does not shrink
  with the step, so its size counts as at least `NEGLIGIBLE` times that of the largest state, too.
- A state at 0: it gets a floor once it has left 0 in an attempt at a step (`set_floors_of_born_states`).
"""

from __future__ import annotations

import math

from cosim.kit import has_constraints
from cosim_integrators.kit.corrected_ends import FREE
from cosim_integrators.kit.grown_back import has_grown_back
from cosim_integrators.kit.size_memory import NEVER, sizes_size

SCALE = 1e-3  # as in `cosim.contracts.tolerances`
NEGLIGIBLE = 1e-6  # of the largest state
SMALL = 0.01  # a state below that may be rounding
SMALLEST_FLOOR = 1e-200  # of a state at 0: only an error of 0 is within it
FURTHER = 6.0  # a margin, so that steps may grow although the error is as large as the state
FARTHEST = 100.0  # ages of a state: growth is not extrapolated further, or long steps would lengthen the next
MATURE = 16.0  # steps: during the first ones the power shows the formula of the method


def floor_of(method, m, size):
    """The absolute tolerance of a state of this size: relative to it, but not below the least one."""
    return floor_not_below(method, m, size, method.least_absolute_tolerance)


def floor_not_below(method, m, size, least):
    """The floor of a state, with its own lower bound."""
    return floor_of_size(method.absolute_tolerances[m], method.follows_size(m), size, least)


def floor_of_size(of_size_1, follows_size, size, least):
    """The floor of a state: its tolerance at size 1, times its size if it follows that."""
    return max(max(of_size_1 * size, least), SMALLEST_FLOOR) if follows_size else of_size_1


def own_floor(method, m, size):
    """The floor of a state of this size; only states that constraints correct have a least one."""
    least = 0.0 if is_free(method, m) else method.least_absolute_tolerance
    return floor_not_below(method, m, size, least)


def is_free(method, m):
    """Whether no constraint corrects a state, as far as is known."""
    return not has_constraints(method.corrections) or method.sizes.free[m] == FREE


def steps_ahead(method, order):
    """The number of steps that a state of size 1 takes to change by 1 under its floor, times a margin.

    `order` is the exponent of the step in the error.
    """
    return FURTHER * math.pow(SCALE * method.settings.step_accuracy, -1.0 / order)


def grown_floor(method, m, size, power, older):
    """The floor of a state that grows as a power of its age, for its size when it is `older` times as old.

    At most that of a state of size 1, at least that of its present size (`corrected_floor`).
    """
    present_floor = corrected_floor(method, m, size)
    if power == 0.0:
        return present_floor
    grown = method.absolute_tolerances[m]
    if power * math.log(older) < 700.0:
        grown = min(grown, own_floor(method, m, size * math.pow(older, power)))
    return max(grown, max(present_floor, least_floor(method, m)))


def least_floor(method, m):
    """The floor of a state that is negligible beside the largest one."""
    return own_floor(method, m, NEGLIGIBLE * min(1.0, method.sizes.all_states.largest_of_all))


def corrected_floor(method, m, size):
    """The floor of a state; if constraints correct it, not less than `least_floor`."""
    floor = own_floor(method, m, size)
    return floor if is_free(method, m) else max(floor, least_floor(method, m))


def power_of_growth(age, y, y_dot):
    """The power of time with which a state grows that left 0 `age` seconds ago.

    If it seems to fall back to 0, the step does not resolve it: then the power is 1.
    """
    if y * y_dot > 0.0:
        return age * y_dot / y
    return 1.0 if y * y_dot < 0.0 else 0.0


def reset_sizes(method, y):
    """Reset sizes and floors at the beginning of a run; with fixed steps they never change."""
    sizes = method.sizes
    floors = sizes.floors
    absolute = method.absolute_tolerances
    for i in range(sizes_size(method.n)):
        sizes.numbers[i] = 0.0
    for m in range(method.n):
        floors[m] = absolute[m]
    sizes.all_states.followed = 1.0
    are_all_zero = True
    for m in range(method.n):
        if y[m] != 0.0:
            are_all_zero = False
    sizes.all_states.least_of_all = 1.0 if are_all_zero else 0.0


def sizes_change(method, y):
    """Whether `follow_sizes` has something to update.

    That is if a state is larger than ever, smaller than its floor, or followed, or if a witness is held.
    """
    sizes = method.sizes
    floors = sizes.floors
    largest = sizes.largest
    changed = sizes.all_states.followed != 0.0 or method.slots.holds != 0
    for m in range(method.n):
        size = abs(y[m])
        if size > largest[m] or 0.0 < size < floors[m]:
            changed = True
    return changed


def follow_sizes(system, method, t, step, order):
    """Update sizes, powers of growth and floors at the start of a step; a state that grew back, or -1.

    `step` is the planned length of the step, `order` as in `steps_ahead`.
    """
    y = system.y
    c = system.c
    n = method.n
    sizes = method.sizes
    all_states = sizes.all_states
    largest_values = sizes.largest
    powers = sizes.powers
    zero_times = sizes.zero_times
    rounding = sizes.rounding
    smallest = sizes.smallest
    floors = sizes.floors
    returned = -1
    followed = 0.0
    are_small = 0.0
    oldest_wave = NEVER
    largest_of_all = all_states.largest_of_all
    grows = False
    for m in range(n):
        largest_of_all = max(largest_of_all, abs(y[m]))
        grows = grows or powers[m] > 0.0
    ahead = steps_ahead(method, order) * step if grows else 0.0
    all_states.largest_of_all = largest_of_all
    constrained = 1 if has_constraints(method.corrections) else 0
    absolute = method.absolute_tolerances
    given_sizes = method.state_sizes
    for m in range(n):
        size = abs(y[m])
        largest = max(largest_values[m], size)
        power = powers[m]
        known = constrained == 0 and (size == 0.0 or largest_values[m] > 0.0)
        if known and power == 0.0 and smallest[m] == 0.0:
            follows = given_sizes[m] == 0.0
            floor = floor_of_size(absolute[m], follows, largest, 0.0)
            if size >= floor or size == 0.0:  # like most states: it neither grows from 0 nor is small
                if 0.0 < largest < SMALL and follows:
                    are_small = 1.0
                if rounding[m] > 0.0:
                    followed = 1.0
                largest_values[m] = largest
                floors[m] = max(floor, rounding[m])
                continue
        present_floor = own_floor(method, m, largest)
        floor = corrected_floor(method, m, largest) if largest > 0.0 else present_floor
        if size > 0.0 and largest_values[m] == 0.0:  # it has left 0 in the last step
            oldest_wave = min(oldest_wave, zero_times[m])
            smallest[m] = 0.0
            followed = 1.0
        if power > 0.0:
            age = t - zero_times[m]
            if age > MATURE * step:
                still_grows = size > largest_values[m] and y[m] * c[m] > 0.0
                power = age * abs(c[m]) / size if still_grows else 0.0
            older = 1.0 + max(all_states.ahead, min(ahead, FARTHEST * age)) / age
            floor = grown_floor(method, m, largest, power, older)
        elif present_floor < largest and has_grown_back(sizes, m, y[m], c[m], present_floor):
            returned = m
        if 0.0 < largest < SMALL and method.follows_size(m):
            are_small = 1.0
        largest_values[m] = largest
        powers[m] = power
        floors[m] = max(floor, rounding[m])
        if power > 0.0 or rounding[m] > 0.0 or smallest[m] > 0.0:
            followed = 1.0
    all_states.followed = followed
    all_states.are_small = are_small
    all_states.wave = oldest_wave
    all_states.tried = 0.0
    return returned


def has_state_at_zero(method):
    """Whether a state whose size is followed has been 0 so far."""
    largest = method.sizes.largest
    has_zero = False
    for m in range(method.n):
        if largest[m] == 0.0 and method.follows_size(m):
            has_zero = True
    return has_zero


def set_floors_of_born_states(method, t, step, y, slope, order):
    """Give a floor to each state that has left 0 in an attempt from `t`; returns whether any state was at 0.

    `slope` is a derivative at the end of the step, or near it. A state that leaves 0 in the step after others
    is taken to grow since the time when those left it. Two attempts of different lengths tell the power best:
    within one attempt an implicit formula lets every state grow linearly.
    """
    sizes = method.sizes
    all_states = sizes.all_states
    largest = sizes.largest
    smallest = sizes.smallest
    powers = sizes.powers
    zero_times = sizes.zero_times
    floors = sizes.floors
    rounding = sizes.rounding
    if not has_state_at_zero(method):  # the usual case, without costly powers
        return False
    ahead = steps_ahead(method, order) * step
    previous_step = all_states.tried
    since = min(t, all_states.wave)
    age = t + step - since
    for m in range(method.n):
        if largest[m] == 0.0 and method.follows_size(m):
            size = abs(y[m])
            power = power_of_growth(age, y[m], slope[m])
            previous_size = smallest[m]
            if previous_step > step and previous_size > size > 0.0:
                previous_age = age - step + previous_step
                power = max(power, math.log(previous_size / size) / math.log(previous_age / age))
            # a state may still be 0 while its error estimate is not
            floor = method.absolute_tolerances[m]
            if size > 0.0:
                floor = grown_floor(method, m, size, power, 1.0 + ahead / age)
            smallest[m] = size
            powers[m] = power
            zero_times[m] = since
            floors[m] = max(floor, rounding[m])
    all_states.tried = step
    all_states.ahead = ahead
    return True
