"""Steps of the backward differentiation formulas of orders 1 … 5, in the form of Shampine and Reichelt.

The past is kept as backward differences of y at equal distances; when the step changes they are
changed to the new distance by interpolation.

================ ==========================================================================
``coefficients`` from METHOD_AT on: 0 highest order; then for the orders 0 … 5 gamma, alpha, and the
                 constant of the error (6 each, and one more for order 6 of the last)
``memory``       history: the differences of order 0 … 7; beyond the order of the method by two
``work``         from V_FAMILY on: the differences at the distance of this step, then room for as many; at
                 the very end room for the matrix of a change of distance
================ ==========================================================================

References
----------
L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM Journal on Scientific Computing 18 (1997), as
in SciPy, scipy/integrate/_ivp/bdf.py: coefficients, change of distance, choice of order and step.
"""

from __future__ import annotations

import math

from cosim.kit import DONE, FIXED, NEXT_STEP
from cosim_integrators.implicit.begin import restart_implicit_steps
from cosim_integrators.implicit.driver import new_redo, new_step
from cosim_integrators.implicit.layout import (
    AGE,
    DEGREE,
    EQUAL,
    ESTIMATE,
    FACTOR,
    HISTORY_AT,
    ITERATIONS,
    LAST,
    METHOD_AT,
    OK,
    ORDER,
    RATE,
    REJECTED,
    V_BASE,
    V_DENSE,
    V_ERROR,
    V_IMAGINARY,
    V_SLOPE,
    V_START,
    family_vectors,
    sizes_in,
    vector,
)
from cosim_integrators.implicit.matrices import make_matrices
from cosim_integrators.implicit.newton import set_weights, size_of_attempt, size_of_error, solve_stage
from cosim_integrators.kit.begin import write_first_step
from cosim_integrators.kit.size_layout import LARGEST

HIGHEST = METHOD_AT
GAMMA, ALPHA, CONSTANT = METHOD_AT + 1, METHOD_AT + 7, METHOD_AT + 13
DIFFERENCES = 8
CHANGE_SIZE = 36
LARGEST_GROWTH = 10.0
LARGEST_SHRINK = 0.2
KEEP_BELOW = 1.2  # less growth than that is not worth new matrices
NEARLY_EQUAL = 0.5  # by so much targets may change a step without a new choice of order and step
SLOW_RATE = 0.3  # of convergence, from which on a new Jacobian pays (tried on van der Pol, HIRES and others)
BACK = 2.0  # a step that a target made short may be followed by one so many times as long


def change_distance(differences, order, ratio, n, work):
    """Differences at a distance that is `ratio` times the old one, of the polynomial of that order."""
    change = work[work.shape[0] - CHANGE_SIZE :]
    for i in range(order + 1):
        for j in range(order + 1):
            total = 0.0
            for q in range(order + 1):
                total += change_entry(i, q, ratio) * change_entry(q, j, 1.0)
            change[i * (order + 1) + j] = total
    room = family_vectors(work, DIFFERENCES, DIFFERENCES, n)
    for j in range(order + 1):
        for m in range(n):
            total = 0.0
            for i in range(order + 1):
                total += change[i * (order + 1) + j] * differences[i * n + m]
            room[j * n + m] = total
    for i in range((order + 1) * n):
        differences[i] = room[i]


def change_entry(i, j, ratio):
    """Product over q = 1 … i of ``(q - 1 - ratio j) / q``."""
    result = 1.0
    for q in range(1, i + 1):
        result *= (q - 1.0 - ratio * j) / q
    return result


def order_in(memory):
    """The order; what was put back may hold any number, and differences are kept up to the highest order."""
    return int(min(max(memory[ORDER], 1.0), float(DIFFERENCES - 3)))


def order_of_next(settings, memory):
    """The exponent of the step in the error of the next step."""
    return order_in(memory) + 1.0 if memory[LAST] > 0.0 else 2.0


def load_differences(step, work, memory, n):
    """The differences at the distance of this step; the order."""
    differences = family_vectors(work, 0, DIFFERENCES, n)
    start = vector(work, V_START, n)
    slope = vector(work, V_SLOPE, n)
    last = memory[LAST]
    if last == 0.0:
        for i in range(DIFFERENCES * n):
            differences[i] = 0.0
        for m in range(n):
            differences[m] = start[m]
            differences[n + m] = step * slope[m]
        return 1
    for i in range(DIFFERENCES * n):
        differences[i] = memory[HISTORY_AT + i]
    for m in range(n):
        differences[m] = start[m]
    order = order_in(memory)
    if step != last:
        ratio = step / last
        change_distance(differences, order, ratio, n, work)
        power = 1.0
        for _ in range(order + 1):
            power *= ratio
        for m in range(n):  # these are for estimates of errors alone
            differences[(order + 1) * n + m] *= power
            differences[(order + 2) * n + m] *= power * ratio
    return order


def attempt_differences(
    table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, matrices, pattern
):
    """The end of a step into `y`, its error into `work`; see `driver`."""
    n = y.shape[0]
    step = t_end - t
    order = load_differences(step, work, memory, n)
    weighted = step / method[ALPHA + order]
    status = make_matrices(weighted, 1.0, 0.0, 0.0, memory, work, matrices, pattern)
    if status != OK:
        return status
    differences = family_vectors(work, 0, DIFFERENCES, n)
    base = vector(work, V_BASE, n)
    predicted = vector(work, V_IMAGINARY, n)
    for m in range(n):
        total = differences[m]
        past = 0.0
        for i in range(1, order + 1):
            total += differences[i * n + m]
            past += method[GAMMA + i] * differences[i * n + m]
        predicted[m] = total
        base[m] = total - past / method[ALPHA + order]
        y[m] = total
    set_weights(y, step, method, settings, memory, work)
    work[RATE] = 0.0
    work[ITERATIONS] = 0.0
    status = solve_stage(
        table, ints, first, last, t_end, y, p, d, k, h, c, weighted, method, memory, work, matrices, pattern
    )
    if status != OK:
        return status
    error = vector(work, V_ERROR, n)
    for m in range(n):
        base[m] = predicted[m]
        error[m] = method[CONSTANT + order] * (y[m] - base[m])
    work[ESTIMATE] = 0.0
    if settings[FIXED] == 0.0:
        size = size_of_attempt(t, step, error, y, c, order + 1.0, method, settings, memory, work)
        work[ESTIMATE] = size
        work[FACTOR] = safety(work) * math.pow(max(size, 1e-10), -1.0 / (order + 1.0))
    return OK


def safety(work):
    """Nearer to 1 the fewer iterations were needed."""
    return 0.9 * 9.0 / (8.0 + work[ITERATIONS])


def accept_differences(t, t_end, ideal, y, c, method, settings, memory, work):
    """Note the differences at the end, choose order and length of the next step."""
    n = y.shape[0]
    step = t_end - t
    order = order_in(memory) if memory[LAST] > 0.0 else 1
    equal = NEARLY_EQUAL * step <= memory[LAST] <= step / NEARLY_EQUAL
    memory[EQUAL] = memory[EQUAL] + 1.0 if equal else 1.0
    differences = family_vectors(work, 0, DIFFERENCES, n)
    predicted = vector(work, V_BASE, n)
    for m in range(n):
        newest = y[m] - predicted[m]  # the difference of the next order, of the corrected end
        differences[(order + 2) * n + m] = newest - differences[(order + 1) * n + m]
        differences[(order + 1) * n + m] = newest
    for back in range(order + 1):
        i = order - back
        for m in range(n):
            differences[i * n + m] += differences[(i + 1) * n + m]
    for m in range(n):
        differences[m] = y[m]
    polynomial(order, differences, work, n)
    memory[AGE] = 1.0 if work[RATE] <= SLOW_RATE else 0.0
    memory[LAST] = step
    memory[ORDER] = float(order)
    following = ideal
    if settings[FIXED] != 0.0:
        if memory[EQUAL] > order and order < min(2.0, method[HIGHEST]):
            memory[ORDER] = order + 1.0
            memory[EQUAL] = 0.0
    elif memory[EQUAL] > order:
        following = step * best_order(order, y, differences, method, settings, memory, work)
    elif work[REJECTED] == 0.0:
        following = min(ideal, BACK * step)
    else:
        following = step
    for i in range(DIFFERENCES * n):
        memory[HISTORY_AT + i] = differences[i]
    return following


def best_order(order, y, differences, method, settings, memory, work):
    """Go to the neighbouring order that allows the longest step; by how much it may grow."""
    n = y.shape[0]
    best = math.pow(max(work[ESTIMATE], 1e-10), -1.0 / (order + 1.0))
    chosen = order
    error = vector(work, V_ERROR, n)
    for other in (order - 1, order + 1):
        if 1 <= other <= method[HIGHEST]:
            # the next difference is the error constant's factor: D^(k + 1) for order k
            for m in range(n):
                error[m] = method[CONSTANT + other] * differences[(other + 1) * n + m]
            sizes = sizes_in(memory, method, n)
            size = size_of_error(error, y, y, method, settings, sizes, work)
            factor = math.pow(max(size, 1e-10), -1.0 / (other + 1.0))
            if factor > best:
                best = factor
                chosen = other
    growth = min(LARGEST_GROWTH, safety(work) * best)
    if work[REJECTED] != 0.0:
        growth = min(1.0, growth)
    if chosen == order and 1.0 <= growth < KEEP_BELOW:
        return 1.0
    memory[ORDER] = float(chosen)
    memory[EQUAL] = 0.0
    return max(LARGEST_SHRINK, growth)


def polynomial(order, differences, work, n):
    """The interpolating polynomial as powers of s, s = 0 at the start and 1 at the end of the step.

    It is sum_i D_i binomial(x + i - 1, i) with x = s - 1; the products are multiplied out.
    """
    work[DEGREE] = float(order)
    powers = work[work.shape[0] - CHANGE_SIZE :]
    for q in range(order):
        part = vector(work, V_DENSE + q, n)
        for m in range(n):
            part[m] = 0.0
    for i in range(order + 1):
        powers[i] = 0.0
    powers[0] = 1.0
    for i in range(1, order + 1):
        # times (s + i - 2) / i
        for back in range(i + 1):
            q = i - back
            below = powers[q - 1] if q > 0 else 0.0
            powers[q] = (below + (i - 2.0) * powers[q]) / i
        for q in range(1, i + 1):
            part = vector(work, V_DENSE + q - 1, n)
            for m in range(n):
                part[m] += powers[q] * differences[i * n + m]


backward_step = new_step(attempt_differences, accept_differences, order_of_next)
redo_backward_step = new_redo(attempt_differences, accept_differences)


def restart_backward_steps(
    table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots
):
    """Begin again at order 1, with a step as short as at the start of a run."""
    code = restart_implicit_steps(
        table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots
    )
    if settings[FIXED] != 0.0 or y.shape[0] == 0:
        return code
    n = y.shape[0]
    longest = memory[NEXT_STEP]
    known = sizes_in(memory, method, n)[LARGEST * n : LARGEST * n + n]
    code = write_first_step(table, ints, first, last, t, y, p, d, k, h, c, known, settings, memory, work)
    if code == DONE:
        memory[NEXT_STEP] = min(longest, memory[NEXT_STEP])
    return code
