"""The rounding noise of derivatives, and the noise of the states that it causes in an implicit step.

Repeating an attempt from another start does not show all rounding: errors of multistep methods contain the
same noise of earlier steps each time, and one-step methods damp the noise of stiff states.
"""

from __future__ import annotations

import math

from cosim.kit import rarely
from cosim_integrators.implicit.matrices import solve_real
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.rounding import APART, LEAST, may_be_rounding, raise_floors

EPSILON = 2.220446049250313e-16
DISTANCES = 3  # at which points on both sides of the start are evaluated
OF_STEP = 4.0  # a bound of the step over the factor of a derivative in the solution with its matrix


def measure_noise(system, method, t, noise, opposite, shorter):
    """Measure the noise of the derivatives: by rounding of the states, and inside the evaluation.

    The derivatives are evaluated at points on both sides of the start, at `DISTANCES` distances; at the start
    they are `slope`. Their linear change, scaled down to a rounding of the states, is the first part. The
    second part is the deviation from a parabola. Small states move by at least a rounding of the largest
    state, to which they may be added, or by a rounding of 1 if all states have begun at 0. Afterwards `y` is
    the start, but the cache does not belong to it; `opposite` and `shorter` are overwritten.
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
    for point in range(2 * DISTANCES):
        distance = 1.0 + point // 2
        # on a parabola the bend grows with the square of the distance
        share = (distance - 1.0) * (distance - 1.0) / (distance * distance)
        for m in range(n):
            sign = 1.0 if (m % 3 == 0) == (point % 2 == 0) else -1.0
            y[m] = start[m] + sign * distance * max(APART * abs(start[m]), least)
        status = evaluate(system, method, t)
        for m in range(n):
            y[m] = start[m]
            if point % 2 == 0:
                opposite[m] = c[m] if status == 0 else math.nan
            elif status == 0 and opposite[m] == opposite[m]:
                change = 0.5 * abs(c[m] - opposite[m]) * (EPSILON / APART)
                bend = c[m] - 2.0 * slope[m] + opposite[m]
                if distance > 1.0:
                    noise[m] = max(noise[m], change + abs(share * bend - shorter[m]))
                shorter[m] = bend


@rarely
def noise_of_differences(system, method, t):
    """Write into ``method.error`` the floors that the noise of the derivatives needs in a finished attempt.

    Solving with the matrix of the step turns noise of derivatives into noise of states: positions get that of
    speeds, and stiff states lose theirs. Step control takes the root of that order of the error, and noise
    hardly shrinks with the step: so a floor is 2 to the order times the noise. Afterwards `y` is the start.
    """
    noise = method.error
    measure_noise(system, method, t, noise, method.right, method.imaginary)
    solve_real(method, noise)
    above = math.pow(2.0, method.settings.error_order)
    for m in range(method.n):
        noise[m] = above * OF_STEP * abs(noise[m])


def measure_rounding_of_differences(system, method, t, t_end):
    """Measure the rounding noise of a finished attempt and raise the floors; whether one has risen."""
    noise_of_differences(system, method, t)
    return raise_floors(method, t_end - t, method.error)


SHORTER, MEASURED, UNCHANGED = range(3)
"""How a rejected attempt is repeated: shorter; unchanged, to measure; unchanged, with raised floors."""


def measure_at_once(system, method, t, t_end, error, was_measured):
    """Measure the rounding of a rejected attempt at once; how the attempt is repeated: UNCHANGED or SHORTER.

    The measurement leaves ``method.attempt`` as it is, so it needs no repetition of its own: that took a
    third more steps where a state is little more than rounding.
    """
    has_risen = may_be_rounding(method, error) and measure_rounding_of_differences(system, method, t, t_end)
    return UNCHANGED if has_risen else SHORTER
