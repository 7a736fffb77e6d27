"""Steps of Radau IIA methods: an attempt at a step, its error, and the acceptance of the step.

References
----------
E. Hairer, G. Wanner, RADAU5 (radau5.f), subroutine ESTRAD.
"""

from __future__ import annotations

import math

from cosim_integrators.implicit.collocation_method import CollocationMethod
from cosim_integrators.implicit.collocation_stages import extrapolate, most_iterations, multiply, solve_stages
from cosim_integrators.implicit.correction_sizes import (
    set_weights,
    size_of_attempt,
)
from cosim_integrators.implicit.driver import new_step, next_of_one_step_method
from cosim_integrators.implicit.implicit_method import (
    NO_JACOBIAN,
    OK,
    OLD,
)
from cosim_integrators.implicit.matrices import make_matrices, solve_real
from cosim_integrators.implicit.repeated_implicit_step import new_followed_step, new_redo
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values

SAFETY = 0.9
LARGEST_GROWTH = 8.0
LARGEST_SHRINK = 0.2
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices


def attempt_collocation(system, method, t, t_end):
    """Compute the end of a step into `y` and its error into `work`; see `driver`."""
    numbers = method.numbers
    attempt = method.attempt
    step = t_end - t
    status = make_matrices(method, step, numbers.shift, numbers.pair_real, numbers.pair_imaginary)
    if status != OK:
        return status
    set_weights(method, method.start, step)
    extrapolate(method, step, method.z)
    multiply(method, method.inverse, method.z, method.unknowns)
    attempt.iterations = 0.0
    attempt.rate = 0.0
    status = solve_stages(system, method, t, t_end)
    if status != OK:
        return status
    y = system.y
    start = method.start
    end = method.z[(method.stages - 1) * method.n :]
    for m in range(method.n):
        y[m] = start[m] + end[m]
    compute_defect(method, step)
    attempt.estimate = 0.0
    if method.is_controlled:
        estimate_error(system, method, t, step)
    return OK


def compute_defect(method, step):
    """Write the difference to an embedded formula into ``error``, filtered against stiff parts.

    In parts that are not stiff it is the difference between the derivative at the start and that of the
    collocation polynomial, over the shift. It is copied to ``base`` for the dense output.
    """
    slope = method.slope
    error = method.error
    part = method.imaginary
    z = method.z
    n = method.n
    for m in range(n):
        total = 0.0
        for i in range(method.stages):
            total += method.error_weight(i) * z[i * n + m]
        part[m] = total / step
        error[m] = slope[m] + part[m]
    solve_real(method, error)
    copy_values(method.base, error)


def estimate_error(system, method, t, step):
    """Compute the size of the error and the factor for the next step.

    After a rejection, and in a first step, a large estimate is filtered once more, which costs an evaluation.
    """
    attempt = method.attempt
    exponent = method.numbers.exponent
    y = system.y
    c = system.c
    start = method.start
    error = method.error
    part = method.imaginary
    end = method.right
    slope = method.last_derivative
    copy_values(end, y)
    size = size_of_attempt(method, t, step, end, slope, exponent)
    if size >= 1.0 and (method.memory.last_step == 0.0 or attempt.rejected != 0.0):
        for m in range(method.n):
            y[m] = start[m] + error[m]
        if evaluate(system, method, t) == 0:
            for m in range(method.n):
                error[m] = c[m] + part[m]
            solve_real(method, error)
            size = size_of_attempt(method, t, step, end, slope, exponent)
        copy_values(y, end)
    attempt.estimate = size
    most = 2.0 * most_iterations(method.stages)
    quotient = math.pow(size, 1.0 / exponent) / (SAFETY * (1.0 + most) / (attempt.iterations + most))
    attempt.factor = 1.0 / max(1.0 / LARGEST_GROWTH, min(1.0 / LARGEST_SHRINK, quotient))


def accept_collocation(system, method, t, t_end, ideal):
    """Store dense output and history; returns the length of the next step, by the predictive controller."""
    memory = method.memory
    attempt = method.attempt
    parts = method.parts
    stages = method.stages
    n = method.n
    step = t_end - t
    z = method.z
    defect = method.base
    copy_values(method.history, z)
    attempt.degree = float(stages + 1)
    for q in range(stages + 1):
        part = method.dense(q)
        for m in range(n):
            total = method.dense_correction(q) * defect[m]
            if q < stages:
                for i in range(stages):
                    total += parts[i, q] * z[i * n + m]
            part[m] = total
    converges_fast = attempt.rate <= method.newton.refresh_rate
    memory.jacobian_age = OLD if converges_fast else NO_JACOBIAN
    following = ideal
    if method.is_controlled:
        error = attempt.estimate
        quotient = 1.0 / attempt.factor
        if memory.last_step > 0.0 and memory.last_error > 0.0:
            trend = math.pow(error * error / memory.last_error, 1.0 / method.numbers.exponent) / SAFETY
            trend *= memory.last_step / step
            quotient = max(quotient, max(1.0 / LARGEST_GROWTH, min(1.0 / LARGEST_SHRINK, trend)))
        proposal = step / quotient
        if attempt.rejected != 0.0:
            proposal = min(proposal, step)
        if converges_fast and 1.0 <= proposal / step <= KEEP_BELOW:
            proposal = step
        following = next_of_one_step_method(step, ideal, proposal)
        memory.last_error = max(1e-2, error)
    memory.last_step = step
    return following


collocation_step = new_step(CollocationMethod, attempt_collocation, accept_collocation)
redo_collocation_step = new_redo(CollocationMethod, attempt_collocation, accept_collocation)
followed_collocation_step = new_followed_step(CollocationMethod, attempt_collocation, accept_collocation)
