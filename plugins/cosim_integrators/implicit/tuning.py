"""Sets the numbers of an implicit method that depend on the accuracy; kernel functions."""

from __future__ import annotations

import math

from cosim.kit import Settings, rows_of
from cosim_integrators.implicit.implicit_method import EPSILON, ROUNDING, NewtonNumbers

FIXED_TOLERANCE = 1e-12  # to which stages are solved without error control
ONE_STEP = 0.03  # tolerances: the error that Newton's method may leave in a step


def set_tolerances(settings, coefficients, loosening, left):
    """Write the tolerances of Newton's method and of the error estimate into the coefficients.

    `loosening` is the largest estimate, in tolerances, with which the solution still meets the accuracy;
    `left` is the error that an iteration may leave, in tolerances (0: as in RADAU5, less for a loose
    tolerance).
    """
    requested = rows_of(Settings, settings, 0, 1)[0]
    newton = rows_of(NewtonNumbers, coefficients, 0, 1)[0]
    accuracy = requested.step_accuracy
    factor = loosening if requested.fixed_step == 0.0 else FIXED_TOLERANCE / accuracy
    tolerance = factor * accuracy
    if requested.fixed_step != 0.0:
        left = 0.1
    elif left == 0.0:
        left = min(ONE_STEP, math.sqrt(tolerance))
    newton.tolerance_factor = factor
    newton.left_error = max(10.0 * EPSILON / tolerance, left)
    newton.rounding = ROUNDING / tolerance


def step_accuracy(settings):
    """The accuracy of one step."""
    return rows_of(Settings, settings, 0, 1)[0].step_accuracy


def tune(settings, coefficients):
    """Set tolerances for a method whose error estimate has the order of its solution: none is loosened."""
    set_tolerances(settings, coefficients, 1.0, 0.0)


def tune_steps_back(settings, coefficients):
    """Set tolerances for a multistep method: an iteration may leave an error of `ONE_STEP`."""
    set_tolerances(settings, coefficients, 1.0, ONE_STEP)


def tune_order_3(settings, coefficients):
    """Set tolerances where the estimate has order 2 and the solution order 3."""
    set_tolerances(settings, coefficients, 0.1 * math.pow(step_accuracy(settings), -1 / 4), 0.0)


def tune_order_5(settings, coefficients):
    """Set tolerances where the estimate has order 3 and the solution order 5, as in RADAU5."""
    set_tolerances(settings, coefficients, 0.1 * math.pow(step_accuracy(settings), -1 / 3), 0.0)
