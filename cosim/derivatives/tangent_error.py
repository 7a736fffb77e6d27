"""The error of tangents in a step: the error estimate of the method, of the tangents of its stages.

A run chooses its steps by the states alone. Where these are simpler than their derivatives, such as a
polynomial that a step of any length integrates exactly, steps may be too long for the derivatives.
"""

from __future__ import annotations

import math

from cosim.contracts.method_layout import WORK_HEADER
from cosim.derivatives.carrier import part_of
from cosim_compiler.calls import never_inlined

ORDINARY = 30.0
"""Times the tolerance of states in a step: estimates that come to that with steps that suit the states."""
ALIKE = 0.05  # of a step: steps that differ by less from the one before them have the same errors
SKIPPED = 3.0  # such steps in a row, at most


def add_error_of_step(run, carrier, step):
    """Add up by how much each tangent may be off by a step, where that is more than is ordinary."""
    notes = carrier.notes
    length = step.time - step.start
    is_alike = abs(length - notes.estimated_length) <= ALIKE * length
    if is_alike and notes.skipped_steps < SKIPPED:
        notes.skipped_steps += 1.0
    elif carrier.error_weights.shape[0] > 0:
        notes.estimated_length = length
        notes.skipped_steps = 0.0
        for i in range(1, carrier.directions):
            add_errors_along(run, carrier, step, i)


@never_inlined
def add_errors_along(run, carrier, step, i):
    """Compare the estimates along one direction with the sizes of the tangents."""
    weights = carrier.error_weights
    count = weights.shape[0]
    n = carrier.y.shape[0]
    vectors = part_of(carrier.work_dots, i, carrier.work)[first_of_estimate(carrier) :]
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    largest = part_of(carrier.largest_dots, i, carrier.y)
    scale = scale_of(carrier, step)
    ordinary = ORDINARY * run.method_settings.step_accuracy
    for m in range(n):
        error = 0.0
        for j in range(count):
            error += weights[j] * vectors[j * n + m]
        error = scale * abs(error)
        largest[m] = max(largest[m], abs(y_dot[m]))
        if error > ordinary * largest[m]:
            add_error(run, carrier, step, i, m, error)


def first_of_estimate(carrier):
    """Where in `work` the vectors begin that the estimate adds up."""
    return WORK_HEADER + carrier.plan.error_at * carrier.y.shape[0]


def scale_of(carrier, step):
    """What the sum of the vectors is multiplied by."""
    return step.time - step.start if carrier.plan.error_is_rate != 0 else 1.0


@never_inlined
def add_error(run, carrier, step, i, m, error):
    """Add the error of a step to that of a tangent, unless the second estimate makes it ordinary."""
    n = carrier.y.shape[0]
    second = 0.0
    vectors = part_of(carrier.work_dots, i, carrier.work)[first_of_estimate(carrier) :]
    for j in range(carrier.second_weights.shape[0]):
        second += scale_of(carrier, step) * carrier.second_weights[j] * vectors[j * n + m]
    if second != 0.0:
        error = error * error / math.sqrt(error * error + second * second)
    at = i * n + m
    size = carrier.largest_dots[at]
    settings = run.method_settings
    if not error > ORDINARY * settings.step_accuracy * size:
        return
    carrier.dot_errors[at] += error
    likely = error
    power = (carrier.plan.order + 1.0) / settings.error_order
    if error < size and power > 1.0:
        likely = size * math.pow(error / size, power)
    carrier.likely_errors[at] += likely
    if error > carrier.worst_errors[at]:
        carrier.worst_errors[at] = error
        carrier.worst_times[at] = step.start
