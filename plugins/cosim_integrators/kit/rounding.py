"""What rounding gives each state in a step: below that no tolerance helps.

It is measured where the size of a state makes steps short (a mechanism that rounding pulls out of its
symmetry), and again when steps have become longer, or after many of them. A multiple of it stands below the
floor of the state; `state_sizes` says what that is.
"""

from __future__ import annotations

import math

from cosim.kit import EVALUATIONS, SETTINGS_HEADER, walk
from cosim_integrators.kit.size_layout import (
    ARE_SMALL,
    FLOOR,
    FOLLOWED,
    LARGEST,
    LAST_PAUSE,
    MEASURED,
    NOISE,
    PAUSE,
    SIZE_VECTORS,
    STEPS_SINCE,
)
from cosim_integrators.kit.state_sizes import floor_of, follows, least_floor

SMALL = 0.1  # an error that would be less so much with tolerances of size 1 is that of a small state
EPSILON = 2.220446049250313e-16
WAYS = 3
APART = 1e-9  # of each state: so far that roundings differ, so near that everything else is a straight line
LONGER = 10.0  # than the step: what rounding is measured for
ABOVE = 50.0  # what it gives: it hardly shrinks with the step, so it must be small for steps to grow
HELPS = 1.1
LIMITS = 0.03  # of the tolerance: steps do not grow with an error that is larger and does not shrink
PATIENCE = 10.0  # steps
MOST_STEPS = 100.0
MOST_PAUSES = 64.0


def is_measured_again(step, sizes, n):
    """Whether rounding may give the states something else by now, or limit the steps."""
    end = SIZE_VECTORS * n
    if sizes[end + MEASURED] > 0.0:
        return 2.0 * sizes[end + MEASURED] < LONGER * step or sizes[end + STEPS_SINCE] > MOST_STEPS
    return sizes[end + STEPS_SINCE] > PATIENCE * (1.0 + sizes[end + LAST_PAUSE])


def count_step(error, sizes, n):
    """Count an accepted step that may have been short for the sake of rounding."""
    end = SIZE_VECTORS * n
    if sizes[end + ARE_SMALL] != 0.0 and error > LIMITS:
        sizes[end + STEPS_SINCE] += 1.0


def may_be_rounding(error, usual_error, sizes, n):
    """Whether an attempt was rejected for the sake of small states alone, and rounding is to be measured.

    `usual_error` is the error in tolerances of states of size 1. What does not help is done more and more
    rarely.
    """
    if not 1.0 < error < math.inf or usual_error > SMALL * error:
        return False
    if sizes[SIZE_VECTORS * n + PAUSE] > 0.0:
        sizes[SIZE_VECTORS * n + PAUSE] -= 1.0
        return False
    return True


def measure_rounding(table, ints, first, last, t, y, p, d, k, h, c, start, slope, noise, other, work):
    """What rounding makes of the derivatives, into `noise`: that of the states, and inside of the evaluation.

    The derivatives are looked at on short ways through `start`, where they are `slope`. Their change is that
    by rounding of the states once the way is as short as a rounding; what does not lie on a straight line is
    rounding inside. Afterwards `y` is the start, and the cache is not its cache; `other` is overwritten.
    """
    n = y.shape[0]
    for m in range(n):
        noise[m] = 0.0
    for look in range(2 * WAYS):
        for m in range(n):
            sign = 1.0 if (m % 3 == 0) == (look % 2 == 0) else -1.0
            y[m] = start[m] + sign * (APART * (1.0 + look // 2) * start[m])
        work[EVALUATIONS] += 1.0
        status = walk(table, ints, first, last, t, y, p, d, k, h, c)
        for m in range(n):
            y[m] = start[m]
            if look % 2 == 0:
                other[m] = c[m] if status == 0 else math.nan
            elif status == 0 and other[m] == other[m]:
                change = 0.5 * abs(c[m] - other[m]) * (EPSILON / APART)
                noise[m] = max(noise[m], change + abs(c[m] - 2.0 * slope[m] + other[m]))


def add_noise_of_states(table, ints, first, last, t, y, p, d, k, h, c, step, start, slope, noise, work):
    """Add to `noise` how much the derivatives change where the states change by it in a step.

    So positions get the rounding of speeds. Afterwards as after `measure_rounding`.
    """
    n = y.shape[0]
    for m in range(n):
        y[m] = start[m] + (1.0 if m % 3 == 0 else -1.0) * step * noise[m]
    work[EVALUATIONS] += 1.0
    status = walk(table, ints, first, last, t, y, p, d, k, h, c)
    for m in range(n):
        y[m] = start[m]
        if status == 0:
            noise[m] += abs(c[m] - slope[m])


def note_noise(step, noise, settings, sizes):
    """Raise the floors to what noise in derivatives gives in steps of this length; whether one has risen.

    They do not rise above those of states of size 1.
    """
    n = noise.shape[0]
    end = SIZE_VECTORS * n
    risen = False
    sizes[end + MEASURED] = 0.0
    sizes[end + STEPS_SINCE] = 0.0
    for m in range(n):
        sizes[NOISE * n + m] = 0.0
        raised = min(ABOVE * step * noise[m], settings[SETTINGS_HEADER + n + m])
        if follows(settings, n, m) and raised > max(
            floor_of(sizes[LARGEST * n + m], settings, n, m), least_floor(sizes, settings, n, m)
        ):
            risen = risen or raised > HELPS * sizes[FLOOR * n + m]
            sizes[NOISE * n + m] = raised
            sizes[FLOOR * n + m] = max(sizes[FLOOR * n + m], raised)
            sizes[end + FOLLOWED] = 1.0
            sizes[end + MEASURED] = step
    sizes[end + LAST_PAUSE] = 0.0 if risen else min(MOST_PAUSES, 2.0 * sizes[end + LAST_PAUSE] + 1.0)
    sizes[end + PAUSE] = sizes[end + LAST_PAUSE]
    return risen


def take_size_1(step, settings, sizes, n):
    """Hold all states to a size of 1 in the next step.

    Where no step is short enough for their own (it has a jump inside), and where derivatives miss more than
    rounding (while a witness is held).
    """
    for m in range(n):
        usual = settings[SETTINGS_HEADER + n + m]
        sizes[NOISE * n + m] = usual
        sizes[FLOOR * n + m] = max(sizes[FLOOR * n + m], usual)
    sizes[SIZE_VECTORS * n + FOLLOWED] = 1.0
    sizes[SIZE_VECTORS * n + MEASURED] = LONGER * step
    sizes[SIZE_VECTORS * n + STEPS_SINCE] = 0.0
