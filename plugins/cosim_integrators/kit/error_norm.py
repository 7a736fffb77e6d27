"""The size of an error: its largest component over the tolerance of that component.

The tolerance of a component is max(absolute, relative * |y|), |y| the larger one of both ends of the step.
The absolute one follows the size of each state (`state_sizes`); `usual` gives that of a size of 1.
The largest component counts, not a mean: a part at rest, or a second mechanism beside the first one, then
does not loosen the control of the others.
"""

from __future__ import annotations

import math

from cosim.kit import ACCURACY, ERROR_SLOTS, SETTINGS_HEADER, SLOTS_HEADER, larger


def usual(settings, n):
    """The absolute tolerances of states of size 1, and those that were given."""
    return settings[SETTINGS_HEADER + n : SETTINGS_HEADER + 2 * n]


def weighted_error(error, start, y, settings, absolute):
    """Largest component of an error over its tolerance (1 is just acceptable), or NaN."""
    n = y.shape[0]
    relative = settings[SETTINGS_HEADER : SETTINGS_HEADER + n]
    worst = 0.0
    total = 0.0
    for m in range(n):
        tolerance = max(absolute[m], relative[m] * max(abs(start[m]), abs(y[m])))
        part = abs(error[m]) / tolerance
        total += 0.0 * part + 0.0 * y[m]
        if part > worst:
            worst = part
    if total != 0.0:
        return math.nan
    return worst


def slot_error(c, settings, slots):
    """Largest relative error that components themselves report in the cache, over the accuracy, or NaN."""
    worst = 0.0
    for i in range(SLOTS_HEADER, SLOTS_HEADER + slots[ERROR_SLOTS]):
        worst = larger(worst, abs(c[slots[i]]))
    return worst / settings[ACCURACY]
