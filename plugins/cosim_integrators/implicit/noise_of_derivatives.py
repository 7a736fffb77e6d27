"""The noise of derivatives, and what it becomes in an attempt of an implicit method.

An attempt that is repeated from another start does not show all rounding: errors of multistep methods have
the same noise of earlier steps, and one-step methods damp that of stiff states.
"""

from __future__ import annotations

import math

from cosim.kit import rarely
from cosim_integrators.implicit.matrices import solve_real
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.rounding import APART, LEAST, may_be_rounding, raise_floors

EPSILON = 2.220446049250313e-16
WAYS = 3
OF_STEP = 4.0  # a step, in parts of what its matrix makes of a derivative, at most


def measure_noise(system, method, t, noise, other, shorter):
    """Measure the effect of rounding on the derivatives: that of the states, and of the evaluation.

    The derivatives are computed on short ways through the start, where they are `slope`. Their change is that
    by rounding of the states once the way is as short as a rounding; what lies neither on a straight line nor
    on a parabola is rounding inside. Small states move by at least a rounding of the largest one: what is
    added to something larger shows its rounding there alone. Where all have begun at 0 that is one of 1.
    Afterwards `y` is the start, and the cache is not its cache; `other` and `shorter` are overwritten.
    """
    y = system.y
    c = system.c
    n = method.n
    start = method.start
    slope = method.slope
    all_states = method.sizes.all_states
    least = LEAST * min(1.0, max(all_states.largest_of_all, all_states.least_of_all))
    for m in range(n):
        noise[m] = 0.0
    for point in range(2 * WAYS):
        way = 1.0 + point // 2
        share = (way - 1.0) * (way - 1.0) / (way * way)
        for m in range(n):
            sign = 1.0 if (m % 3 == 0) == (point % 2 == 0) else -1.0
            y[m] = start[m] + sign * way * max(APART * abs(start[m]), least)
        status = evaluate(system, method, t)
        for m in range(n):
            y[m] = start[m]
            if point % 2 == 0:
                other[m] = c[m] if status == 0 else math.nan
            elif status == 0 and other[m] == other[m]:
                change = 0.5 * abs(c[m] - other[m]) * (EPSILON / APART)
                bend = c[m] - 2.0 * slope[m] + other[m]
                if way > 1.0:
                    noise[m] = max(noise[m], change + abs(share * bend - shorter[m]))
                shorter[m] = bend


@rarely
def noise_of_differences(system, method, t):
    """The floors that noise of the derivatives needs in a finished attempt, into ``method.error``.

    The matrix of the step says what noise in derivatives becomes: so positions get that of speeds, and stiff
    states lose theirs. Noise hardly shrinks with the step, and steps grow only while the root of that order
    of the error is small: so a floor is 2 to the order times the noise. Afterwards `y` is the start.
    """
    noise = method.error
    measure_noise(system, method, t, noise, method.right, method.imaginary)
    solve_real(method, noise)
    above = math.pow(2.0, method.settings.error_order)
    for m in range(method.n):
        noise[m] = above * OF_STEP * abs(noise[m])


def measure_rounding_of_differences(system, method, t, t_end):
    """Measure what rounding gives the states in a finished attempt; whether a floor has risen."""
    noise_of_differences(system, method, t)
    return raise_floors(method, t_end - t, method.error)


SHORTER, MEASURED, UNCHANGED = range(3)
"""How a rejected attempt is repeated: shorter; as it was and then measured; as it was: floors have risen."""


def measure_at_once(system, method, t, t_end, error, was_measured):
    """Measure rounding for an attempt that is rejected; how it is repeated: UNCHANGED or SHORTER.

    Nothing is attempted from elsewhere, so the attempt need not be repeated to be judged: that took a third
    more steps where a state is little more than rounding.
    """
    has_risen = may_be_rounding(method, error) and measure_rounding_of_differences(system, method, t, t_end)
    return UNCHANGED if has_risen else SHORTER
