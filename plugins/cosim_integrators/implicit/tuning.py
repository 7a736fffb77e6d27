"""Kernel functions: what of an implicit method depends on the accuracy."""

from __future__ import annotations

import math

from cosim.kit import FIXED, STEP_ACCURACY
from cosim_integrators.implicit.layout import EPSILON, NEWTON, TOLERANCE
from cosim_integrators.implicit.layout import ROUNDING as ROUNDING_AT

FIXED_TOLERANCE = 1e-12  # to which stages are solved where there is no error control
ROUNDING = 1e-10  # a correction, relative to the state, that may be all rounding when it no longer shrinks
ONE_STEP = 0.03  # of the error that is allowed: what Newton's method may leave behind


def set_tolerances(settings, method, loosening, left):
    """Write what Newton's method and the error estimate are held to.

    `loosening` is what the estimate may be, in tolerances, for the solution to keep the accuracy; `left` what
    an iteration may leave, in tolerances (0: as in RADAU5, less for a loose one).
    """
    accuracy = settings[STEP_ACCURACY]
    factor = loosening if settings[FIXED] == 0.0 else FIXED_TOLERANCE / accuracy
    reached = factor * accuracy
    if settings[FIXED] != 0.0:
        left = 0.1
    elif left == 0.0:
        left = min(ONE_STEP, math.sqrt(reached))
    method[TOLERANCE] = factor
    method[NEWTON] = max(10.0 * EPSILON / reached, left)
    method[ROUNDING_AT] = ROUNDING / reached


def tune(settings, method):
    """Where the order of the estimate is that of the solution."""
    set_tolerances(settings, method, 1.0, 0.0)


def tune_steps_back(settings, method):
    """What an iteration leaves goes into one step only; a little less than the estimate sees."""
    set_tolerances(settings, method, 1.0, ONE_STEP)


def tune_order_3(settings, method):
    """The estimate has order 2, the solution order 3."""
    set_tolerances(settings, method, 0.1 * math.pow(settings[STEP_ACCURACY], -1 / 4), 0.0)


def tune_order_5(settings, method):
    """The estimate has order 3, the solution order 5: as in RADAU5."""
    set_tolerances(settings, method, 0.1 * math.pow(settings[STEP_ACCURACY], -1 / 3), 0.0)
