"""Steps of Radau IIA methods: all stages at once, in variables that take the matrix apart.

With s stages the unknowns are z_i = y(t + c_i h) - y(t). ``A^-1 = T L T^-1`` splits Newton's systems of
size s n into a real one and a complex one of size n each (or one complex one, for two stages).

References
----------
E. Hairer, G. Wanner, RADAU5 (radau5.f), subroutines RADCOR, SLVRAD and ESTRAD.
"""

from __future__ import annotations

import math

from cosim.kit import (
    MethodArrays,
    Record,
    as_table,
    nan_max,
    rows_of,
    tangent_of,
    walked_dots,
    width_of,
)
from cosim_integrators.implicit.correction_sizes import (
    own_sizes,
    relative_size,
    set_weights,
    size_of_attempt,
)
from cosim_integrators.implicit.driver import new_followed_step, new_redo, new_step, next_of_one_step_method
from cosim_integrators.implicit.implicit_method import (
    BAD_NUMBER,
    NO_JACOBIAN,
    NUMBERS_AT,
    OK,
    OLD,
    SLOW,
    ImplicitMethod,
)
from cosim_integrators.implicit.matrices import make_matrices, solve_pair, solve_real
from cosim_integrators.implicit.newton import (
    CONVERGED,
    GOES_ON,
    MOST_TANGENT_ITERATIONS,
    NOT_RECORDED,
    check_convergence,
    check_correction,
    evaluate_tangents,
    is_refined,
    moved_method,
    start_iteration,
)
from cosim_integrators.kit.counted_evaluation import evaluate, evaluate_stage
from cosim_integrators.kit.start_of_step import copy_values

SAFETY = 0.9
LARGEST_GROWTH = 8.0
LARGEST_SHRINK = 0.2
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices


class CollocationNumbers(Record):
    """The numbers of the method.

    Behind them, for three stages: the nodes, T, its inverse, weights of the error, for each stage its part in
    the polynomial of dense output; then the correction of that polynomial, degrees 1 … s + 1.
    """

    stages: float
    has_real_system: float  # whether Newton's method has one
    shift: float  # of the error estimate, and of the real system
    pair_real: float  # of the complex system
    pair_imaginary: float
    exponent: float  # of the step in the estimate


WIDTH = 3
"""Of the rows of its matrices: the largest number of stages."""
NODES_AT = NUMBERS_AT + width_of(CollocationNumbers)
TRANSFORM_AT, INVERSE_AT = NODES_AT + WIDTH, NODES_AT + WIDTH + WIDTH * WIDTH
WEIGHTS_AT = INVERSE_AT + WIDTH * WIDTH
PARTS_AT, CORRECTION_AT = WEIGHTS_AT + WIDTH, WEIGHTS_AT + WIDTH + WIDTH * WIDTH


class CollocationMethod(ImplicitMethod):
    """The arrays of the method.

    The history is z of the last step, which the next one extrapolates. The vectors of the family are z, the
    transformed unknowns, and the stage derivatives.
    """

    @property
    def numbers(method):
        """Stages and shifts."""
        return rows_of(CollocationNumbers, method.coefficients, NUMBERS_AT, 1)[0]

    @property
    def stages(method):
        """The number of stages."""
        return int(method.numbers.stages)

    def node(method, i):
        """The node of a stage."""
        return method.coefficients[NODES_AT + i]

    @property
    def transform(method):
        """T, a table."""
        return as_table(method.coefficients[TRANSFORM_AT:INVERSE_AT], WIDTH, WIDTH)

    @property
    def inverse(method):
        """The inverse of the transformation."""
        return as_table(method.coefficients[INVERSE_AT:WEIGHTS_AT], WIDTH, WIDTH)

    def error_weight(method, i):
        """The weight of a stage in the error estimate."""
        return method.coefficients[WEIGHTS_AT + i]

    @property
    def parts(method):
        """The coefficients of each stage in the polynomial of dense output; a table."""
        return as_table(method.coefficients[PARTS_AT:CORRECTION_AT], WIDTH, WIDTH)

    def dense_correction(method, power):
        """The share of the defect at the start in a coefficient of the polynomial."""
        return method.coefficients[CORRECTION_AT + power]

    @property
    def z(method):
        """The differences of y at all stages from y at the start."""
        return method.family(0, method.stages)

    @property
    def unknowns(method):
        """The transformed z."""
        return method.family(method.stages, method.stages)

    @property
    def derivatives(method):
        """The derivatives at all stages."""
        return method.family(2 * method.stages, method.stages)

    @property
    def last_derivative(method):
        """The derivative at the last stage, which is the end."""
        return method.family(3 * method.stages - 1, 1)


def most_iterations(stages):
    """Newton iterations before a shorter step is tried."""
    return 4 + stages


def extrapolate(method, step, z):
    """Start Newton's method from the polynomial of the last step, carried on."""
    parts = method.parts
    stages = method.stages
    n = method.n
    last = method.memory.last_step
    for i in range(stages * n):
        z[i] = 0.0
    if last == 0.0:
        return
    for i in range(stages):
        s = 1.0 + method.node(i) * step / last
        stage = z[i * n : i * n + n]
        for j in range(stages):
            weight = 0.0
            power = 1.0
            for q in range(stages):
                power *= s
                weight += parts[j, q] * (power - 1.0)
            past = method.past(j)
            for m in range(n):
                stage[m] += weight * past[m]


def multiply(method, matrix, source, out):
    """``out_i`` = sum_j M_ij source_j, for vectors of the stages."""
    stages = method.stages
    n = method.n
    for i in range(stages):
        for m in range(n):
            total = 0.0
            for j in range(stages):
                total += matrix[i, j] * source[j * n + m]
            out[i * n + m] = total


def attempt_collocation(system, method, t, t_end):
    """The end of a step into `y`, its error into `work`; see `driver`."""
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


def solve_stages(system, method, t, t_end):
    """Solve for all stages by Newton's method, from the guess in z; OK, or why there is no solution."""
    attempt = method.attempt
    step = t_end - t
    w = method.unknowns
    z = method.z
    corrections = method.right
    start_iteration(method.memory)
    most = most_iterations(method.stages) + int(method.newton.more_iterations)
    previous = 0.0
    previous_own = math.inf
    previous_small = math.inf
    rate = 0.0
    verdict = GOES_ON
    for iteration in range(1, most + 1):
        status = evaluate_stages(system, method, t, t_end)
        if status != OK:
            return status
        size = newton_correction(method, step, corrections)
        if size - size != 0.0:
            method.work.failed_time = t_end
            return BAD_NUMBER
        attempt.iterations += 1.0
        continues = verdict == CONVERGED
        if not continues:
            verdict = check_convergence(method, system.y, corrections, iteration, most, size, previous, rate)
        if verdict < 0:
            return verdict
        for i in range(w.shape[0]):
            w[i] += z[i]
        multiply(method, method.transform, w, z)
        size_in_own, small = own_sizes(method, corrections)
        if verdict == CONVERGED and is_refined(
            method, size_in_own, small, previous_own, previous_small, continues
        ):
            break
        previous_own = size_in_own
        previous_small = small
        rate = size / previous if iteration > 1 else 0.0
        previous = size
    return OK if verdict == CONVERGED else SLOW


def evaluate_stages(system, method, t, t_end):
    """The derivatives at all stages; OK or 1 + the index of a block that failed."""
    y = system.y
    c = system.c
    n = method.n
    start = method.start
    z = method.z
    f = method.derivatives
    for i in range(method.stages):
        stage = z[i * n : i * n + n]
        for m in range(n):
            y[m] = start[m] + stage[m]
        node = method.node(i)
        status = evaluate_stage(system, method, t_end if node == 1.0 else t + node * (t_end - t))
        if status != 0:
            return status
        derivative = f[i * n : i * n + n]
        for m in range(n):
            derivative[m] = c[m]
    return OK


def newton_correction(method, step, largest):
    """Newton's correction of the transformed unknowns into z; its size in tolerances.

    Of each state the largest correction goes into `largest`.
    """
    stages = method.stages
    n = method.n
    loose = method.loose_weight
    z = method.z
    solve_corrections(method, step, method.unknowns, method.derivatives, z)
    size = 0.0
    for m in range(n):
        largest[m] = 0.0
    for i in range(stages):
        for m in range(n):
            largest[m] = nan_max(largest[m], abs(z[i * n + m]))
            correction = abs(z[i * n + m]) * loose[m]
            if correction > size or correction != correction:
                size = nan_max(size, correction)
                method.work.worst_state = float(m)
    return size


def solve_corrections(method, step, w, derivatives, z):
    """Newton's corrections of transformed unknowns `w` with these derivatives, into `z`."""
    numbers = method.numbers
    n = method.n
    multiply(method, method.inverse, derivatives, z)
    pair = method.stages - 2
    if numbers.has_real_system != 0.0:
        real = z[:n]
        for m in range(n):
            real[m] -= numbers.shift / step * w[m]
        solve_real(method, real)
    re = z[pair * n : pair * n + n]
    im = z[pair * n + n : pair * n + 2 * n]
    for m in range(n):
        a = w[pair * n + m]
        b = w[pair * n + n + m]
        re[m] -= (numbers.pair_real * a - numbers.pair_imaginary * b) / step
        im[m] -= (numbers.pair_imaginary * a + numbers.pair_real * b) / step
    solve_pair(method, re, im)


def stages_iteration(evaluate):
    """Make the kernel function that iterates on all stages and their tangents; see `newton.stage_iteration`.

    The times of both ends of the step have the same tangent.
    """

    def iterate_stages(system, method, moved, dots, t, t_end, recording):
        y = system.y
        y_dot = dots.y
        c_dot = dots.c
        n = method.n
        step = t_end - t
        w = method.unknowns
        w_dot = moved.unknowns
        z = method.z
        z_dot = moved.z
        f = method.derivatives
        f_dot = moved.derivatives
        start = method.start
        start_dot = moved.start
        previous = math.inf
        for _ in range(MOST_TANGENT_ITERATIONS):
            for i in range(method.stages):
                for m in range(n):
                    y[m] = start[m] + z[i * n + m]
                    y_dot[m] = start_dot[m] + z_dot[i * n + m]
                node = method.node(i)
                at = t_end if node == 1.0 else t + node * step
                status = evaluate(system.walked_at(at), dots, i, recording)
                if status != 0:
                    return status
                for m in range(n):
                    f[i * n + m] = system.c[m]
                    f_dot[i * n + m] = c_dot[m]
            solve_corrections(method, step, w, f, z)
            solve_corrections(method, step, w_dot, f_dot, z_dot)
            for m in range(w.shape[0]):
                w[m] += z[m]
                w_dot[m] += z_dot[m]
            size = max(relative_size(z, w, start), relative_size(z_dot, w_dot, start_dot))
            multiply(method, method.transform, w, z)
            multiply(method, method.transform, w_dot, z_dot)
            status = check_correction(size, previous)
            if status != SLOW:
                return status
            previous = size
        return SLOW

    return iterate_stages


iterate_tangents = stages_iteration(evaluate_tangents)


def moved_collocation(method, memory_dot, work_dot):
    """A method whose memory and work are tangents; its other arrays do not vary."""
    return CollocationMethod(*moved_method(method, memory_dot, work_dot))


@tangent_of(solve_stages, with_values=True)
def solve_stages_with_tangents(system, method, t, t_end, system_dot, method_dot, t_dot, t_end_dot):
    """Solve for all stages and their tangents."""
    arrays_dot = MethodArrays(*method_dot)
    moved = moved_collocation(method, arrays_dot.memory_numbers, arrays_dot.work_numbers)
    dots = walked_dots(system_dot, t_dot)
    return iterate_tangents(system, method, moved, dots, t, t_end, NOT_RECORDED)


def compute_defect(method, step):
    """Difference to an embedded formula, filtered so that stiff parts do not blow it up, into ``error``.

    Of what is not stiff it shows by how much the collocation polynomial misses the derivative at the start,
    over the shift; stored in ``base`` for the dense output.
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
    """Size of the error and factor for the next step.

    After a rejection, and where nothing is known of the past, a large estimate is filtered once more,
    which costs an evaluation.
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
    """Store what the next step needs; its length, by the predictive controller."""
    memory = method.memory
    attempt = method.attempt
    parts = method.parts
    stages = method.stages
    n = method.n
    step = t_end - t
    z = method.z
    missed = method.base
    copy_values(method.history, z)
    attempt.degree = float(stages + 1)
    for q in range(stages + 1):
        part = method.dense(q)
        for m in range(n):
            total = method.dense_correction(q) * missed[m]
            if q < stages:
                for i in range(stages):
                    total += parts[i, q] * z[i * n + m]
            part[m] = total
    good = attempt.rate <= method.newton.refresh_rate
    memory.jacobian_age = OLD if good else NO_JACOBIAN
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
        if good and 1.0 <= proposal / step <= KEEP_BELOW:
            proposal = step
        following = next_of_one_step_method(step, ideal, proposal)
        memory.last_error = max(1e-2, error)
    memory.last_step = step
    return following


collocation_step = new_step(CollocationMethod, attempt_collocation, accept_collocation)
redo_collocation_step = new_redo(CollocationMethod, attempt_collocation, accept_collocation)
followed_collocation_step = new_followed_step(CollocationMethod, attempt_collocation, accept_collocation)
