"""Kernel functions: what of an implicit method depends on the accuracy."""

from __future__ import annotations

import math

from cosim.kit import Settings, rows_of
from cosim_integrators.implicit.implicit_method import EPSILON, ROUNDING, NewtonNumbers

FIXED_TOLERANCE = 1e-12  # to which stages are solved where there is no error control
ONE_STEP = 0.03  # of the error that is allowed: what Newton's method may leave behind


def set_tolerances(settings, coefficients, loosening, left):
    """Write the tolerances of Newton's method and of the error estimate into the coefficients.

    `loosening` is what the estimate may be, in tolerances, for the solution to keep the accuracy; `left` what
    an iteration may leave, in tolerances (0: as in RADAU5, less for a loose one).
    """
    requested = rows_of(Settings, settings, 0, 1)[0]
    newton = rows_of(NewtonNumbers, coefficients, 0, 1)[0]
    accuracy = requested.step_accuracy
    factor = loosening if requested.fixed_step == 0.0 else FIXED_TOLERANCE / accuracy
    reached = factor * accuracy
    if requested.fixed_step != 0.0:
        left = 0.1
    elif left == 0.0:
        left = min(ONE_STEP, math.sqrt(reached))
    newton.tolerance_factor = factor
    newton.left_error = max(10.0 * EPSILON / reached, left)
    newton.rounding = ROUNDING / reached


def step_accuracy(settings):
    """The accuracy of one step."""
    return rows_of(Settings, settings, 0, 1)[0].step_accuracy


def tune(settings, coefficients):
    """Set tolerances for a method whose error estimate has the order of its solution: it is not loosened."""
    set_tolerances(settings, coefficients, 1.0, 0.0)


def tune_steps_back(settings, coefficients):
    """Set tolerances for a multistep method: an iteration may leave `ONE_STEP` of what is allowed."""
    set_tolerances(settings, coefficients, 1.0, ONE_STEP)


def tune_order_3(settings, coefficients):
    """Set tolerances where the estimate has order 2 and the solution order 3."""
    set_tolerances(settings, coefficients, 0.1 * math.pow(step_accuracy(settings), -1 / 4), 0.0)


def tune_order_5(settings, coefficients):
    """Set tolerances where the estimate has order 3 and the solution order 5, as in RADAU5."""
    set_tolerances(settings, coefficients, 0.1 * math.pow(step_accuracy(settings), -1 / 3), 0.0)
