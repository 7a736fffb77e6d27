"""Steps of the generalized-alpha method for q' = N(q) u, u' = f, z' = g.

With an acceleration a that is carried from step to step beside the derivative f, both u and z follow

    (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) f_1 + alpha_f f_0
    u_1 = u_0 + h ((1 - gamma) a_0 + gamma a_1)

Eliminating a_1 from q_1 = q_0 + h u_0 + h^2 ((1/2 - beta) a_0 + beta a_1) leaves, with theta = beta / gamma,

    q_1 = q_0 + h ((1 - theta) q'_0 + theta q'_1) + h^2 (1/2 - theta) q''_0

with q''_0 = a_0 if q' = u, else the derivative of q' along (q'_0, a_0). So every group of states has the form
y_1 = base + weight f(y_1), and Newton's matrix is that of the other implicit methods with one diagonal for
each group.

The acceleration is stored as (a - f) / h, so that it remains valid if the length of the step changes, or if a
correction of the solution changes the derivative a little. The first step has no acceleration, and is that of
the trapezoidal rule.
"""

from __future__ import annotations

import math

from cosim.kit import Record, redo_entry, rows_of
from cosim_integrators.implicit.correction_sizes import set_weights, size_of_attempt
from cosim_integrators.implicit.diagonally_implicit import (
    SAFETY,
    PastOfStages,
    continues_last_step,
    following_step,
    store_past,
)
from cosim_integrators.implicit.driver import new_step
from cosim_integrators.implicit.implicit_method import EPSILON, NUMBERS_AT, OK
from cosim_integrators.implicit.implicit_start import initialize_implicit_method
from cosim_integrators.implicit.matrices import clear_matrices, make_matrices, solve_real
from cosim_integrators.implicit.newton import solve_stage
from cosim_integrators.implicit.repeated_implicit_step import new_followed_step, new_redo
from cosim_integrators.kit.counted_evaluation import evaluate_stage

EXPONENT = 3.0  # of the step in the error
ALONG = 1e-3  # of a step: the increment of the difference that approximates q''
ROUNDINGS = 4.0  # of the states: the error of their difference


class GroupNumbers(Record):
    """The numbers of the method for a group of states."""

    alpha_m: float
    alpha_f: float
    gamma: float
    error_constant: float


class AlphaNumbers(Record):
    """The numbers of the method."""

    size_q: float
    size_u: float
    theta: float
    of_u: GroupNumbers
    of_z: GroupNumbers
    error_constant_of_q: float


class AlphaMethod(PastOfStages):
    """The arrays of the method.

    ``memory.order`` is 0 while q' = u has held at the start of every step, 1 since it did not.
    """

    @property
    def numbers(method):
        """The sizes and constants of the method."""
        return rows_of(AlphaNumbers, method.coefficients, NUMBERS_AT, 1)[0]

    @property
    def nq(method):
        """The number of coordinates."""
        return int(method.numbers.size_q)

    def group(method, m):
        """The numbers of the group of a state of u or z."""
        numbers = method.numbers
        return numbers.of_u if m < numbers.size_q + numbers.size_u else numbers.of_z

    @property
    def ahead(method):
        """(a - f) / h at the end of the last step."""
        return method.past(3)

    @property
    def f0(method):
        """The derivative at the start of the step."""
        return method.family(0, 1)

    @property
    def f1(method):
        """The derivative at the end of the step."""
        return method.family(1, 1)

    @property
    def a0(method):
        """The acceleration a at the start."""
        return method.family(2, 1)

    @property
    def q_dot2(method):
        """The second derivative of q at the start."""
        return method.family(3, 1)


def attempt_alpha(system, method, t, t_end):
    """Compute the end of a step into `y` and its error into `work`; see `driver`."""
    attempt = method.attempt
    y = system.y
    n = method.n
    step = t_end - t
    shift = method.shift
    base = method.base
    f0 = method.f0
    f1 = method.f1
    set_weights(method, method.start, step)
    if method.memory.last_step == 0.0:
        clear_matrices(method)  # the first step has another diagonal
    status = prepare_equations(system, method, t, step)
    if status != OK:
        return status
    status = make_matrices(method, step, 1.0, 0.0, 0.0)
    if status != OK:
        return status
    attempt.rate = 0.0
    attempt.iterations = 0.0
    for m in range(n):
        y[m] = base[m] + step * f0[m] / shift[m]
    status = solve_stage(system, method, t_end, step)
    if status != OK:
        return status
    for m in range(n):
        f1[m] = shift[m] * (y[m] - base[m]) / step
    attempt.estimate = 0.0
    if method.is_controlled:
        estimate_error(system, method, t, step)
    return OK


def prepare_equations(system, method, t, step):
    """Compute base and diagonal of the equations of the step from the states and derivatives at its start."""
    n = method.n
    nq = method.nq
    start = method.start
    slope = method.slope
    shift = method.shift
    base = method.base
    f0 = method.f0
    a0 = method.a0
    last_stage = method.last_stage
    ahead = method.ahead
    continues = continues_last_step(method, step)
    for m in range(n):
        f0[m] = last_stage[m] if continues else slope[m]
        a0[m] = f0[m] + step * ahead[m]
    if method.memory.last_step == 0.0:
        for m in range(n):
            shift[m] = 2.0
            base[m] = start[m] + 0.5 * step * f0[m]
        return OK
    status = compute_second_derivatives(system, method, t, step)
    if status != OK:
        return status
    theta = method.numbers.theta
    q_dot2 = method.q_dot2
    for m in range(nq):
        shift[m] = 1.0 / theta
        base[m] = start[m] + step * ((1.0 - theta) * f0[m] + step * (0.5 - theta) * q_dot2[m])
    for m in range(nq, n):
        group = method.group(m)
        share = group.gamma / (1.0 - group.alpha_m)
        shift[m] = 1.0 / (share * (1.0 - group.alpha_f))
        past = group.alpha_f * f0[m] - group.alpha_m * a0[m]
        base[m] = start[m] + step * ((1.0 - group.gamma) * a0[m] + share * past)
    return OK


def compute_second_derivatives(system, method, t, step):
    """Compute q'' at the start of the step, from a; OK, or 1 + the index of a block that failed."""
    memory = method.memory
    y = system.y
    c = system.c
    nq = method.nq
    start = method.start
    slope = method.slope
    f0 = method.f0
    a0 = method.a0
    q_dot2 = method.q_dot2
    if memory.order == 0.0:
        for m in range(nq):
            if slope[m] != start[nq + m]:
                memory.order = 1.0
            q_dot2[m] = a0[nq + m]
    if memory.order == 0.0 or method.numbers.theta == 0.5:
        return OK
    along = ALONG * step
    for m in range(method.n):
        y[m] = start[m] + along * (f0[m] if m < nq else a0[m])
    status = evaluate_stage(system, method, t + along)
    if status != 0:
        return status
    for m in range(nq):
        q_dot2[m] = (c[m] - slope[m]) / along
    return OK


def estimate_error(system, method, t, step):
    """Estimate the error of the step, filtered by the matrix so that stiff parts do not enlarge it.

    It is a constant times h^3 y''', from the derivatives at three points; in a first step it is the
    difference to an Euler step, which is far too large.
    """
    attempt = method.attempt
    nq = method.nq
    error = method.error
    shift = method.shift
    f0 = method.f0
    f1 = method.f1
    first_stage = method.first_stage
    past = method.memory.last_step if continues_last_step(method, step) else 0.0
    for m in range(method.n):
        change = f1[m] - f0[m]
        total = 0.5 * step * change
        if past > 0.0:
            before = (f0[m] - first_stage[m]) / past
            constant = method.numbers.error_constant_of_q if m < nq else method.group(m).error_constant
            total = 2.0 * constant * step * step * step * (change / step - before) / (step + past)
        error[m] = total * shift[m] / step
    solve_real(method, error)
    order = EXPONENT if past > 0.0 else 2.0
    size = size_of_attempt(method, t, step, system.y, system.c, order)
    attempt.estimate = size
    if size > 0.0:
        attempt.factor = SAFETY * math.pow(size, -1.0 / EXPONENT)


def accept_alpha(system, method, t, t_end, ideal):
    """Store dense output and history; returns the length of the next step."""
    memory = method.memory
    y = system.y
    n = method.n
    step = t_end - t
    start = method.start
    line = method.dense(0)
    bend = method.dense(1)
    ahead = method.ahead
    f0 = method.f0
    f1 = method.f1
    remove_rounding(method, system, step)
    store_past(method, f1, system.c, f0)
    for m in range(n):
        bend[m] = 0.5 * step * (f1[m] - f0[m])
        line[m] = y[m] - start[m] - bend[m]
    for m in range(method.nq):
        ahead[m] = 0.0
    for m in range(method.nq, n):
        group = method.group(m)
        change = (group.alpha_m - group.alpha_f) * (f1[m] - f0[m]) / step
        # from differences only, so that with a constant f the acceleration a equals f to the bit
        if memory.last_step == 0.0:
            ahead[m] = change
        else:
            ahead[m] = (change - group.alpha_m * ahead[m]) / (1.0 - group.alpha_m)
    method.attempt.degree = 2.0
    if memory.last_step == 0.0:
        memory.factored_step = 0.0
    return following_step(method, step, ideal, EXPONENT)


def remove_rounding(method, system, step):
    """Replace f_1 by the derivative at the end where both differ by rounding alone.

    f_1 is computed as a difference of states over the step: after a very short step its rounding error would
    move the end of a long next step by far more than a rounding of the states.
    """
    y = system.y
    c = system.c
    base = method.base
    shift = method.shift
    f1 = method.f1
    for m in range(method.n):
        rounding = ROUNDINGS * EPSILON * (abs(y[m]) + abs(base[m]))
        if step * abs(c[m] - f1[m]) <= rounding * shift[m]:
            f1[m] = c[m]


def initialize_alpha_method(system, method, t):
    """Initialize the method; q' = u is assumed if q and u are equally long."""
    code = initialize_implicit_method(system, method, t)
    method.memory.order = 1.0 if method.numbers.size_q != method.numbers.size_u else 0.0
    return code


alpha_step = new_step(AlphaMethod, attempt_alpha, accept_alpha)
redo_alpha_step = new_redo(AlphaMethod, attempt_alpha, accept_alpha)
followed_alpha_step = new_followed_step(AlphaMethod, attempt_alpha, accept_alpha)
begin_alpha_steps = redo_entry(AlphaMethod, initialize_alpha_method)
