"""Steps of diagonally implicit Runge–Kutta methods: one stage after the other, all with the same matrix.

================ ==========================================================================
``coefficients`` from METHOD_AT on: 0 stages s, 1 gamma, 2 order of the error estimate + 1, 3 whether it
                 comes from weights (else from the change of the derivative over two steps), 4 degree of
                 the dense output; then the nodes (s), a (s * s), the error weights (s), the weights of the
                 guesses (s * s), the dense output (s * degree)
``memory``       history: of the last step the last stage, the derivative at its end, the first stage
``work``         from V_FAMILY on: the stages k
================ ==========================================================================
"""

from __future__ import annotations

import math

from cosim.kit import FIXED, LAST_ERROR
from cosim_integrators.implicit.driver import new_redo, new_step, remembered
from cosim_integrators.implicit.layout import (
    AGE,
    DEGREE,
    ESTIMATE,
    FACTOR,
    HISTORY_AT,
    ITERATIONS,
    LAST,
    METHOD_AT,
    OK,
    RATE,
    REFRESH,
    REJECTED,
    V_BASE,
    V_DENSE,
    V_ERROR,
    V_SLOPE,
    V_START,
    V_WEIGHT,
    family_vectors,
    vector,
)
from cosim_integrators.implicit.matrices import make_matrices, solve_real
from cosim_integrators.implicit.newton import set_weights, size_of_attempt, solve_stage
from cosim_integrators.kit.step_control import next_step

STAGES, GAMMA, EXPONENT, WEIGHTED, PARTS = range(METHOD_AT, METHOD_AT + 5)
NODES = METHOD_AT + 5
SAFETY = 0.9
NOTHING = 0.01  # of the tolerance
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices


def attempt_stages(
    table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, matrices, pattern
):
    """The end of a step into `y`, its error into `work`; see `driver`."""
    n = y.shape[0]
    stages = int(method[STAGES])
    step = t_end - t
    weighted = method[GAMMA] * step
    status = make_matrices(weighted, 1.0, 0.0, 0.0, memory, work, matrices, pattern)
    if status != OK:
        return status
    start = vector(work, V_START, n)
    slope = vector(work, V_SLOPE, n)
    base = vector(work, V_BASE, n)
    derivatives = family_vectors(work, 0, stages, n)
    set_weights(start, step, method, settings, memory, work)
    work[RATE] = 0.0
    work[ITERATIONS] = 0.0
    # The last stage of the step before is the derivative that belongs to its equation: another evaluation
    # magnifies what Newton has left. It is that only if nothing has jumped since.
    known = carried_on(n, step, work, memory)
    for m in range(n):
        derivatives[m] = memory[HISTORY_AT + m] if known else slope[m]
    row = NODES + stages
    guess = NODES + stages * (stages + 2)
    for i in range(1, stages):
        for m in range(n):
            total = 0.0
            expected = 0.0
            for j in range(i):
                one = derivatives[j * n + m]
                total += method[row + i * stages + j] * one
                expected += method[guess + i * stages + j] * one
            base[m] = start[m] + step * total
            y[m] = base[m] + weighted * expected
        at = t_end if i == stages - 1 else t + method[NODES + i] * step
        status = solve_stage(
            table, ints, first, last, at, y, p, d, k, h, c, weighted, method, memory, work, matrices, pattern
        )
        if status != OK:
            return status
        for m in range(n):
            derivatives[i * n + m] = (y[m] - base[m]) / weighted
    work[ESTIMATE] = 0.0
    if settings[FIXED] == 0.0:
        estimate_from_stages(t, y, c, step, method, settings, memory, work, matrices, pattern)
    return OK


def carried_on(n, step, work, memory):
    """Whether this step begins where the last one ended: the derivative has not jumped in between.

    A change that is nothing to the accuracy (a solution that was corrected after the step) does not count.
    """
    slope = vector(work, V_SLOPE, n)
    weight = vector(work, V_WEIGHT, n)
    same = memory[LAST] > 0.0
    for m in range(n):
        same = same and step * abs(slope[m] - memory[HISTORY_AT + n + m]) * weight[m] <= NOTHING
    return same


def estimate_from_stages(t, y, c, step, method, settings, memory, work, matrices, pattern):
    """The error of the step, filtered by the matrix so that stiff parts do not blow it up.

    Without weights: that of the trapezoidal rule, h^3 y''' / 12, from the derivatives at three points; where
    nothing is known of the past the difference to an Euler step, which is far too large.
    """
    n = y.shape[0]
    stages = int(method[STAGES])
    error = vector(work, V_ERROR, n)
    derivatives = family_vectors(work, 0, stages, n)
    weights = NODES + stages * (stages + 1)
    past = memory[LAST] if carried_on(n, step, work, memory) else 0.0
    for m in range(n):
        total = 0.0
        if method[WEIGHTED] != 0.0:
            for i in range(stages):
                total += method[weights + i] * derivatives[i * n + m]
            total *= step
        else:
            change = derivatives[n + m] - derivatives[m]
            if past > 0.0:
                before = (derivatives[m] - memory[HISTORY_AT + 2 * n + m]) / past
                total = step * step * step / 6.0 * (change / step - before) / (step + past)
            else:
                total = 0.5 * step * change
        error[m] = total / (method[GAMMA] * step)
    solve_real(matrices, pattern, error)
    size = size_of_attempt(t, step, error, y, c, method[EXPONENT], method, settings, memory, work)
    work[ESTIMATE] = size
    if size > 0.0:
        work[FACTOR] = SAFETY * math.pow(size, -1.0 / method[EXPONENT])


def accept_stages(t, t_end, ideal, y, c, method, settings, memory, work):
    """Note what the next step needs; its length."""
    n = y.shape[0]
    stages = int(method[STAGES])
    step = t_end - t
    derivatives = family_vectors(work, 0, stages, n)
    for m in range(n):
        memory[HISTORY_AT + m] = derivatives[(stages - 1) * n + m]
        memory[HISTORY_AT + n + m] = c[m]
        memory[HISTORY_AT + 2 * n + m] = derivatives[m]
    degree = int(method[PARTS])
    parts = NODES + stages * (2 * stages + 2)
    work[DEGREE] = float(degree)
    for q in range(degree):
        part = vector(work, V_DENSE + q, n)
        for m in range(n):
            total = 0.0
            for i in range(stages):
                total += method[parts + i * degree + q] * derivatives[i * n + m]
            part[m] = step * total
    return following_step(step, ideal, method[EXPONENT], method, settings, memory, work)


def following_step(step, ideal, exponent, method, settings, memory, work):
    """Note how old the Jacobian is and how long the step was; the length of the next one."""
    memory[AGE] = 1.0 if work[RATE] <= method[REFRESH] else 0.0
    following = ideal
    if settings[FIXED] == 0.0:
        error = work[ESTIMATE]
        proposal = next_step(step, step, error, memory[LAST_ERROR], exponent, work[REJECTED] != 0.0)
        if step <= proposal <= KEEP_BELOW * step:
            proposal = step
        following = remembered(step, ideal, proposal)
        memory[LAST_ERROR] = max(error, 1e-4)
    memory[LAST] = step
    return following


diagonal_step = new_step(attempt_stages, accept_stages)
redo_diagonal_step = new_redo(attempt_stages, accept_stages)
