"""The size of an error: its largest component over the tolerance of that component.

The tolerance of a component is max(absolute, relative * |y|), with the larger |y| of both ends of the step.
The absolute tolerance follows the size of each state (`state_sizes`); `MethodArrays.absolute_tolerances` are
those of states of size 1. The largest component counts, not a mean: further parts, at rest or not, then do
not loosen the error control of the first ones.
"""

from __future__ import annotations

import math

from cosim.kit import nan_max


def explains_errors(method):
    """Whether an error below the measured rounding counts as rounding.

    Not if the last measurement has raised no floor: then the error is that of the formula.
    """
    if not method.is_controlled:
        return False
    all_states = method.sizes.all_states
    return all_states.measured > 0.0 and all_states.last_pause == 0.0


def weighted_error(method, error, y, absolute):
    """Largest component of an error over its tolerance (1 is just acceptable), or NaN.

    `y` is the end of the step, `absolute` are the absolute tolerances. A component within the measured
    rounding is left out: it does not shrink with the step, so it says nothing about the next one.
    """
    relative = method.relative_tolerances
    rounding = method.sizes.rounding
    of_size_1 = method.absolute_tolerances
    start = method.start
    explains = explains_errors(method)
    worst = 0.0
    not_finite = 0.0  # NaN as soon as something is not finite: 0 * inf is NaN, too
    for m in range(method.n):
        tolerance = max(absolute[m], relative[m] * max(abs(start[m]), abs(y[m])))
        part = abs(error[m]) / tolerance
        not_finite += 0.0 * part + 0.0 * y[m]
        if part > worst and not (explains and abs(error[m]) < rounding[m] < of_size_1[m]):
            worst = part
    if not_finite != 0.0:
        return math.nan
    return worst


def reported_error(method, c):
    """Largest relative error that components themselves report in the cache, over the accuracy, or NaN."""
    worst = 0.0
    for slot in method.error_slots:
        worst = nan_max(worst, abs(c[slot]))
    return worst / method.settings.accuracy
