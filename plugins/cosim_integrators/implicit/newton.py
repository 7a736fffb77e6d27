"""Simplified Newton's method for one implicit stage."""

from __future__ import annotations

import math

from cosim.kit import MethodArrays, tangent_of, walk_tangents, walked_dots
from cosim_integrators.implicit.correction_sizes import (
    own_sizes,
    relative_size,
    size_of_correction,
)
from cosim_integrators.implicit.implicit_method import BAD_NUMBER, EPSILON, OK, ROUNDING, SLOW, ImplicitMethod
from cosim_integrators.implicit.matrices import solve_real, solve_real_of_both
from cosim_integrators.kit.counted_evaluation import evaluate_stage
from cosim_integrators.kit.rounding import noise_of_holds

DIVERGING = 0.99  # a rate of convergence above which the iteration is given up
MOST_ITERATIONS = 10
MOST_TANGENT_ITERATIONS = 50
NEGLIGIBLE = 1e-15  # relative: the iteration on tangents ends with a correction below
STALLED_RATIO = 0.9  # corrections below ROUNDING whose ratio is above this are rounding
IMPROVES = 0.5  # after convergence, a correction whose ratio is above this is rounding

CONVERGED, GOES_ON = 1, 0  # results of `check_convergence`; the third one is SLOW


def is_refined(method, size, small, previous_size, previous_small, continues):
    """Whether an iteration that has converged for states of size 1 has also converged for small ones.

    Corrections of small states shrink at a rate of their own, which the corrections of large states do not
    show. Corrections that hardly shrink after convergence for states of size 1 are rounding.

    Parameters
    ----------
    size, previous_size : float
        The last two corrections, in tolerances of the states' own sizes.
    small, previous_small : float
        The same of small states alone.
    continues : bool
        Whether the iteration had converged for states of size 1 before the last correction.
    """
    if continues and size > IMPROVES * previous_size:
        return True
    left_error = method.newton.left_error
    if small > 0.0:
        expected = small / (previous_small - small) if small < previous_small < math.inf else 1.0
        if expected * small > left_error:
            return False
    return method.memory.convergence * size <= left_error


def may_be_rounding(method, y, correction, size):
    """Whether a correction is so small beside the states that it may be rounding alone.

    `y` are the states it belongs to, `size` is its size in tolerances. A tolerance belongs to a state at the
    start of the step: a state that begins near 0 and becomes large has the rounding of its larger value.
    """
    if size <= method.newton.rounding:
        return True
    start = method.start
    noise = noise_of_holds(method, y)
    is_small = True
    for m in range(method.n):
        limit = max(noise, ROUNDING * max(abs(y[m]), abs(start[m])))
        is_small = is_small and abs(correction[m]) <= limit
    return is_small


def check_convergence(method, y, correction, iteration, most_iterations, size, previous, previous_rate):
    """Whether an iteration has CONVERGED, GOES_ON, or is too SLOW.

    `size` is that of the correction of `y`, in tolerances. Sets ``attempt.rate`` to the rate of convergence
    (the mean of the last two) and, if it is too slow, ``attempt.factor`` to the factor of a shorter step.

    For the first correction of a step ``memory.convergence`` stands for the rate: the slowest one of the last
    iteration that had a rate. The last rates of that iteration would not do: in a chain of states one after
    the other becomes exact, so that the last rates are 0.

    References
    ----------
    E. Hairer, G. Wanner, RADAU5 (radau5.f), loop of the simplified Newton iteration.
    """
    memory = method.memory
    attempt = method.attempt
    left_error = method.newton.left_error
    if size == 0.0:
        return CONVERGED
    expected = memory.convergence
    stalled = iteration >= most_iterations
    attempt.factor = 0.5
    if iteration > 1:
        ratio = size / previous
        rate = ratio if iteration == 2 else math.sqrt(ratio * previous_rate)
        attempt.rate = rate
        if rate < DIVERGING:
            expected = rate / (1.0 - rate)
            first_ones = memory.convergence if iteration > 2 else EPSILON
            memory.convergence = max(max(expected, first_ones), EPSILON)
            following = max(0, most_iterations - 1 - iteration)
            share_left = expected * size * power(rate, following) / left_error
            if share_left >= 1.0 and not may_be_rounding(method, y, correction, size):
                attempt.factor = 0.8 * math.pow(min(20.0, share_left), -1.0 / (4.0 + following))
                return SLOW
        else:
            stalled = True
    if expected * size <= left_error or (stalled and may_be_rounding(method, y, correction, size)):
        return CONVERGED
    return SLOW if stalled else GOES_ON


def power(base, exponent):
    """``base`` to a whole power that is not negative, by multiplication."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


def start_iteration(memory):
    """Expect slightly slower convergence than in the last iteration, as RADAU5 does."""
    memory.convergence = math.pow(max(memory.convergence, EPSILON), 0.8)


def solve_for_correction(system, method, weighted):
    """Write into ``method.right`` Newton's correction of the stage in `y`, with the derivatives in `c`."""
    y = system.y
    c = system.c
    base = method.base
    shift = method.shift
    right = method.right
    for m in range(method.n):
        right[m] = c[m] - shift[m] * (y[m] - base[m]) / weighted
    solve_real(method, right)


def solve_stage(system, method, t, weighted):
    """Solve ``shift (y - base) = weighted f(t, y)`` from the guess in `y`, with the factors made for it.

    Returns OK, BAD_NUMBER, SLOW or 1 + the index of a block that failed.
    """
    attempt = method.attempt
    y = system.y
    correction = method.right
    start_iteration(method.memory)
    slowest = attempt.rate
    attempt.rate = 0.0
    most_iterations = MOST_ITERATIONS + int(method.newton.more_iterations)
    previous = 0.0
    previous_in_own = math.inf
    previous_small = math.inf
    rate = 0.0
    verdict = GOES_ON
    for iteration in range(1, most_iterations + 1):
        attempt.iterations += 1.0
        status = evaluate_stage(system, method, t)
        if status != 0:
            return status
        solve_for_correction(system, method, weighted)
        size = size_of_correction(method, correction)
        if size - size != 0.0:  # infinite, or NaN
            method.work.failed_time = t
            return BAD_NUMBER
        continues = verdict == CONVERGED
        if not continues:
            verdict = check_convergence(
                method, y, correction, iteration, most_iterations, size, previous, rate
            )
        if verdict < 0:
            return verdict
        for m in range(method.n):
            y[m] += correction[m]
        size_in_own, small = own_sizes(method, correction)
        if verdict == CONVERGED and (
            iteration == most_iterations
            or is_refined(method, size_in_own, small, previous_in_own, previous_small, continues)
        ):
            attempt.rate = max(slowest, attempt.rate)
            return OK
        previous_in_own = size_in_own
        previous_small = small
        rate = size / previous if iteration > 1 else 0.0
        previous = size
    return SLOW


def stage_iteration(evaluate):
    """Make the kernel function that iterates on a stage and its tangent, with the same factors.

    It ends when neither stage nor tangent changes; the lengths of steps do not vary.

    Parameters
    ----------
    evaluate : function
        ``evaluate(walked, dots, number, recording)`` evaluates a system with its tangents. `number` is 0 for
        the first stage of an iteration; `recording` is passed through to it.
    """

    def iterate_stage(system, method, tangents, dots, t, weighted, recording):
        y = system.y
        c = system.c
        y_dot = dots.y
        c_dot = dots.c
        base = method.base
        base_dot = tangents.base
        shift = method.shift
        right = method.right
        right_dot = tangents.right
        previous = math.inf
        for _ in range(MOST_TANGENT_ITERATIONS):
            status = evaluate(system.walked_at(t), dots, 0, recording)
            if status != 0:
                return status
            for m in range(method.n):
                right[m] = c[m] - shift[m] * (y[m] - base[m]) / weighted
                right_dot[m] = c_dot[m] - shift[m] * (y_dot[m] - base_dot[m]) / weighted
            solve_real_of_both(method, right, right_dot)
            for m in range(method.n):
                y[m] += right[m]
                y_dot[m] += right_dot[m]
            size = max(relative_size(right, y, base), relative_size(right_dot, y_dot, base_dot))
            status = check_correction(size, previous)
            if status != SLOW:
                return status
            previous = size
        return SLOW

    return iterate_stage


NOT_RECORDED = (0,)


def evaluate_tangents(walked, dots, number, recording):
    """Evaluate a system and its tangents; 0, or 1 + the index of a block that failed."""
    return walk_tangents(walked, dots)


iterate_tangent = stage_iteration(evaluate_tangents)


@tangent_of(solve_stage, with_values=True)
def solve_stage_with_tangent(system, method, t, weighted, system_dot, method_dot, t_dot, weighted_dot):
    """Solve for a stage and its tangent."""
    arrays_dot = MethodArrays(*method_dot)
    tangents = tangent_method(method, arrays_dot.memory_numbers, arrays_dot.work_numbers)
    dots = walked_dots(system_dot, t_dot)
    return iterate_tangent(system, method, tangents, dots, t, weighted, NOT_RECORDED)


def check_correction(size, previous):
    """Whether a correction of a stage and its tangent is rounding (OK), not finite (BAD_NUMBER), or SLOW.

    `size` and `previous` are those of the last two corrections. A Jacobian that is good enough for the values
    of a run may be too old for their tangents: corrections then never become small enough.
    """
    if size - size != 0.0:
        return BAD_NUMBER
    if size <= NEGLIGIBLE or (size >= STALLED_RATIO * previous and size <= ROUNDING):
        return OK
    return SLOW


def tangent_method(method, memory_dot, work_dot):
    """A method whose memory and work are tangents; its other arrays do not vary."""
    return ImplicitMethod(
        method.n,
        method.coefficients,
        method.settings_numbers,
        memory_dot,
        work_dot,
        method.slot_numbers,
    )
