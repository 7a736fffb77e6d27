"""Steps of Radau IIA methods: all stages at once, in variables that take the matrix apart.

With s stages the unknowns are z_i = y(t + c_i h) - y(t). ``A^-1 = T L T^-1`` splits Newton's systems of
size s n into a real one and a complex one of size n each (or one complex one, for two stages).

=============== ===========================================================================
``method``      from METHOD_AT on: 0 stages, 1 whether Newton has a real system, 2 real shift (of the
                error estimate, and of Newton's real system), 3 and 4 complex shift, 5 order of the
                estimate + 1; from 6 on rows of three: the nodes, T, its inverse, weights of the error,
                for each stage its part in the polynomial of the dense output; then the correction of
                that polynomial, degrees 1 … s + 1
``memory``      history: z of the last step, which the next one extrapolates
``work``        from V_FAMILY on: z, the transformed unknowns, the stage derivatives
=============== ===========================================================================

References
----------
E. Hairer, G. Wanner, RADAU5 (radau5.f), subroutines RADCOR, SLVRAD and ESTRAD.
"""

from __future__ import annotations

import math

from cosim.kit import EVALUATIONS, FAILED_TIME, FIXED, LAST_ERROR, WORST, larger, walk
from cosim_integrators.implicit.driver import new_redo, new_step, remembered
from cosim_integrators.implicit.layout import (
    AGE,
    BAD_NUMBER,
    CONVERGENCE,
    DEGREE,
    ESTIMATE,
    FACTOR,
    HISTORY_AT,
    ITERATIONS,
    LAST,
    METHOD_AT,
    MORE,
    NEWTON,
    OK,
    RATE,
    REFRESH,
    REJECTED,
    SLOW,
    V_BASE,
    V_DENSE,
    V_ERROR,
    V_IMAGINARY,
    V_LOOSE,
    V_RIGHT,
    V_SLOPE,
    V_START,
    family_vectors,
    vector,
)
from cosim_integrators.implicit.matrices import make_matrices, solve_pair, solve_real
from cosim_integrators.implicit.newton import (
    begin_iteration,
    is_refined,
    judge,
    own_size,
    set_weights,
    size_of_attempt,
)

STAGES, REAL, SHIFT, RE, IM, EXPONENT = range(METHOD_AT, METHOD_AT + 6)
NODES, TRANSFORM, INVERSE = METHOD_AT + 6, METHOD_AT + 9, METHOD_AT + 18
WEIGHTS, PARTS, CORRECTION = METHOD_AT + 27, METHOD_AT + 30, METHOD_AT + 39
SAFETY = 0.9
LARGEST_GROWTH = 8.0
LARGEST_SHRINK = 0.2
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices


def most_iterations(stages):
    """Newton iterations before a shorter step is tried."""
    return 4 + stages


def guess(step, method, memory, z, n):
    """Start Newton's method from the polynomial of the last step, carried on."""
    stages = int(method[STAGES])
    last = memory[LAST]
    for i in range(stages * n):
        z[i] = 0.0
    if last == 0.0:
        return
    for i in range(stages):
        s = 1.0 + method[NODES + i] * step / last
        for j in range(stages):
            weight = 0.0
            power = 1.0
            for q in range(stages):
                power *= s
                weight += method[PARTS + 3 * j + q] * (power - 1.0)
            past = memory[HISTORY_AT + j * n : HISTORY_AT + j * n + n]
            stage = z[i * n : i * n + n]
            for m in range(n):
                stage[m] += weight * past[m]


def transformed(method, at, source, n, out):
    """``out_i`` = sum_j M_ij source_j, M being the matrix at that place of `method`."""
    stages = int(method[STAGES])
    for i in range(stages):
        for m in range(n):
            total = 0.0
            for j in range(stages):
                total += method[at + 3 * i + j] * source[j * n + m]
            out[i * n + m] = total


def attempt_collocation(
    table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, lu, pattern
):
    """The end of a step into `y`, its error into `work`; see `driver`."""
    n = y.shape[0]
    stages = int(method[STAGES])
    step = t_end - t
    status = make_matrices(step, method[SHIFT], method[RE], method[IM], memory, work, lu, pattern)
    if status != OK:
        return status
    start = vector(work, V_START, n)
    set_weights(start, step, method, settings, memory, work)
    z = family_vectors(work, 0, stages, n)
    w = family_vectors(work, stages, stages, n)
    f = family_vectors(work, 2 * stages, stages, n)
    guess(step, method, memory, z, n)
    transformed(method, INVERSE, z, n, w)
    begin_iteration(memory)
    most = most_iterations(stages) + int(method[MORE])
    work[ITERATIONS] = 0.0
    work[RATE] = 0.0
    previous = 0.0
    previous_own = math.inf
    rate = 0.0
    verdict = 0
    own = vector(work, V_RIGHT, n)
    for iteration in range(1, most + 1):
        status = evaluate_stages(
            table, ints, first, last, t, y, p, d, k, h, c, t_end, method, work, start, z, f
        )
        if status != OK:
            return status
        size = correct(step, method, work, lu, pattern, w, f, z, own, n)
        if size - size != 0.0:
            work[FAILED_TIME] = t_end
            return BAD_NUMBER
        work[ITERATIONS] += 1.0
        if verdict == 0:
            verdict = judge(iteration, most, size, previous, rate, method, memory, work)
        if verdict < 0:
            return verdict
        for i in range(stages * n):
            w[i] += z[i]
        transformed(method, TRANSFORM, w, n, z)
        if verdict == 1:
            size_own = own_size(own, work)
            if is_refined(size_own, previous_own, memory[CONVERGENCE], method[NEWTON]):
                break
            previous_own = size_own
        rate = size / previous if iteration > 1 else 0.0
        previous = size
    if verdict != 1:
        return SLOW
    end = z[(stages - 1) * n :]
    for m in range(n):
        y[m] = start[m] + end[m]
    defect(step, method, work, lu, pattern, z)
    work[ESTIMATE] = 0.0
    if settings[FIXED] == 0.0:
        status = estimate(
            table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, lu,
            pattern,
        )  # fmt: skip
    return status


def evaluate_stages(table, ints, first, last, t, y, p, d, k, h, c, t_end, method, work, start, z, f):
    """The derivatives at all stages."""
    n = y.shape[0]
    for i in range(int(method[STAGES])):
        stage = z[i * n : i * n + n]
        for m in range(n):
            y[m] = start[m] + stage[m]
        node = method[NODES + i]
        at = t_end if node == 1.0 else t + node * (t_end - t)
        work[EVALUATIONS] += 1.0
        status = walk(table, ints, first, last, at, y, p, d, k, h, c)
        if status != 0:
            work[FAILED_TIME] = at
            return status
        derivative = f[i * n : i * n + n]
        for m in range(n):
            derivative[m] = c[m]
    return OK


def correct(step, method, work, lu, pattern, w, f, z, own, n):
    """Newton's correction of the transformed unknowns `w` into `z`; its size in tolerances.

    Of each state the largest correction goes into `own`.
    """
    loose = vector(work, V_LOOSE, n)
    stages = int(method[STAGES])
    transformed(method, INVERSE, f, n, z)
    pair = stages - 2
    if method[REAL] != 0.0:
        real = z[:n]
        for m in range(n):
            real[m] -= method[SHIFT] / step * w[m]
        solve_real(lu, pattern, real)
    re = z[pair * n : pair * n + n]
    im = z[pair * n + n : pair * n + 2 * n]
    for m in range(n):
        a = w[pair * n + m]
        b = w[pair * n + n + m]
        re[m] -= (method[RE] * a - method[IM] * b) / step
        im[m] -= (method[IM] * a + method[RE] * b) / step
    solve_pair(lu, pattern, re, im)
    size = 0.0
    for m in range(n):
        own[m] = 0.0
    for i in range(stages):
        for m in range(n):
            own[m] = larger(own[m], abs(z[i * n + m]))
            correction = abs(z[i * n + m]) * loose[m]
            if correction > size or correction != correction:
                size = larger(size, correction)
                work[WORST] = float(m)
    return size


def defect(step, method, work, lu, pattern, z):
    """Difference to an embedded formula, filtered so that stiff parts do not blow it up, into V_ERROR.

    What is not stiff it tells by how much the collocation polynomial misses the derivative at the start,
    over the shift; kept in V_BASE for the dense output.
    """
    slope = vector(work, V_SLOPE, z.shape[0] // int(method[STAGES]))
    n = slope.shape[0]
    error = vector(work, V_ERROR, n)
    part = vector(work, V_IMAGINARY, n)
    kept = vector(work, V_BASE, n)
    for m in range(n):
        total = 0.0
        for i in range(int(method[STAGES])):
            total += method[WEIGHTS + i] * z[i * n + m]
        part[m] = total / step
        error[m] = slope[m] + part[m]
    solve_real(lu, pattern, error)
    for m in range(n):
        kept[m] = error[m]


def estimate(
    table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, lu, pattern
):
    """Size of the error and factor for the next step.

    After a rejection, and where nothing is known of the past, a large estimate is filtered once more,
    which costs an evaluation.
    """
    n = y.shape[0]
    stages = int(method[STAGES])
    start = vector(work, V_START, n)
    error = vector(work, V_ERROR, n)
    part = vector(work, V_IMAGINARY, n)
    end = vector(work, V_RIGHT, n)
    slope = family_vectors(work, 3 * stages - 1, 1, n)  # at the last stage
    step = t_end - t
    for m in range(n):
        end[m] = y[m]
    size = size_of_attempt(t, step, error, end, slope, method[EXPONENT], method, settings, memory, work)
    if size >= 1.0 and (memory[LAST] == 0.0 or work[REJECTED] != 0.0):
        for m in range(n):
            y[m] = start[m] + error[m]
        work[EVALUATIONS] += 1.0
        if walk(table, ints, first, last, t, y, p, d, k, h, c) == 0:
            for m in range(n):
                error[m] = c[m] + part[m]
            solve_real(lu, pattern, error)
            size = size_of_attempt(
                t, step, error, end, slope, method[EXPONENT], method, settings, memory, work
            )
        for m in range(n):
            y[m] = end[m]
    work[ESTIMATE] = size
    most = 2.0 * most_iterations(stages)
    quotient = math.pow(size, 1.0 / method[EXPONENT]) / (SAFETY * (1.0 + most) / (work[ITERATIONS] + most))
    quotient = max(1.0 / LARGEST_GROWTH, min(1.0 / LARGEST_SHRINK, quotient))
    work[FACTOR] = 1.0 / quotient
    return OK


def accept_collocation(t, t_end, ideal, y, c, method, settings, memory, work):
    """Note what the next step needs; its length, by the predictive controller."""
    n = y.shape[0]
    stages = int(method[STAGES])
    step = t_end - t
    z = family_vectors(work, 0, stages, n)
    for i in range(stages * n):
        memory[HISTORY_AT + i] = z[i]
    missed = vector(work, V_BASE, n)
    work[DEGREE] = float(stages + 1)
    for q in range(stages + 1):
        part = vector(work, V_DENSE + q, n)
        for m in range(n):
            total = method[CORRECTION + q] * missed[m]
            if q < stages:
                for i in range(stages):
                    total += method[PARTS + 3 * i + q] * z[i * n + m]
            part[m] = total
    good = work[RATE] <= method[REFRESH]
    memory[AGE] = 1.0 if good else 0.0
    following = ideal
    if settings[FIXED] == 0.0:
        error = work[ESTIMATE]
        quotient = 1.0 / work[FACTOR]
        if memory[LAST] > 0.0 and memory[LAST_ERROR] > 0.0:
            trend = math.pow(error * error / memory[LAST_ERROR], 1.0 / method[EXPONENT]) / SAFETY
            trend *= memory[LAST] / step
            quotient = max(quotient, max(1.0 / LARGEST_GROWTH, min(1.0 / LARGEST_SHRINK, trend)))
        proposal = step / quotient
        if work[REJECTED] != 0.0:
            proposal = min(proposal, step)
        if good and 1.0 <= proposal / step <= KEEP_BELOW:
            proposal = step
        following = remembered(step, ideal, proposal)
        memory[LAST_ERROR] = max(1e-2, error)
    memory[LAST] = step
    return following


collocation_step = new_step(attempt_collocation, accept_collocation)
redo_collocation_step = new_redo(attempt_collocation, accept_collocation)
