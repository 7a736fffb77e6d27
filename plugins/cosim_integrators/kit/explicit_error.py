"""Error estimates of an attempt at an explicit step, in tolerances."""

from __future__ import annotations

import math

from cosim.kit import has_constraints, project_error, rarely
from cosim_integrators.kit.corrected_ends import mark_corrected, may_learn
from cosim_integrators.kit.error_norm import weighted_error
from cosim_integrators.kit.explicit_stages import ERROR, SECOND_ERROR, combine
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.state_sizes import set_floors_of_born_states

SECOND_WEIGHT = 0.01
"""The weight of the square of the second error estimate in the mixture of two (dop853.f)."""
ROUGH = 0.01  # times the change of a derivative in a step; the error rate of a resolved state is far smaller


def estimate(method, row, y, step, floors):
    """Compute one error estimate of a step into ``spare``; its size in tolerances."""
    spare = method.spare
    combine(method, method.stages + row, spare)
    for m in range(method.n):
        spare[m] *= step
    return weighted_error(method, spare, y, floors)


def mixed(error, second):
    """The geometric mixture of two estimates of orders three apart, of Dormand and Prince's 8(5,3).

    The estimate of lower order protects against an accidentally small one of higher order.
    """
    if not error > 0.0:
        return error
    return error * error / math.sqrt(error * error + SECOND_WEIGHT * second * second)


def estimated_error(method, y, step, floors):
    """The error estimate of the method in tolerances, or NaN."""
    error = estimate(method, ERROR, y, step, floors)
    if method.tableau.has_second_error != 0.0:
        error = mixed(error, estimate(method, SECOND_ERROR, y, step, floors))
    return error


@rarely
def error_of_too_large_attempt(method, t, y, step, error):
    """The error estimate of a too large attempt from `t`, after setting floors for states that leave 0.

    ``work.usual_error`` becomes the error in tolerances of states of size 1.
    """
    last_stage = method.stage(method.stages - 1)
    if set_floors_of_born_states(method, t, step, y, last_stage, method.settings.error_order):
        error = estimated_error(method, y, step, method.floors)
    method.work.usual_error = estimated_error(method, y, step, method.absolute_tolerances)
    return error


@rarely
def is_rough(method, y, step, least):
    """Whether a state whose error exceeds `least` may consist of rounding alone.

    Its error rate is then not far below the change of its derivative in the step; for a resolved state it is.
    """
    spare = method.spare
    relative = method.relative_tolerances
    floors = method.floors
    first = method.stage(0)
    combine(method, method.stages + ERROR, spare)
    has_rough_state = False
    for m in range(method.n):
        size = abs(spare[m])
        if size * step > least * max(floors[m], relative[m] * abs(y[m])):
            change = 0.0
            for i in range(1, method.stages):
                change = max(change, abs(method.stage(i)[m] - first[m]))
            has_rough_state = has_rough_state or size > ROUGH * change
    return has_rough_state


def corrected_error(system, method, t, step):
    """The error estimate of a step, without the part that the corrections at its end have removed."""
    y = system.y
    spare = method.spare
    before = method.line(0)  # nothing reads it before the step is accepted
    learns = has_constraints(method.corrections) and may_learn(method)
    error = 0.0
    for i in range(2 if method.tableau.has_second_error != 0.0 else 1):
        estimate(method, ERROR + i, y, step, method.floors)
        if learns:
            copy_values(before, spare)
        project_error(system, method, t, spare)
        if learns:
            mark_corrected(system, method, t, before, spare)
        size = weighted_error(method, spare, y, method.floors)
        error = size if i == 0 else mixed(error, size)
    return error
