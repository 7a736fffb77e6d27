"""Steps of diagonally implicit Runge–Kutta methods: the stages are solved one by one with the same matrix."""

from __future__ import annotations

import math

from cosim.kit import Record, as_table, rows_of, width_of
from cosim_integrators.implicit.correction_sizes import set_weights, size_of_attempt
from cosim_integrators.implicit.driver import new_step, next_of_one_step_method
from cosim_integrators.implicit.implicit_method import NO_JACOBIAN, NUMBERS_AT, OK, OLD, ImplicitMethod
from cosim_integrators.implicit.matrices import make_matrices, solve_real
from cosim_integrators.implicit.newton import solve_stage
from cosim_integrators.implicit.repeated_implicit_step import new_followed_step, new_redo
from cosim_integrators.kit.start_of_step import copy_values
from cosim_integrators.kit.step_length import next_step

SAFETY = 0.9  # of the step that would just meet the tolerance
NEGLIGIBLE_JUMP = 0.01  # tolerances: a smaller change of the state over a step does not restart the method
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices
LEAST_ERROR = 1e-4  # in tolerances: the step control treats smaller errors as this one


class DiagonalNumbers(Record):
    """The shape of the tableau.

    Behind it, for s stages: the nodes (s), a (s * s), the error weights (s), the weights of the guesses
    (s * s), the dense output (s * degree).
    """

    stages: float
    gamma: float  # the number on the diagonal
    exponent: float  # of the step in the error estimate
    has_weights: float  # whether the error is a sum of stages; else derivatives of two steps give it
    degree: float  # of the dense output


NODES_AT = NUMBERS_AT + width_of(DiagonalNumbers)


class PastOfStages(ImplicitMethod):
    """The history of methods whose first stage is the last stage of the previous step."""

    @property
    def last_stage(method):
        """The derivative that solves the equation of the last stage of the last step."""
        return method.past(0)

    @property
    def end_slope(method):
        """The derivative at the end of the last step."""
        return method.past(1)

    @property
    def first_stage(method):
        """The first stage of the last step."""
        return method.past(2)


class DiagonalMethod(PastOfStages):
    """The arrays of the method; the vectors of the family are the stages k."""

    @property
    def numbers(method):
        """The shape of the tableau."""
        return rows_of(DiagonalNumbers, method.coefficients, NUMBERS_AT, 1)[0]

    @property
    def stages(method):
        """The number of stages."""
        return int(method.numbers.stages)

    def node(method, i):
        """The node of a stage."""
        return method.coefficients[NODES_AT + i]

    @property
    def a(method):
        """The tableau, a table."""
        s = method.stages
        return as_table(method.coefficients[NODES_AT + s : NODES_AT + s * (s + 1)], s, s)

    def error_weight(method, i):
        """The weight of a stage in the error."""
        s = method.stages
        return method.coefficients[NODES_AT + s * (s + 1) + i]

    @property
    def guesses(method):
        """Weights with which earlier stages are carried on to a guess of each stage; a table."""
        s = method.stages
        return as_table(method.coefficients[NODES_AT + s * (s + 2) : NODES_AT + s * (2 * s + 2)], s, s)

    @property
    def parts(method):
        """The coefficients of each stage in the polynomial of dense output; a table."""
        s = method.stages
        return as_table(method.coefficients[NODES_AT + s * (2 * s + 2) :], s, int(method.numbers.degree))

    def stage(method, i):
        """The derivative of a stage."""
        return method.family(i, 1)


def attempt_stages(system, method, t, t_end):
    """Compute the end of a step into `y` and its error into `work`; see `driver`."""
    attempt = method.attempt
    y = system.y
    n = method.n
    stages = method.stages
    step = t_end - t
    weighted = method.numbers.gamma * step
    status = make_matrices(method, weighted, 1.0, 0.0, 0.0)
    if status != OK:
        return status
    start = method.start
    base = method.base
    a = method.a
    guesses = method.guesses
    derivatives = method.family(0, stages)
    set_weights(method, start, step)
    attempt.rate = 0.0
    attempt.iterations = 0.0
    # The derivative that solves the equation of the previous last stage is the first stage: an evaluation
    # would enlarge the error that Newton's method has left, in stiff parts. Not after a jump.
    if continues_last_step(method, step):
        copy_values(method.stage(0), method.last_stage)
    else:
        copy_values(method.stage(0), method.slope)
    for i in range(1, stages):
        for m in range(n):
            total = 0.0
            guess = 0.0
            for j in range(i):
                derivative = derivatives[j * n + m]
                total += a[i, j] * derivative
                guess += guesses[i, j] * derivative
            base[m] = start[m] + step * total
            y[m] = base[m] + weighted * guess
        stage_time = t_end if i == stages - 1 else t + method.node(i) * step
        status = solve_stage(system, method, stage_time, weighted)
        if status != OK:
            return status
        stage = method.stage(i)
        for m in range(n):
            stage[m] = (y[m] - base[m]) / weighted
    attempt.estimate = 0.0
    if method.is_controlled:
        estimate_error(system, method, t, step)
    return OK


def continues_last_step(method, step):
    """Whether the derivative has not jumped since the end of the last step.

    A change far below the tolerance does not count: a correction of the solution after the step causes one.
    """
    slope = method.slope
    weight = method.weight
    end_slope = method.end_slope
    continues = method.memory.last_step > 0.0
    for m in range(method.n):
        continues = continues and step * abs(slope[m] - end_slope[m]) * weight[m] <= NEGLIGIBLE_JUMP
    return continues


def estimate_error(system, method, t, step):
    """Estimate the error of the step, filtered by the matrix so that stiff parts do not enlarge it.

    A method without error weights is the trapezoidal rule. Its error is h^3 y''' / 12, from the derivatives
    at three points; in a first step it is the difference to an Euler step, which is far too large.
    """
    attempt = method.attempt
    numbers = method.numbers
    n = method.n
    stages = method.stages
    error = method.error
    derivatives = method.family(0, stages)
    first_stage = method.first_stage
    past = method.memory.last_step if continues_last_step(method, step) else 0.0
    for m in range(n):
        total = 0.0
        if numbers.has_weights != 0.0:
            for i in range(stages):
                total += method.error_weight(i) * derivatives[i * n + m]
            total *= step
        else:
            change = derivatives[n + m] - derivatives[m]
            if past > 0.0:
                before = (derivatives[m] - first_stage[m]) / past
                total = step * step * step / 6.0 * (change / step - before) / (step + past)
            else:
                total = 0.5 * step * change
        error[m] = total / (numbers.gamma * step)
    solve_real(method, error)
    size = size_of_attempt(method, t, step, system.y, system.c, numbers.exponent)
    attempt.estimate = size
    if size > 0.0:
        attempt.factor = SAFETY * math.pow(size, -1.0 / numbers.exponent)


def accept_stages(system, method, t, t_end, ideal):
    """Store dense output and history; returns the length of the next step."""
    attempt = method.attempt
    n = method.n
    stages = method.stages
    step = t_end - t
    parts = method.parts
    derivatives = method.family(0, stages)
    store_past(method, method.stage(stages - 1), system.c, method.stage(0))
    degree = int(method.numbers.degree)
    attempt.degree = float(degree)
    for q in range(degree):
        part = method.dense(q)
        for m in range(n):
            total = 0.0
            for i in range(stages):
                total += parts[i, q] * derivatives[i * n + m]
            part[m] = step * total
    return following_step(method, step, ideal, method.numbers.exponent)


def store_past(method, last_stage, c, first_stage):
    """Write the history: the first and the last stage of a step, and the derivative `c` at its end."""
    stored_last_stage = method.last_stage
    stored_first_stage = method.first_stage
    end_slope = method.end_slope
    for m in range(method.n):
        stored_last_stage[m] = last_stage[m]
        end_slope[m] = c[m]
        stored_first_stage[m] = first_stage[m]


def following_step(method, step, ideal, exponent):
    """Store the age of the Jacobian and the length of the step; returns the length of the next one."""
    memory = method.memory
    attempt = method.attempt
    memory.jacobian_age = OLD if attempt.rate <= method.newton.refresh_rate else NO_JACOBIAN
    following = ideal
    if method.is_controlled:
        error = attempt.estimate
        proposal = next_step(step, step, error, memory.last_error, exponent, attempt.rejected != 0.0)
        if step <= proposal <= KEEP_BELOW * step:
            proposal = step
        following = next_of_one_step_method(step, ideal, proposal)
        memory.last_error = max(error, LEAST_ERROR)
    memory.last_step = step
    return following


diagonal_step = new_step(DiagonalMethod, attempt_stages, accept_stages)
redo_diagonal_step = new_redo(DiagonalMethod, attempt_stages, accept_stages)
followed_diagonal_step = new_followed_step(DiagonalMethod, attempt_stages, accept_stages)
