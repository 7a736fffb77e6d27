"""How large each state is: what the absolute part of its tolerance follows.

That part, the floor, is the absolute tolerance of a state of size 1 times the largest value that the state
has had at the start of a step of this run. Four kinds of states are not known by their values alone:

- One that leaves 0 grows like a power of time at first. It is taken to be as large as that power makes it in
  some time, `steps_ahead` steps: that many there are in the time in which a state changes as much as it is
  large, so steps become as long as if it were known how large it will be. By its own size no step were short
  enough where the power is that of the error estimate, or more: then the error is as large as the state.
- One that is rounding, or little more: see `rounding`.
- One at 0: it has a floor as soon as it has left it in an attempt at a step (`note_births`).
- One that is `NEGLIGIBLE` times as small as the largest one: it is taken to be not smaller than that.
"""

from __future__ import annotations

import math

from cosim.kit import SETTINGS_HEADER, STEP_ACCURACY
from cosim_integrators.kit.grown_back import has_grown_back
from cosim_integrators.kit.size_layout import (
    AHEAD,
    ARE_SMALL,
    BACK_FROM,
    FLOOR,
    FOLLOWED,
    LARGEST,
    LARGEST_OF_ALL,
    NEVER,
    NOISE,
    POWER,
    SINCE,
    SIZE_VECTORS,
    TRIED,
    WAVE,
    sizes_size,
)

SCALE = 1e-3  # as in `cosim.contracts.tolerances`
NEGLIGIBLE = 1e-6
SMALL = 0.01
SMALLEST_FLOOR = 1e-200  # of a state at 0: it may only stay there
FURTHER = 6.0  # so that errors that are as large as the state leave the steps room to grow
FARTHEST = 100.0  # ages: where no state limits the step, the steps alone do not make the next ones longer
MATURE = 16.0  # steps: the first ones show their own formula more than a power


def follows(settings, n, m):
    """Whether the absolute tolerance of a state follows its size."""
    return settings[SETTINGS_HEADER + 2 * n + 3 + m] == 0.0


def floor_of(size, settings, n, m):
    """The absolute tolerance of a state of that size."""
    usual = settings[SETTINGS_HEADER + n + m]
    if not follows(settings, n, m):
        return usual
    return max(max(usual * size, settings[SETTINGS_HEADER + 2 * n + 2]), SMALLEST_FLOOR)


def steps_ahead(order, settings):
    """How many steps the floor of a state of size 1 allows while it changes by 1, times a margin.

    `order` is the exponent of the step in the error.
    """
    return FURTHER * math.pow(SCALE * settings[STEP_ACCURACY], -1.0 / order)


def grown_floor(size, power, older, settings, n, m):
    """As `floor_of`, of a state that will be `older` times as old: of its size then, if that is at most 1."""
    own = floor_of(size, settings, n, m)
    if power == 0.0:
        return own
    grown = settings[SETTINGS_HEADER + n + m]
    if power * math.log(older) < 700.0:
        grown = min(grown, floor_of(size * math.pow(older, power), settings, n, m))
    return max(grown, own)


def least_floor(sizes, settings, n, m):
    """That of a state which is negligible beside the largest one."""
    return floor_of(NEGLIGIBLE * min(1.0, sizes[SIZE_VECTORS * n + LARGEST_OF_ALL]), settings, n, m)


def begin_sizes(settings, sizes, n):
    """At the beginning of a run nothing is known; steps of a fixed length leave it at that."""
    for i in range(sizes_size(n)):
        sizes[i] = 0.0
    for m in range(n):
        sizes[FLOOR * n + m] = settings[SETTINGS_HEADER + n + m]
    sizes[SIZE_VECTORS * n + FOLLOWED] = 1.0


def keep(sizes, kept, n):
    """Copy all numbers."""
    for i in range(sizes_size(n)):
        kept[i] = sizes[i]


def have_news(y, sizes):
    """Whether a state is larger than ever, or smaller than its floor, or is followed."""
    n = y.shape[0]
    floors = sizes[FLOOR * n : FLOOR * n + n]
    largest = sizes[LARGEST * n : LARGEST * n + n]
    news = sizes[SIZE_VECTORS * n + FOLLOWED] != 0.0
    for m in range(n):
        size = abs(y[m])
        if size > largest[m] or 0.0 < size < floors[m]:
            news = True
    return news


def follow_sizes(t, y, c, step, order, settings, sizes):
    """At the start of a step with news: note what the states are; the index of one that grew back, or -1.

    `c` is the derivative, `step` how long the step is to be, `order` as in `steps_ahead`.
    """
    n = y.shape[0]
    end = SIZE_VECTORS * n
    returned = -1
    followed = 0.0
    small = 0.0
    wave = NEVER
    ahead = steps_ahead(order, settings) * step
    for m in range(n):
        sizes[end + LARGEST_OF_ALL] = max(sizes[end + LARGEST_OF_ALL], abs(y[m]))
    for m in range(n):
        size = abs(y[m])
        largest = max(sizes[LARGEST * n + m], size)
        power = sizes[POWER * n + m]
        own = floor_of(largest, settings, n, m)
        floor = max(own, least_floor(sizes, settings, n, m)) if largest > 0.0 else own
        if size > 0.0 and sizes[LARGEST * n + m] == 0.0:
            wave = min(wave, sizes[SINCE * n + m])
            sizes[BACK_FROM * n + m] = 0.0
            followed = 1.0
        if power > 0.0:
            age = t - sizes[SINCE * n + m]
            if age > MATURE * step:
                steadily = size > sizes[LARGEST * n + m] and y[m] * c[m] > 0.0
                power = age * abs(c[m]) / size if steadily else 0.0
            older = 1.0 + max(sizes[end + AHEAD], min(ahead, FARTHEST * age)) / age
            floor = max(floor, grown_floor(largest, power, older, settings, n, m))
        elif own < largest and has_grown_back(m, y, c, own, sizes):
            returned = m
        if 0.0 < largest < SMALL and follows(settings, n, m):
            small = 1.0
        sizes[LARGEST * n + m] = largest
        sizes[POWER * n + m] = power
        sizes[FLOOR * n + m] = max(floor, sizes[NOISE * n + m])
        if power > 0.0 or sizes[NOISE * n + m] > 0.0 or sizes[BACK_FROM * n + m] > 0.0:
            followed = 1.0
    sizes[end + FOLLOWED] = followed
    sizes[end + ARE_SMALL] = small
    sizes[end + WAVE] = wave
    sizes[end + TRIED] = 0.0
    return returned


def note_births(t, step, y, slope, order, settings, sizes):
    """Give a floor to each state that has left 0 in an attempt from `t`; whether there is one at 0.

    `slope` is a derivative at the end of the step, or near it. What leaves 0 in the step after others grows
    since they do. From one attempt to a shorter one the power shows best: formulas that are implicit give
    every state the first one.
    """
    n = y.shape[0]
    end = SIZE_VECTORS * n
    found = False
    ahead = steps_ahead(order, settings) * step
    longer = sizes[end + TRIED]
    since = min(t, sizes[end + WAVE])
    age = t + step - since
    for m in range(n):
        if sizes[LARGEST * n + m] == 0.0 and follows(settings, n, m):
            found = True
            size = abs(y[m])
            power = age * abs(slope[m]) / size if y[m] * slope[m] > 0.0 else 0.0
            tried = sizes[BACK_FROM * n + m]
            if longer > step and tried > size > 0.0:
                power = max(power, math.log(tried / size) / math.log((age - step + longer) / age))
            # the error of one that is still 0 may see what the state does not
            floor = settings[SETTINGS_HEADER + n + m]
            if size > 0.0:
                floor = grown_floor(size, power, 1.0 + ahead / age, settings, n, m)
                floor = max(floor, least_floor(sizes, settings, n, m))
            sizes[BACK_FROM * n + m] = size
            sizes[POWER * n + m] = power
            sizes[SINCE * n + m] = since
            sizes[FLOOR * n + m] = max(floor, sizes[NOISE * n + m])
    if found:
        sizes[end + TRIED] = step
        sizes[end + AHEAD] = ahead
    return found
