"""The end of an attempt at a step: it is evaluated and corrected, and the step is searched for kinks.

If the error of an attempt is too large, a kink inside may be the cause: then the step ends there (CUT).
Within the tolerance the end is corrected, and the errors that components report are included; afterwards
kinks are searched for once more (CUT). Near a kink Newton's method may have stopped too early: the attempt is
repeated once (UNSURE).
"""

from __future__ import annotations

import math

from cosim.kit import (
    has_constraints,
    has_corrections,
    nan_max,
    project_end,
    project_error,
    rarely,
    store_state,
    worth_projecting,
)
from cosim_integrators.implicit.correction_sizes import size_beyond_rounding
from cosim_integrators.implicit.implicit_method import BAD_NUMBER, OK
from cosim_integrators.kit.attempt_outcomes import ACCEPTED, CUT, REJECTED, UNSURE
from cosim_integrators.kit.corrected_ends import mark_corrected, may_learn
from cosim_integrators.kit.counted_evaluation import evaluate_stage
from cosim_integrators.kit.error_norm import reported_error
from cosim_integrators.kit.kinks import is_cut_by_kink, may_be_cut
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.step_length import LARGEST_GROWTH


def examine_end(system, method, t, t_end, smallest, knows_kink):
    """The outcome of an attempt from `t` to `t_end`, whose end is in `y`; its status and its error.

    `smallest` is the smallest step, s; `knows_kink` says that this step was tried again for a kink before.
    """
    error = method.attempt.estimate
    if may_be_cut(method, error) and evaluate_end(system, method, t_end) == OK:
        is_cut = is_cut_by_kink(system, method, t, t_end, smallest)
        copy_values(system.y, method.end)
        if is_cut:
            return CUT, OK, error
    if not worth_projecting(error, method.settings.error_order, method.corrections):
        return REJECTED, OK, error
    status = evaluate_corrected_end(system, method, t_end)
    if status != OK:
        return REJECTED, status, error
    error = error_of_end(system, method, t_end)
    if not error <= 1.0:
        return REJECTED, OK, error
    if is_cut_by_kink(system, method, t, t_end, smallest):
        return CUT, OK, error
    if method.work.kink_size != 0.0 and not knows_kink:
        return UNSURE, OK, error
    return ACCEPTED, OK, error


def evaluate_end(system, method, t_end):
    """Evaluate the end of a step; OK, BAD_NUMBER or 1 + the index of a block that failed."""
    status = evaluate_stage(system, method, t_end)
    if status != 0:
        return status
    return OK if store_state(method.end, system.y, system.c) else BAD_NUMBER


def evaluate_corrected_end(system, method, t_end):
    """Evaluate the end of a step and correct it: OK, or the status of a failure."""
    status = evaluate_end(system, method, t_end)
    if status == OK:
        status = project_end(system, method, t_end)
    return status


@rarely
def correct_error(system, method, t_end):
    """Subtract from the error of a step the part that the corrections of its end have removed."""
    attempt = method.attempt
    size_before = attempt.estimate
    learns = has_constraints(method.corrections) and may_learn(method)
    if learns:
        copy_values(method.spare, method.error)
    project_error(system, method, t_end, method.error)
    if learns:
        mark_corrected(system, method, t_end, method.spare, method.error)
    size = size_beyond_rounding(method, method.error, method.start, system.y, method.floors)
    attempt.estimate = size
    if 0.0 < size < size_before:
        growth = math.pow(size_before / size, 1.0 / method.settings.error_order)
        attempt.factor = max(attempt.factor, min(LARGEST_GROWTH, attempt.factor * growth))


def error_of_end(system, method, t_end):
    """The error of an attempt whose end is corrected, or the one that components report if it is larger."""
    attempt = method.attempt
    if not method.is_controlled:
        return attempt.estimate
    if has_corrections(method.corrections):
        correct_error(system, method, t_end)
    reported = reported_error(method, system.c)
    if reported > 1.0:
        attempt.factor = 0.5
    return nan_max(attempt.estimate, reported)
