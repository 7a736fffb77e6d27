"""Stages of explicit Runge–Kutta methods: the tableau is data, a flat array of numbers.

=============== ===========================================================================
``tableau``     0 stages, 1 first same as last, 2 has an error estimate, 3 has a second one, 4 coefficients of
                each stage in the dense output (0: a cubic Hermite polynomial, which an extra stage lifts),
                5 where they start, 6 where the table of rows starts, 7 extra stages of the dense output, 8
                order, 9 whether stiffness can be noticed, 10 where the stability region ends on the negative
                real axis; then the nodes of stages and extra stages; then the table of rows (stages,
                solution, error, second error, way and slope for stiffness, extra stages), each row being its
                count and then pairs *(stage, coefficient)*
``work``        in the header, whether what dense output keeps of the step is there; after the vectors that
                all methods have: a derivative for each stage, for the end of the step, and for each extra
                stage; then what dense output keeps, three vectors, or one where it is no cubic
=============== ===========================================================================
"""

from __future__ import annotations

import math

from cosim.kit import (
    DENSE_READY,
    END,
    EVALUATIONS,
    FAILED_TIME,
    INNER_FIRST,
    INNER_LAST,
    OWN,
    START,
    WORK_HEADER,
    walk,
)

TABLEAU_HEADER = 12
LINE_READY = OWN
STAGES, SAME, HAS_ERROR, HAS_SECOND, DEGREE, DENSE_AT, ROWS_AT, EXTRA, ORDER, NOTICES, BOUNDARY = range(11)


def combine(tableau, row, k, n, out):
    """``out`` = sum of the stages in `k`, weighted by one row of the tableau."""
    at = int(tableau[int(tableau[ROWS_AT]) + row])
    count = int(tableau[at])
    if count == 0:
        for m in range(n):
            out[m] = 0.0
        return
    # Two terms a pass: the vectors are read and written half as often.
    first = 1
    if count % 2 == 0:
        weight = tableau[at + 2]
        other = tableau[at + 4]
        one = k[int(tableau[at + 1]) * n : int(tableau[at + 1]) * n + n]
        two = k[int(tableau[at + 3]) * n : int(tableau[at + 3]) * n + n]
        for m in range(n):
            out[m] = weight * one[m] + other * two[m]
        first = 2
    else:
        weight = tableau[at + 2]
        one = k[int(tableau[at + 1]) * n : int(tableau[at + 1]) * n + n]
        for m in range(n):
            out[m] = weight * one[m]
    for pair in range(first, count, 2):
        index = at + 1 + 2 * pair
        weight = tableau[index + 1]
        other = tableau[index + 3]
        one = k[int(tableau[index]) * n : int(tableau[index]) * n + n]
        two = k[int(tableau[index + 2]) * n : int(tableau[index + 2]) * n + n]
        for m in range(n):
            out[m] += weight * one[m] + other * two[m]


def add_combination(tableau, row, k, start, step, y):
    """``y`` = start + step * (sum of the stages, weighted by one row)."""
    n = y.shape[0]
    combine(tableau, row, k, n, y)
    for m in range(n):
        y[m] = start[m] + step * y[m]


def take_stages(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work, slots):
    """All stages of a step from `t` to `t_end`; its start and first derivative are in `work`.

    Leaves the solution in `y` and the stages in `work`. Returns 0 or 1 + the index of a failed block.
    The cache is that of the end of the step only if the method's first stage is the same as its last; other
    stages need derivatives alone.
    """
    n = y.shape[0]
    stages = int(tableau[STAGES])
    start = work[WORK_HEADER : WORK_HEADER + n]
    derivatives = work[WORK_HEADER + 3 * n :]
    step = t_end - t
    for i in range(1, stages):
        add_combination(tableau, i, derivatives, start, step, y)
        node = tableau[TABLEAU_HEADER + i]
        at = t_end if node == 1.0 else t + node * step
        work[EVALUATIONS] += 1.0
        is_end = tableau[SAME] != 0.0 and i + 1 == stages
        begin = first if is_end else slots[INNER_FIRST]
        end = last if is_end else slots[INNER_LAST]
        status = walk(table, ints, begin, end, at, y, p, d, k, h, c)
        if status != 0:
            work[FAILED_TIME] = at
            return status
        stage = derivatives[i * n : i * n + n]
        for m in range(n):
            stage[m] = c[m]
    if tableau[SAME] == 0.0:
        add_combination(tableau, stages, derivatives, start, step, y)
    return 0


def finish_step(table, ints, first, last, t_end, y, p, d, k, h, c, tableau, work):
    """Evaluate the end of a step (unless its last stage did) and keep its derivative.

    Returns 0, 1 + the index of a failed block, or -1 when something is not finite.
    """
    n = y.shape[0]
    if tableau[SAME] == 0.0:
        work[EVALUATIONS] += 1.0
        status = walk(table, ints, first, last, t_end, y, p, d, k, h, c)
        if status != 0:
            work[FAILED_TIME] = t_end
            return status
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    at = WORK_HEADER + (3 + int(tableau[STAGES])) * n
    last_derivative = work[at : at + n]
    total = 0.0
    for m in range(n):
        end[m] = y[m]
        last_derivative[m] = c[m]
        # 0 unless one of the two is infinite or NaN.
        total += 0.0 * y[m] + 0.0 * c[m]
    return 0 if total == 0.0 else -1


def take_extra_stages(table, ints, t, y, p, d, k, h, c, tableau, work, slots):
    """The stages that only the dense output of the last step needs; `t` is its start.

    `y` and the cache are overwritten: they are not those of the State. Returns 0 or 1 + the index of a failed
    block.
    """
    n = y.shape[0]
    stages = int(tableau[STAGES])
    start = work[WORK_HEADER : WORK_HEADER + n]
    derivatives = work[WORK_HEADER + 3 * n :]
    step = work[END] - t
    for i in range(int(tableau[EXTRA])):
        add_combination(tableau, stages + 5 + i, derivatives, start, step, y)
        at = t + tableau[TABLEAU_HEADER + stages + i] * step
        work[EVALUATIONS] += 1.0
        status = walk(table, ints, slots[INNER_FIRST], slots[INNER_LAST], at, y, p, d, k, h, c)
        if status != 0:
            return status
        stage = derivatives[(stages + 1 + i) * n : (stages + 2 + i) * n]
        for m in range(n):
            stage[m] = c[m]
    return 0


def complete_explicit_step(
    table, ints, first, last, t, y, p, d, k, h, c, tableau, settings, memory, work, slots
):
    """`take_extra_stages` for the last step, unless that was done; see `cosim.contracts.method_layout`."""
    if tableau[EXTRA] == 0.0 or work[DENSE_READY] != 0.0 or not work[START] < math.inf:
        return 0
    status = take_extra_stages(table, ints, work[START], y, p, d, k, h, c, tableau, work, slots)
    if status == 0:
        work[DENSE_READY] = 1.0
    return status
