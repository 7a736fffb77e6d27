"""Stages of explicit Runge–Kutta methods."""

from __future__ import annotations

import math

from cosim.kit import redo_entry, store_state
from cosim_integrators.kit.counted_evaluation import evaluate, evaluate_stage
from cosim_integrators.kit.explicit_method import ExplicitMethod
from cosim_integrators.kit.start_of_step import copy_values

# rows of the tableau, behind those of the stages
SOLUTION, ERROR, SECOND_ERROR, STIFF_WAY, STIFF_SLOPE, EXTRA = range(6)


def combine(method, row, out):
    """``out`` = sum of the stages, weighted by one row of the tableau."""
    tableau = method.coefficients
    n = method.n
    row_at = int(tableau[int(method.tableau.rows_at) + row])
    count = int(tableau[row_at])
    if count == 0:
        for m in range(n):
            out[m] = 0.0
        return
    # Two terms a pass: the vectors are read and written half as often.
    first = 1
    if count % 2 == 0:
        weight = tableau[row_at + 2]
        next_weight = tableau[row_at + 4]
        stage = method.stage(int(tableau[row_at + 1]))
        next_stage = method.stage(int(tableau[row_at + 3]))
        for m in range(n):
            out[m] = weight * stage[m] + next_weight * next_stage[m]
        first = 2
    else:
        weight = tableau[row_at + 2]
        stage = method.stage(int(tableau[row_at + 1]))
        for m in range(n):
            out[m] = weight * stage[m]
    for pair in range(first, count, 2):
        index = row_at + 1 + 2 * pair
        weight = tableau[index + 1]
        next_weight = tableau[index + 3]
        stage = method.stage(int(tableau[index]))
        next_stage = method.stage(int(tableau[index + 2]))
        for m in range(n):
            out[m] += weight * stage[m] + next_weight * next_stage[m]


def add_combination(method, row, step, y):
    """``y`` = start + step * (sum of the stages, weighted by one row)."""
    start = method.start
    combine(method, row, y)
    for m in range(method.n):
        y[m] = start[m] + step * y[m]


def compute_stages(system, method, t, t_end):
    """All stages of a step from `t` to `t_end`; its start and first derivative are in `work`.

    Leaves the solution in `y` and the stages in `work`. Returns 0 or 1 + the index of a failed block.
    The cache is that of the end of the step only if the method's first stage is the same as its last; other
    stages need derivatives alone.
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
    """The stages that only the dense output of the last step needs; `t` is its start.

    `y` and the cache are overwritten: they are not those of the State. Returns 0 or 1 + the index of a failed
    block.
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
    """`compute_extra_stages` for the last step, unless that was done; see `cosim.contracts.method_layout`."""
    work = method.work
    if method.extra_stages == 0 or work.dense_ready != 0.0 or not work.start < math.inf:
        return 0
    status = compute_extra_stages(system, method, work.start)
    if status == 0:
        work.dense_ready = 1.0
    return status


complete_explicit_step = redo_entry(ExplicitMethod, complete_dense_output)
