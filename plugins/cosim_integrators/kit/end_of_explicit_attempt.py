"""The end of an attempt at an explicit step: its error, its corrections, and the kinks inside the step.

If the error of an attempt is too large, a kink inside may be the cause: then the step ends there (CUT).
Otherwise its end is evaluated and corrected; afterwards kinks are searched for once more (CUT).
"""

from __future__ import annotations

import math

from cosim.kit import NOT_MET, has_corrections, nan_max, never_inlined, project_end, worth_projecting
from cosim_integrators.kit.attempt_outcomes import ACCEPTED, CUT, REJECTED
from cosim_integrators.kit.error_norm import reported_error
from cosim_integrators.kit.explicit_error import (
    corrected_error,
    error_of_too_large_attempt,
    estimated_error,
)
from cosim_integrators.kit.explicit_stages import finish_step
from cosim_integrators.kit.kinks import is_cut_by_kink, may_be_cut
from cosim_integrators.kit.step_in_own_past import (
    AS_ERROR,
    UNSETTLED,
    clear_own_past,
    reads_own_step,
    settle_step,
)


def estimate_attempt(method, t, y, step, rejected, has_saved_sizes):
    """The error of an attempt whose stages are computed, and whether the sizes of states are saved now.

    If it is too large, or an attempt was rejected before, states that leave 0 get floors. That changes the
    sizes, so that they are saved before.
    """
    error = estimated_error(method, y, step, method.floors)
    if error > 1.0 or rejected:
        if not has_saved_sizes:
            method.sizes.copy_to(method.sizes_at_start)
            has_saved_sizes = True
        error = error_of_too_large_attempt(method, t, y, step, error)
    return error, has_saved_sizes


def examine_explicit_end(system, method, t, t_end, error, smallest, is_jump):
    """The outcome of an attempt from `t` to `t_end` whose stages are computed; its status and its error.

    The end is evaluated and corrected only if the error of the attempt is near the tolerance (corrections may
    reduce it), or if the attempt crosses a jump.
    """
    if (
        may_be_cut(method, error)
        and finish_step(system, method, t_end) == 0
        and is_cut_by_kink(system, method, t, t_end, smallest)
    ):
        return CUT, 0, error
    if not (is_jump or worth_projecting(error, method.settings.error_order, method.corrections)):
        return REJECTED, 0, error
    status, error = correct_end(system, method, t, t_end, error)
    if status in (UNSETTLED, NOT_MET):
        return REJECTED, status, AS_ERROR
    if status != 0:
        return REJECTED, status, math.nan
    if not error <= (math.inf if is_jump else 1.0):
        return REJECTED, 0, error
    if is_cut_by_kink(system, method, t, t_end, smallest):
        clear_own_past(system, method, t)
        return CUT, 0, error
    return ACCEPTED, 0, error


@never_inlined
def project_attempt(system, method, t_end, step, error):
    """Project the end of an attempt onto the constraints: 0 or why that fails, and the remaining error."""
    status = project_end(system, method, t_end)
    if status == 0 and method.is_controlled:
        error = corrected_error(system, method, t_end, step)
    return status, error


def correct_end(system, method, t, t_end, error):
    """Evaluate the end of an attempt and correct it: 0 or why that fails, and the remaining error."""
    controlled = method.is_controlled
    step = t_end - t
    status = finish_step(system, method, t_end)
    if status == 0 and reads_own_step(method, system.c):
        status = settle_step(system, method, t, t_end)
        if status == 0 and controlled:
            error = estimated_error(method, system.y, step, method.floors)
    if status == 0 and has_corrections(method.corrections):
        status, error = project_attempt(system, method, t_end, step, error)
    if status == 0 and controlled:
        error = nan_max(error, reported_error(method, system.c))
    return status, error
