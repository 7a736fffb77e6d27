"""Sizes of errors and corrections, in tolerances of the states."""

from __future__ import annotations

from cosim.kit import has_corrections, nan_max, tangent_of
from cosim_integrators.kit.error_norm import explains_errors
from cosim_integrators.kit.state_sizes import SMALLEST_FLOOR, set_floors_of_born_states

MUCH_SMALLER = 100.0  # a tolerance below that of size 1 by this factor makes a state a small one


def set_weights(method, y, step):
    """Set ``weight`` and ``loose_weight``: 1 / tolerance of each state at its present size, and at size 1."""
    factor = method.newton.tolerance_factor
    floors = method.floors
    relative_tolerances = method.relative_tolerances
    absolute = method.absolute_tolerances
    slope = method.slope
    weight = method.weight
    loose = method.loose_weight
    for m in range(method.n):
        relative = relative_tolerances[m]
        tolerance_of_size_1 = max(absolute[m], relative * abs(y[m]))
        own_tolerance = max(floors[m], relative * max(abs(y[m]), step * abs(slope[m])))
        loose[m] = 1.0 / (factor * tolerance_of_size_1)
        is_small = SMALLEST_FLOOR < own_tolerance < tolerance_of_size_1
        weight[m] = 1.0 / (factor * own_tolerance) if is_small else loose[m]


@tangent_of(set_weights, with_values=True, leaves_fixed=True)
def set_weights_of_values(method, y, step, method_dot, y_dot, step_dot):
    """Set the weights as in a run without tangents: they decide when an iteration ends, and do not vary."""
    set_weights(method, y, step)


def size_of_error(method, error, start, end, absolute):
    """Largest component of the error of a step, in tolerances."""
    factor = method.newton.tolerance_factor
    relative = method.relative_tolerances
    worst = 0.0
    for m in range(method.n):
        tolerance = max(absolute[m], relative[m] * max(abs(start[m]), abs(end[m])))
        component = abs(error[m]) / (factor * tolerance)
        if component > worst or component != component:
            worst = nan_max(worst, component)
            method.work.worst_state = float(m)
    return worst


def size_beyond_rounding(method, error, start, end, absolute):
    """As `size_of_error`, without components within the measured rounding."""
    factor = method.newton.tolerance_factor
    relative = method.relative_tolerances
    rounding = method.sizes.rounding
    of_size_1 = method.absolute_tolerances
    explains = explains_errors(method)
    worst = 0.0
    for m in range(method.n):
        tolerance = max(absolute[m], relative[m] * max(abs(start[m]), abs(end[m])))
        component = abs(error[m]) / (factor * tolerance)
        if component > worst and not (explains and abs(error[m]) < rounding[m] < of_size_1[m]):
            worst = component
            method.work.worst_state = float(m)
        elif component != component:
            worst = nan_max(worst, component)
            method.work.worst_state = float(m)
    return worst


def size_of_attempt(method, t, step, end, slope, order):
    """Largest component of ``method.error`` beyond the measured rounding, in tolerances.

    Sets floors for states that leave 0 in an attempt from `t`. `slope` is a derivative at or near the `end`,
    `order` the exponent of the step in the error.
    """
    set_floors_of_born_states(method, t, step, end, slope, order)
    size = size_beyond_rounding(method, method.error, method.start, end, method.floors)
    if may_be_rejected(method, size):
        set_usual_error(method, end)
    return size


def size_of_whole_attempt(method, t, step, end, slope, order):
    """As `size_of_attempt`, but with rounding: for errors that contain the noise of earlier steps."""
    set_floors_of_born_states(method, t, step, end, slope, order)
    size = size_of_error(method, method.error, method.start, end, method.floors)
    if may_be_rejected(method, size):
        set_usual_error(method, end)
    return size


def may_be_rejected(method, size):
    """Whether an attempt with an error of this size may be rejected: then its usual error counts."""
    return not size <= 1.0 or has_corrections(method.corrections) or method.slots.errors != 0


def set_usual_error(method, end):
    """Set ``work.usual_error``, the error in tolerances of states of size 1."""
    work = method.work
    worst_state = work.worst_state
    work.usual_error = size_of_error(method, method.error, method.start, end, method.absolute_tolerances)
    work.worst_state = worst_state


@tangent_of(size_of_attempt, with_values=True, leaves_fixed=True)
def size_of_accepted_attempt(
    method, t, step, end, slope, order, method_dot, t_dot, step_dot, end_dot, slope_dot, order_dot
):
    """Return 0: only accepted attempts have tangents, and their results do not depend on the error."""
    return 0.0


@tangent_of(size_of_whole_attempt, with_values=True, leaves_fixed=True)
def size_of_accepted_whole_attempt(
    method, t, step, end, slope, order, method_dot, t_dot, step_dot, end_dot, slope_dot, order_dot
):
    """Return 0, as `size_of_accepted_attempt`."""
    return 0.0


def size_of_correction(method, correction):
    """Largest component of a correction, in tolerances of states of size 1, or NaN."""
    loose = method.loose_weight
    size = 0.0
    for m in range(method.n):
        component = abs(correction[m]) * loose[m]
        if component > size or component != component:
            size = nan_max(size, component)
            method.work.worst_state = float(m)
    return size


def own_sizes(method, correction):
    """The largest component of a finite correction, in tolerances of the states' own sizes.

    Returns the largest one of all states, and that of small states: those whose tolerances are far below the
    tolerances of size 1.
    """
    weight = method.weight
    loose = method.loose_weight
    size = 0.0
    small = 0.0
    for m in range(method.n):
        component = abs(correction[m]) * weight[m]
        size = max(size, component)
        small = max(small, component if weight[m] > MUCH_SMALLER * loose[m] else 0.0)
    return size, small


def relative_size(correction, corrected, base):
    """The largest component of a correction, relative to the largest one of `corrected` and `base`."""
    size = 0.0
    for m in range(correction.shape[0]):
        size = nan_max(size, abs(correction[m]))
    largest = size
    for m in range(base.shape[0]):
        largest = max(largest, abs(base[m]))
    for m in range(corrected.shape[0]):
        largest = max(largest, abs(corrected[m]))
    return size / largest if size != 0.0 else 0.0
