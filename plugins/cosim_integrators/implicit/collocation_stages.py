"""Solves for all stages of a step of a Radau IIA method at once, in variables that split Newton's matrix.

``A^-1 = T L T^-1`` splits Newton's system of size s n into a real and a complex one of size n each (for two
stages, into a complex one alone).

References
----------
E. Hairer, G. Wanner, RADAU5 (radau5.f), subroutines RADCOR and SLVRAD.
"""

from __future__ import annotations

import math

from cosim.kit import MethodArrays, nan_max, tangent_of, walked_dots
from cosim_integrators.implicit.collocation_method import CollocationMethod
from cosim_integrators.implicit.correction_sizes import own_sizes, relative_size
from cosim_integrators.implicit.implicit_method import BAD_NUMBER, OK, SLOW
from cosim_integrators.implicit.matrices import solve_pair, solve_real
from cosim_integrators.implicit.newton import (
    CONVERGED,
    GOES_ON,
    MOST_TANGENT_ITERATIONS,
    NOT_RECORDED,
    check_convergence,
    check_correction,
    evaluate_tangents,
    is_refined,
    start_iteration,
    tangent_method,
)
from cosim_integrators.kit.counted_evaluation import evaluate_stage


def most_iterations(stages):
    """Newton iterations before a shorter step is tried."""
    return 4 + stages


def extrapolate(method, step, z):
    """Write into `z` the first guess of Newton's method: the polynomial of the last step, extrapolated."""
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
    """Compute the derivatives at all stages; OK or 1 + the index of a block that failed."""
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
    """Write Newton's correction of the transformed unknowns into z; returns its size in tolerances.

    `largest` gets the largest correction of each state.
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
    """Write into `z` Newton's corrections of the transformed unknowns `w` with these derivatives."""
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

    def iterate_stages(system, method, tangents, dots, t, t_end, recording):
        y = system.y
        y_dot = dots.y
        c_dot = dots.c
        n = method.n
        step = t_end - t
        w = method.unknowns
        w_dot = tangents.unknowns
        z = method.z
        z_dot = tangents.z
        f = method.derivatives
        f_dot = tangents.derivatives
        start = method.start
        start_dot = tangents.start
        previous = math.inf
        for _ in range(MOST_TANGENT_ITERATIONS):
            for i in range(method.stages):
                for m in range(n):
                    y[m] = start[m] + z[i * n + m]
                    y_dot[m] = start_dot[m] + z_dot[i * n + m]
                node = method.node(i)
                stage_time = t_end if node == 1.0 else t + node * step
                status = evaluate(system.walked_at(stage_time), dots, i, recording)
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


def tangent_collocation(method, memory_dot, work_dot):
    """A method whose memory and work are tangents; its other arrays do not vary."""
    return CollocationMethod(*tangent_method(method, memory_dot, work_dot))


@tangent_of(solve_stages, with_values=True)
def solve_stages_with_tangents(system, method, t, t_end, system_dot, method_dot, t_dot, t_end_dot):
    """Solve for all stages and their tangents."""
    arrays_dot = MethodArrays(*method_dot)
    tangents = tangent_collocation(method, arrays_dot.memory_numbers, arrays_dot.work_numbers)
    dots = walked_dots(system_dot, t_dot)
    return iterate_tangents(system, method, tangents, dots, t, t_end, NOT_RECORDED)
