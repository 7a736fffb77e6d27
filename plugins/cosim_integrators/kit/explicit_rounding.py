"""Measures the rounding noise of an explicit step: an attempt is repeated from two displaced starts.

`rounding` decides when to measure, and turns the noise into floors of tolerances.
"""

from __future__ import annotations

import math

from cosim.kit import rarely
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.explicit_error import mixed
from cosim_integrators.kit.explicit_stages import ERROR, SECOND_ERROR, combine, compute_stages
from cosim_integrators.kit.rounding import MARGIN, move_start, noise_of_attempts, raise_floors
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.step_in_own_past import clear_own_past


@rarely
def attempt_from_both_sides(system, method, t, t_end):
    """Attempt a step from a start to either side of its own; the sum of both errors into ``line(0)``."""
    start = method.start
    slope = method.slope
    # nothing reads these three vectors before the step is accepted
    true_start = method.end
    slope_at_start = method.last_slope
    error_sum = method.line(0)
    error = method.spare
    copy_values(true_start, start)
    copy_values(slope_at_start, slope)
    for m in range(method.n):
        error_sum[m] = 0.0
    for point in range(2):
        move_start(method, true_start, 1.0 - 2.0 * point)
        copy_values(system.y, start)
        status = evaluate(method.inner(system), method, t)
        if status == 0:
            copy_values(slope, system.c)
            status = compute_stages(system, method, t, t_end)
        if status == 0:
            combine(method, method.stages + ERROR, error)
        for m in range(method.n):
            error_sum[m] += (t_end - t) * error[m] if status == 0 else math.nan
    copy_values(start, true_start)
    copy_values(slope, slope_at_start)
    clear_own_past(system, method, t)


def noise_of_mixture(method, step, noise):
    """Turn `noise`, `MARGIN` times that of the first error estimate, into `MARGIN` times that of the mixture.

    The mixture divides by the second estimate, which is far larger than noise unless steps are very short.
    """
    second = method.spare
    combine(method, method.stages + SECOND_ERROR, second)
    for m in range(method.n):
        noise[m] = mixed(noise[m], MARGIN * step * second[m])


@rarely
def measure_rounding(method, step, rejected):
    """Measure the rounding noise of the attempt whose stages are computed, and raise the floors to it.

    Unless an attempt was `rejected` before, errors below the noise count as rounding even if no floor has
    risen (`error_norm.explains_errors`).
    """
    error = method.spare
    combine(method, method.stages + ERROR, error)
    for m in range(method.n):
        error[m] *= step
    noise_of_attempts(method, method.line(0), error)
    if method.tableau.has_second_error != 0.0:
        noise_of_mixture(method, step, method.line(0))
    raise_floors(method, step, method.line(0))
    all_states = method.sizes.all_states
    if all_states.measured > 0.0 and not rejected:
        all_states.last_pause = 0.0
