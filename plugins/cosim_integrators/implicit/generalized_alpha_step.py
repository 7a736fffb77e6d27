"""Steps of the generalized-alpha method for q' = N(q) u, u' = f, z' = g.

With an acceleration a that is carried from step to step beside the derivative f, both u and z follow

    (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) f_1 + alpha_f f_0
    u_1 = u_0 + h ((1 - gamma) a_0 + gamma a_1)

Eliminating a_1 from q_1 = q_0 + h u_0 + h^2 ((1/2 - beta) a_0 + beta a_1) leaves, with theta = beta / gamma,

    q_1 = q_0 + h ((1 - theta) q'_0 + theta q'_1) + h^2 (1/2 - theta) q''_0

with q''_0 = a_0 where q' = u, else the derivative of q' along (q'_0, a_0). So every group of states is of the
form y_1 = base + weight f(y_1), and Newton's matrix is that of the other implicit methods with one diagonal
for each group.

The acceleration is carried as (a - f) / h, which fits a step of another length, and a derivative that a
correction of the solution has changed a little. The first step, where there is none, is that of the
trapezoidal rule.

================ ==========================================================================
``coefficients`` from METHOD_AT on: 0 length of q, 1 length of u, 2 theta; then for u and for z alpha_m,
                 alpha_f, gamma and the constant of the error; then that of q
``memory``       at ORDER 0 while q' = u has held at the start of every step, 1 since it did not; history: as
                 in `diagonally_implicit`, then (a - f) / h
``work``         from V_FAMILY on: the derivatives at the start and at the end of the step, a_0 and q''_0
================ ==========================================================================
"""

from __future__ import annotations

import math

from cosim.kit import EVALUATIONS, FAILED_TIME, FIXED, walk
from cosim_integrators.implicit.diagonally_implicit import SAFETY, carried_on, following_step
from cosim_integrators.implicit.driver import new_redo, new_step
from cosim_integrators.implicit.layout import (
    DEGREE,
    ESTIMATE,
    FACTOR,
    FACTORED,
    HISTORY_AT,
    ITERATIONS,
    LAST,
    METHOD_AT,
    OK,
    ORDER,
    RATE,
    V_BASE,
    V_DENSE,
    V_ERROR,
    V_SHIFT,
    V_SLOPE,
    V_START,
    family_vectors,
    vector,
)
from cosim_integrators.implicit.matrices import make_matrices, solve_real
from cosim_integrators.implicit.newton import set_weights, size_of_attempt, solve_stage

SIZE_Q, SIZE_U, THETA, OF_U, OF_Z, ERROR_Q = (METHOD_AT + i for i in (0, 1, 2, 3, 7, 11))
ALPHA_M, ALPHA_F, GAMMA, CONSTANT = range(4)
EXPONENT = 3.0
ALONG = 1e-3  # of a step, for the difference that stands for q''


def group_of(m, method):
    """Where the numbers of the group of a state of u or z begin."""
    return OF_U if m < method[SIZE_Q] + method[SIZE_U] else OF_Z


def attempt_alpha(
    table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, matrices, pattern
):
    """The end of a step into `y`, its error into `work`; see `driver`."""
    n = y.shape[0]
    step = t_end - t
    start = vector(work, V_START, n)
    shift = vector(work, V_SHIFT, n)
    base = vector(work, V_BASE, n)
    f0 = family_vectors(work, 0, 1, n)
    f1 = family_vectors(work, 1, 1, n)
    set_weights(start, step, method, settings, memory, work)
    if memory[LAST] == 0.0:
        # matrices of another diagonal
        memory[FACTORED] = 0.0
        matrices[0] = 0.0
    status = prepare_alpha(table, ints, first, last, t, y, p, d, k, h, c, step, method, memory, work)
    if status != OK:
        return status
    status = make_matrices(step, 1.0, 0.0, 0.0, memory, work, matrices, pattern)
    if status != OK:
        return status
    work[RATE] = 0.0
    work[ITERATIONS] = 0.0
    for m in range(n):
        y[m] = base[m] + step * f0[m] / shift[m]
    status = solve_stage(
        table, ints, first, last, t_end, y, p, d, k, h, c, step, method, memory, work, matrices, pattern
    )
    if status != OK:
        return status
    for m in range(n):
        f1[m] = shift[m] * (y[m] - base[m]) / step
    work[ESTIMATE] = 0.0
    if settings[FIXED] == 0.0:
        estimate_alpha(t, y, c, step, method, settings, memory, work, matrices, pattern)
    return OK


def prepare_alpha(table, ints, first, last, t, y, p, d, k, h, c, step, method, memory, work):
    """Base and diagonal of the equations of the step, from what is known at its start."""
    n = y.shape[0]
    nq = int(method[SIZE_Q])
    start = vector(work, V_START, n)
    slope = vector(work, V_SLOPE, n)
    shift = vector(work, V_SHIFT, n)
    base = vector(work, V_BASE, n)
    f0 = family_vectors(work, 0, 1, n)
    a0 = family_vectors(work, 2, 1, n)
    known = carried_on(n, step, work, memory)
    for m in range(n):
        f0[m] = memory[HISTORY_AT + m] if known else slope[m]
        a0[m] = f0[m] + step * memory[HISTORY_AT + 3 * n + m]
    if memory[LAST] == 0.0:
        for m in range(n):
            shift[m] = 2.0
            base[m] = start[m] + 0.5 * step * f0[m]
        return OK
    status = second_derivatives(table, ints, first, last, t, y, p, d, k, h, c, step, method, memory, work)
    if status != OK:
        return status
    theta = method[THETA]
    q_dot2 = family_vectors(work, 3, 1, n)
    for m in range(nq):
        shift[m] = 1.0 / theta
        base[m] = start[m] + step * ((1.0 - theta) * f0[m] + step * (0.5 - theta) * q_dot2[m])
    for m in range(nq, n):
        at = group_of(m, method)
        share = method[at + GAMMA] / (1.0 - method[at + ALPHA_M])
        shift[m] = 1.0 / (share * (1.0 - method[at + ALPHA_F]))
        past = method[at + ALPHA_F] * f0[m] - method[at + ALPHA_M] * a0[m]
        base[m] = start[m] + step * ((1.0 - method[at + GAMMA]) * a0[m] + share * past)
    return OK


def second_derivatives(table, ints, first, last, t, y, p, d, k, h, c, step, method, memory, work):
    """Q'' at the start of the step, from a."""
    n = y.shape[0]
    nq = int(method[SIZE_Q])
    start = vector(work, V_START, n)
    slope = vector(work, V_SLOPE, n)
    f0 = family_vectors(work, 0, 1, n)
    a0 = family_vectors(work, 2, 1, n)
    q_dot2 = family_vectors(work, 3, 1, n)
    if memory[ORDER] == 0.0:
        for m in range(nq):
            if slope[m] != start[nq + m]:
                memory[ORDER] = 1.0
            q_dot2[m] = a0[nq + m]
    if memory[ORDER] == 0.0 or method[THETA] == 0.5:
        return OK
    along = ALONG * step
    for m in range(n):
        y[m] = start[m] + along * (f0[m] if m < nq else a0[m])
    work[EVALUATIONS] += 1.0
    status = walk(table, ints, first, last, t + along, y, p, d, k, h, c)
    if status != 0:
        work[FAILED_TIME] = t + along
        return status
    for m in range(nq):
        q_dot2[m] = (c[m] - slope[m]) / along
    return OK


def estimate_alpha(t, y, c, step, method, settings, memory, work, matrices, pattern):
    """The error of the step, filtered by the matrix so that stiff parts do not blow it up.

    It is a constant times h^3 y''', from the derivatives at three points; where nothing is known of the past
    the difference to an Euler step, which is far too large.
    """
    n = y.shape[0]
    nq = int(method[SIZE_Q])
    error = vector(work, V_ERROR, n)
    shift = vector(work, V_SHIFT, n)
    f0 = family_vectors(work, 0, 1, n)
    f1 = family_vectors(work, 1, 1, n)
    past = memory[LAST] if carried_on(n, step, work, memory) else 0.0
    for m in range(n):
        change = f1[m] - f0[m]
        total = 0.5 * step * change
        if past > 0.0:
            before = (f0[m] - memory[HISTORY_AT + 2 * n + m]) / past
            constant = method[ERROR_Q] if m < nq else method[group_of(m, method) + CONSTANT]
            total = 2.0 * constant * step * step * step * (change / step - before) / (step + past)
        error[m] = total * shift[m] / step
    solve_real(matrices, pattern, error)
    order = EXPONENT if past > 0.0 else 2.0
    size = size_of_attempt(t, step, error, y, c, order, method, settings, memory, work)
    work[ESTIMATE] = size
    if size > 0.0:
        work[FACTOR] = SAFETY * math.pow(size, -1.0 / EXPONENT)


def accept_alpha(t, t_end, ideal, y, c, method, settings, memory, work):
    """Note what the next step needs; its length."""
    n = y.shape[0]
    nq = int(method[SIZE_Q])
    step = t_end - t
    start = vector(work, V_START, n)
    line = vector(work, V_DENSE, n)
    bend = vector(work, V_DENSE + 1, n)
    f0 = family_vectors(work, 0, 1, n)
    f1 = family_vectors(work, 1, 1, n)
    a0 = family_vectors(work, 2, 1, n)
    for m in range(n):
        ahead = 0.0
        if m >= nq:
            at = group_of(m, method)
            alpha_m = method[at + ALPHA_M]
            alpha_f = method[at + ALPHA_F]
            if memory[LAST] == 0.0:
                ahead = (alpha_m - alpha_f) * (f1[m] - f0[m]) / step
            else:
                a1 = ((1.0 - alpha_f) * f1[m] + alpha_f * f0[m] - alpha_m * a0[m]) / (1.0 - alpha_m)
                ahead = (a1 - f1[m]) / step
        memory[HISTORY_AT + m] = f1[m]
        memory[HISTORY_AT + n + m] = c[m]
        memory[HISTORY_AT + 2 * n + m] = f0[m]
        memory[HISTORY_AT + 3 * n + m] = ahead
        bend[m] = 0.5 * step * (f1[m] - f0[m])
        line[m] = y[m] - start[m] - bend[m]
    work[DEGREE] = 2.0
    if memory[LAST] == 0.0:
        memory[FACTORED] = 0.0
    return following_step(step, ideal, EXPONENT, method, settings, memory, work)


alpha_step = new_step(attempt_alpha, accept_alpha)
redo_alpha_step = new_redo(attempt_alpha, accept_alpha)
