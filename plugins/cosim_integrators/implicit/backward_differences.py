"""Steps of the backward differentiation formulas of orders 1 … 5, in the form of Shampine and Reichelt.

The past is stored as backward differences of y, see `past_differences`.

References
----------
L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM Journal on Scientific Computing 18 (1997), as
in SciPy, scipy/integrate/_ivp/bdf.py: coefficients, choice of order and step.
"""

from __future__ import annotations

import math

from cosim.kit import DONE, has_corrections, never_inlined, redo_entry, tangent_of
from cosim_integrators.implicit.correction_sizes import set_weights, size_of_error, size_of_whole_attempt
from cosim_integrators.implicit.dense import polynomial_output
from cosim_integrators.implicit.driver import new_step
from cosim_integrators.implicit.implicit_method import NO_JACOBIAN, OK, OLD
from cosim_integrators.implicit.implicit_start import continue_implicit_run
from cosim_integrators.implicit.matrices import make_matrices
from cosim_integrators.implicit.newton import power, solve_stage
from cosim_integrators.implicit.noise_of_derivatives import (
    measure_at_once,
    measure_rounding_of_differences,
)
from cosim_integrators.implicit.past_differences import (
    DIFFERENCES,
    BackwardMethod,
    advance_differences,
    complete_polynomial,
    history_is_saved,
    load_differences,
    predict_end,
)
from cosim_integrators.implicit.repeated_implicit_step import new_followed_step, new_redo
from cosim_integrators.kit.start_of_run import set_first_step

LARGEST_GROWTH = 10.0
LARGEST_SHRINK = 0.2
LEAST_SIZE = 1e-10  # tolerances: the step control treats smaller errors as this one
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices
NEARLY_EQUAL = 0.5  # steps whose lengths differ by at most this factor count as equal
SLOW_RATE = 0.3  # of convergence, above which a new Jacobian pays (tried on van der Pol, HIRES and others)
BACK = 2.0  # a step that a target made short may be followed by one that many times as long


def order_of_next(method):
    """The exponent of the step in the error estimate of the next step."""
    return method.order + 1.0 if method.memory.last_step > 0.0 else 2.0


@never_inlined  # inlined into the step, the compiler would keep the numbers of inner loops in memory
def attempt_differences(system, method, t, t_end):
    """Solve for the end of a step, `y`, and estimate its error; see `driver`."""
    attempt = method.attempt
    y = system.y
    n = method.n
    step = t_end - t
    order = load_differences(method, step)
    weighted = step / method.alpha(order)
    status = make_matrices(method, weighted, 1.0, 0.0, 0.0)
    if status != OK:
        return status
    base = method.base
    predicted = method.imaginary
    predict_end(method, y, order)
    set_weights(method, y, step)
    attempt.rate = 0.0
    attempt.iterations = 0.0
    status = solve_stage(system, method, t_end, weighted)
    if status != OK:
        return status
    error = method.error
    constant = method.error_constant(order)
    for m in range(n):
        base[m] = predicted[m]
        error[m] = constant * (y[m] - base[m])
    attempt.estimate = 0.0
    if method.is_controlled:
        size = size_of_whole_attempt(method, t, step, y, system.c, order + 1.0)
        attempt.estimate = size
        if not size <= 1.0 or has_corrections(method.corrections):  # else only `choose_order` needs a factor
            attempt.factor = safety(attempt) * math.pow(max(size, LEAST_SIZE), -1.0 / (order + 1.0))
    return OK


def safety(attempt):
    """The safety factor of the step: nearer to 1 the fewer iterations were needed."""
    return 0.9 * 9.0 / (8.0 + attempt.iterations)


def accept_differences(system, method, t, t_end, ideal):
    """Store the differences at the end, choose order and length of the next step."""
    memory = method.memory
    attempt = method.attempt
    y = system.y
    step = t_end - t
    order = method.order if memory.last_step > 0.0 else 1
    loaded = order + 3 if memory.last_step > 0.0 else DIFFERENCES
    equal = NEARLY_EQUAL * step <= memory.last_step <= step / NEARLY_EQUAL
    memory.equal_steps = memory.equal_steps + 1.0 if equal else 1.0
    advance_differences(method, y, order, loaded)
    memory.jacobian_age = OLD if attempt.rate <= SLOW_RATE else NO_JACOBIAN
    memory.last_step = step
    memory.order = float(order)
    following = ideal
    if not method.is_controlled:
        if memory.equal_steps > order and order < min(
            2.0, method.numbers.highest_order
        ):  # fixed steps: order 2
            memory.order = order + 1.0
            memory.equal_steps = 0.0
    elif memory.equal_steps > order:
        following = step * choose_order(method, y, order)
    elif attempt.rejected == 0.0:
        following = min(ideal, BACK * step)
    else:
        following = step
    return following


def choose_order(method, y, order):
    """Choose among the present order and its neighbours; returns the factor by which the step may grow."""
    memory = method.memory
    attempt = method.attempt
    best = max(attempt.estimate, LEAST_SIZE)
    chosen = order
    error = method.error
    for candidate in (order - 1, order + 1):
        if 1 <= candidate <= method.numbers.highest_order:
            # the next difference is the error constant's factor: D^(k + 1) for order k
            next_difference = method.past(candidate + 1)
            constant = method.error_constant(candidate)
            for m in range(method.n):
                error[m] = constant * next_difference[m]
            size = max(size_of_error(method, error, y, y, method.floors), LEAST_SIZE)
            # the candidate allows the longer step: size^(-1/(candidate + 1)) > best^(-1/(chosen + 1))
            if power(size, chosen + 1) < power(best, candidate + 1):
                best = size
                chosen = candidate
    growth = min(LARGEST_GROWTH, safety(attempt) * math.pow(best, -1.0 / (chosen + 1.0)))
    if attempt.rejected != 0.0:
        growth = min(1.0, growth)
    if chosen == order and 1.0 <= growth < KEEP_BELOW:
        return 1.0
    memory.order = float(chosen)
    memory.equal_steps = 0.0
    return max(LARGEST_SHRINK, growth)


@tangent_of(choose_order, with_values=True, leaves_fixed=True)
def choose_order_of_values(method, y, order, method_dot, y_dot):
    """Return 1 and choose no order: a run with tangents repeats the orders of the run that it follows."""
    return 1.0


def continue_backward_run(system, method, t):
    """Restart after a jump at order 1, with a step as short as at the start of a run."""
    code = continue_implicit_run(system, method, t)
    if not method.is_controlled or method.n == 0:
        return code
    memory = method.memory
    longest = memory.next_step
    code = set_first_step(system, method, t, method.sizes.largest)
    if code == DONE:
        memory.next_step = min(longest, memory.next_step)
    return code


def backward_output(t, coefficients, work, y, out):
    """Write into `out` the solution at `t` inside the last step; see `polynomial_output`."""
    method = BackwardMethod(out.shape[0], coefficients, work, work, work, work)
    if t != method.work.start and t != method.work.end:
        complete_polynomial(method)
    polynomial_output(t, coefficients, work, y, out)


backward_step = new_step(
    BackwardMethod,
    attempt_differences,
    accept_differences,
    order_of_next,
    measure_rounding_of_differences,
    measure_at_once,
    history_is_saved,
)
followed_backward_step = new_followed_step(BackwardMethod, attempt_differences, accept_differences)
redo_backward_step = new_redo(BackwardMethod, attempt_differences, accept_differences, complete_polynomial)
restart_backward_steps = redo_entry(BackwardMethod, continue_backward_run)
