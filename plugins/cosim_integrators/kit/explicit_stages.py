"""Stages of explicit Runge–Kutta methods: sums over rows of the tableau, and the evaluations at the nodes."""

from __future__ import annotations

import math

from cosim.kit import redo_entry, store_state
from cosim_integrators.kit.counted_evaluation import evaluate, evaluate_stage
from cosim_integrators.kit.explicit_method import ExplicitMethod
from cosim_integrators.kit.start_of_step import copy_values

# rows of the tableau, behind those of the stages: see `explicit_method`
SOLUTION, ERROR, SECOND_ERROR, STIFF_STATE, STIFF_SLOPE, EXTRA = range(6)


def combine(method, row, out):
    """``out`` = sum of the stages, weighted by one row of the tableau."""
    row_at, count = place_of_row(method, row)
    if count == 0:
        for m in range(method.n):
            out[m] = 0.0
        return
    add_pairs(method, row_at, write_first_terms(method, row_at, count, out), count, out)


def place_of_row(method, row):
    """Where in the coefficients a row of the tableau begins, and how many terms it has."""
    tableau = method.coefficients
    row_at = int(tableau[int(method.tableau.rows_at) + row])
    return row_at, int(tableau[row_at])


def write_first_terms(method, row_at, count, out):
    """``out`` = the first one or two terms of a row, so that pairs remain; returns the number of terms."""
    weight, stage = term_of_row(method, row_at, 0)
    if count % 2 == 1:
        for m in range(method.n):
            out[m] = weight * stage[m]
        return 1
    next_weight, next_stage = term_of_row(method, row_at, 1)
    for m in range(method.n):
        out[m] = weight * stage[m] + next_weight * next_stage[m]
    return 2


def add_pairs(method, row_at, first, end, out):
    """Add the terms `first` … `end` - 1 of a row, two a pass: vectors are read and written half as often."""
    for i in range(first, end, 2):
        weight, stage = term_of_row(method, row_at, i)
        next_weight, next_stage = term_of_row(method, row_at, i + 1)
        for m in range(method.n):
            out[m] += weight * stage[m] + next_weight * next_stage[m]


def term_of_row(method, row_at, i):
    """A term of a row: the weight, and the derivative of the stage."""
    term_at = row_at + 1 + 2 * i
    return method.coefficients[term_at + 1], method.stage(int(method.coefficients[term_at]))


def add_combination(method, row, step, y):
    """``y`` = start + step * (sum of the stages, weighted by one row).

    The last pass over the vectors adds the last two terms, multiplies by the step and adds the start.
    """
    n = method.n
    start = method.start
    row_at, count = place_of_row(method, row)
    if count == 0:
        for m in range(n):
            y[m] = start[m] + step * 0.0
    elif count == 1:
        weight, stage = term_of_row(method, row_at, 0)
        for m in range(n):
            y[m] = start[m] + step * (weight * stage[m])
    else:
        weight, stage = term_of_row(method, row_at, count - 2)
        last_weight, last_stage = term_of_row(method, row_at, count - 1)
        if count == 2:
            for m in range(n):
                y[m] = start[m] + step * (weight * stage[m] + last_weight * last_stage[m])
            return
        add_pairs(method, row_at, write_first_terms(method, row_at, count, y), count - 2, y)
        for m in range(n):
            y[m] = start[m] + step * (y[m] + (weight * stage[m] + last_weight * last_stage[m]))


def compute_stages(system, method, t, t_end):
    """Compute all stages of a step from `t` to `t_end`; its start and first derivative are in `work`.

    Leaves the solution in `y` and the stages in `work`. Returns 0 or 1 + the index of a failed block. The
    cache belongs to the end of the step only if the last stage is the derivative there (first same as last):
    for all other stages only the rows that derivatives need are evaluated.
    """
    stages = method.stages
    ends_in_stage = method.tableau.first_same_as_last != 0.0
    step = t_end - t
    for i in range(1, stages):
        add_combination(method, i, step, system.y)
        node = method.node(i)
        stage_time = t_end if node == 1.0 else t + node * step
        is_end = ends_in_stage and i + 1 == stages
        first = system.first if is_end else method.slots.inner_first
        last = system.last if is_end else method.slots.inner_last
        status = evaluate_stage(system.with_rows(first, last), method, stage_time)
        if status != 0:
            return status
        copy_values(method.stage(i), system.c)
    if not ends_in_stage:
        add_combination(method, stages, step, system.y)
    return 0


def finish_step(system, method, t_end):
    """Evaluate the end of a step (unless its last stage did) and store it, with its derivative.

    Returns 0, 1 + the index of a failed block, or -1 when something is not finite.
    """
    if method.tableau.first_same_as_last == 0.0:
        status = evaluate_stage(system, method, t_end)
        if status != 0:
            return status
    copy_values(method.last_slope, system.c)
    return 0 if store_state(method.end, system.y, system.c) else -1


def compute_extra_stages(system, method, t):
    """Compute the stages that only the dense output of the last step needs; `t` is its start.

    `y` and the cache are overwritten. Returns 0 or 1 + the index of a failed block.
    """
    stages = method.stages
    step = method.work.end - t
    inner = method.inner(system)
    for i in range(method.extra_stages):
        add_combination(method, stages + EXTRA + i, step, system.y)
        status = evaluate(inner, method, t + method.node(stages + i) * step)
        if status != 0:
            return status
        copy_values(method.stage(stages + 1 + i), system.c)
    return 0


def complete_dense_output(system, method, t):
    """Call `compute_extra_stages` for the last step, once; see `cosim.contracts.method_layout`."""
    work = method.work
    if method.extra_stages == 0 or work.dense_ready != 0.0 or not work.start < math.inf:
        return 0
    status = compute_extra_stages(system, method, work.start)
    if status == 0:
        work.dense_ready = 1.0
    return status


complete_explicit_step = redo_entry(ExplicitMethod, complete_dense_output)
