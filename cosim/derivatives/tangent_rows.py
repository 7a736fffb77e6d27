"""Tangents of what a run records, at fixed times."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import DONE
from cosim.derivatives.carrier import (
    FAILED,
    call_followed,
    copy_cache_aside,
    load_head,
    lose,
    method_of,
    own_part,
    part_of,
    past_of,
    store_head,
    walk_along,
    walk_motion,
    walk_spare,
)
from cosim.derivatives.lane_groups import end_of_group, group_of, put_lane, spare_lanes, spread_discrete
from cosim.derivatives.lane_walks import complete_in_lanes, walk_lanes
from cosim.derivatives.tangent_cache import realize_motion
from cosim.derivatives.tangent_lanes import leave_lanes, refuse_lanes
from cosim.run_data.records.handlers import IN_C, IN_D, IN_K, IN_P, IN_Y
from cosim.step.block_calls import copy_reals
from cosim.walker import call_dense_tangent
from cosim_compiler.calls import never_inlined


@never_inlined
def write_rows(run, carrier, row):
    """Write the tangents of the recorded values, at a fixed time; `row` is the mark of a row on the tape."""
    if row.detail == 0.0:
        write_present_row(run, carrier, row.time)
        return
    exchange_swapped_along(run, carrier)  # inside a step they are what the step had
    if carrier.notes.is_complete == 0.0 and carrier.notes.lost == 0.0:
        complete_tangent_step(run, carrier)
    first = 0
    while first < carrier.directions:
        first = write_next_inside(run, carrier, first, row.time)
    exchange_swapped_along(run, carrier)


def write_next_inside(run, carrier, first, t):
    """Write a row inside the last step along a direction, and those that go along; the next direction."""
    has_computed = records_computed(run)
    last = end_of_group(carrier, first)
    is_group = last > first + 1 and has_computed
    if is_group and carrier.notes.lost == 0.0:
        if interpolate_in_lanes(run, carrier, first, last, t):
            return last
        refuse_lanes(carrier, first, last)
    if first > 0:
        if carrier.notes.lost == 0.0:
            interpolate_row(run, carrier, first, t, has_computed)
        write_tangents(run, carrier, first)
    return first + 1


def write_present_row(run, carrier, t):
    """Write the tangents of the recorded values of the present, which is `t`."""
    realize_motion(run, carrier)
    moves = False
    for i in range(1, carrier.directions):
        moves = moves or carrier.time_dots[i] != 0.0
    if moves or carrier.plan.stays_in_lanes == 0:
        leave_lanes(carrier)
    first = 0
    while first < carrier.directions:
        first = write_next_present(run, carrier, first, t)


def write_next_present(run, carrier, first, t):
    """Write a row of the present along a direction, and those that go along; the next direction."""
    has_computed = records_computed(run)
    last = end_of_group(carrier, first)
    is_group = last > first + 1 and has_computed
    if is_group and carrier.notes.lost == 0.0:
        if evaluate_in_lanes(run, carrier, first, last, t):
            return last
        refuse_lanes(carrier, first, last)
    if first > 0:
        if carrier.notes.lost == 0.0:
            evaluate_row(run, carrier, first, t, has_computed)
        write_tangents(run, carrier, first)
    return first + 1


def records_computed(run):
    """Whether some of the recorded values are computed."""
    reads_cache = False
    for value in run.chosen_values:
        reads_cache = reads_cache or value.array == IN_C
    return reads_cache


def save_swapped_along(run, carrier):
    """Keep the auto-update variables as they are during the step that begins, and their tangents."""
    count = len(run.swaps)
    for j in range(count):
        swap = run.swaps[j]
        for i in range(carrier.directions):
            carrier.swaps[i * count + j] = swapped_along(carrier, swap, i)


def exchange_swapped_along(run, carrier):
    """Exchange them with what `save_swapped_along` has kept; twice leaves them as they were."""
    count = len(run.swaps)
    for j in range(count):
        swap = run.swaps[j]
        for i in range(carrier.directions):
            kept = carrier.swaps[i * count + j]
            carrier.swaps[i * count + j] = swapped_along(carrier, swap, i)
            if swap.array == IN_K:
                own_part(carrier, carrier.k, i)[swap.offset] = int(kept)
            elif i == 0:
                carrier.d[swap.offset] = kept
            else:
                part_of(carrier.d_dots, i, carrier.d)[swap.offset] = kept
    if count > 0:
        spread_discrete(carrier)


def swapped_along(carrier, swap, i):
    """The tangent of an auto-update variable along a direction; of the first one, the flow, its value."""
    if swap.array == IN_K:
        return float(own_part(carrier, carrier.k, i)[swap.offset])
    return carrier.d[swap.offset] if i == 0 else part_of(carrier.d_dots, i, carrier.d)[swap.offset]


def write_tangents(run, carrier, i):
    """Write the tangents of the recorded values along a direction, from the spare arrays."""
    write_numbers(run, carrier, i, carrier.spare_y_dot, carrier.spare_c_dot, 1, 0)


def write_numbers(run, carrier, i, y_dot, c_dot, width, place):
    """The same, of states and cache at a place among so many numbers that stand for each."""
    at = int(carrier.notes.rows_used)
    for value in run.chosen_values:
        number = math.nan
        if carrier.notes.lost == 0.0:
            number = 0.0
            if value.array == IN_Y:
                number = y_dot[width * value.offset + place]
            elif value.array == IN_P:
                number = part_of(carrier.p_dots, i, carrier.p)[value.offset]
            elif value.array == IN_D:
                number = part_of(carrier.d_dots, i, carrier.d)[value.offset]
            elif value.array == IN_C:
                number = c_dot[width * value.offset + place]
        carrier.rows[at] = number
        at += 1
    carrier.notes.rows_used = float(at)


def evaluate_in_lanes(run, carrier, first, last, t):
    """Write a row of the present along directions whose time does not move; False where a block fails."""
    present = group_of(carrier, first, last)
    group = spare_lanes(carrier, present)
    copy_reals(present.lanes.t, group.lanes.t)
    copy_reals(present.lanes.y, group.lanes.y)
    for block in run.blocks_outside:
        if not walk_lanes(run, carrier, group, block, block + 1, t, carrier.y, carrier.c):
            return False
    write_lanes(run, carrier, group)
    return True


def interpolate_in_lanes(run, carrier, first, last, t):
    """Write a row inside the last step along a group of directions; False where a block fails."""
    group = spare_lanes(carrier, group_of(carrier, first, last))
    begin = max(first, 1)  # the lane of the flow is not read
    for lane in range(group.width):
        i = max(first + lane, begin)
        if i < last and (lane == 0 or i > begin):
            interpolate_along(run, carrier, i, t, 0.0)
        put_lane(carrier.spare_y_dot, group.lanes.y, lane, group.width)
        group.lanes.t[lane] = 0.0
    copy_reals(carrier.c, carrier.spare_c)
    for block in run.blocks_inside:
        if not walk_lanes(run, carrier, group, block, block + 1, t, carrier.spare_y, carrier.spare_c):
            return False
    write_lanes(run, carrier, group)
    return True


def write_lanes(run, carrier, group):
    """Write the tangents of the recorded values along a group of directions, but for the flow."""
    for i in range(max(group.first, 1), group.last):
        write_numbers(run, carrier, i, group.lanes.y, group.lanes.c, group.width, i - group.first)


def evaluate_row(run, carrier, i, t, has_computed):
    """The tangents of the present, at a fixed time, into the spare arrays."""
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    time_dot = carrier.time_dots[i]
    for m in range(y_dot.shape[0]):
        carrier.spare_y_dot[m] = y_dot[m] - carrier.c[m] * time_dot
    if not has_computed:
        return
    for m in range(c_dot.shape[0]):
        carrier.spare_c_dot[m] = c_dot[m]
    if time_dot != 0.0:
        walk_motion(run, carrier, i, t, 0.0, carrier.y, carrier.spare_y_dot, carrier.c, carrier.spare_c_dot)
    for block in run.blocks_outside:
        walk_along(run, carrier, i, block, block + 1, t, 0.0, carrier.spare_y_dot, carrier.spare_c_dot)


def interpolate_row(run, carrier, i, t, has_computed):
    """The tangents at a time inside the last step, into the spare arrays."""
    interpolate_along(run, carrier, i, t, 0.0)
    if not has_computed:
        return
    copy_cache_aside(carrier, i)
    for block in run.blocks_inside:
        walk_spare(run, carrier, i, block, block + 1, t, 0.0, carrier.spare_y_dot)


def interpolate_along(run, carrier, i, t, t_dot):
    """The states at a time inside the last step, which may move, and their tangents: the spare ones."""
    if carrier.notes.is_complete == 0.0:
        complete_tangent_step(run, carrier)
    load_head(carrier, i)
    call_dense_along(run, carrier, i, t, t_dot)
    store_head(carrier, i)


def call_dense_along(run, carrier, i, t, t_dot):
    """Call the tangent of dense output along a direction."""
    call_dense_tangent(
        carrier.plan.dense,
        (
            t, method_of(run, carrier).coefficients, carrier.work, carrier.spare_y, carrier.spare_y,
            t_dot, part_of(carrier.work_dots, i, carrier.work), carrier.spare_y_dot, carrier.spare_y_dot,
        ),
    )  # fmt: skip


def complete_tangent_step(run, carrier):
    """Complete what dense output needs of the last step, with its tangents.

    Its first call in a step may change what the step has left: each direction begins with the same numbers.
    """
    begin = past_of(carrier, 0) if len(run.rings) > 0 else 1
    copy_reals(carrier.work, carrier.spare_work)
    group_end = 0
    for i in range(carrier.directions):
        if i >= group_end:
            copy_reals(carrier.spare_work, carrier.work)
            group_end = complete_group(run, carrier, i)
        if i < begin:
            continue
        if i >= group_end:
            copy_reals(carrier.spare_work, carrier.work)
        load_head(carrier, i)
        if run.plan.method.complete != 0 and i >= group_end:
            copy_reals(carrier.y, carrier.spare_y)
            copy_reals(part_of(carrier.y_dots, i, carrier.y), carrier.spare_y_dot)
            copy_cache_aside(carrier, i)
            code = call_followed(
                run, carrier, i, carrier.plan.complete, carrier.notes.time,
                carrier.spare_y, carrier.spare_y_dot, carrier.spare_c, carrier.spare_c_dot,
            )  # fmt: skip
            if code != DONE:
                lose(carrier, carrier.notes.time, FAILED, 0)
        work = method_of(run, carrier).work
        call_dense_along(run, carrier, i, 0.5 * (work.start + work.end), 0.0)
        store_head(carrier, i)
    carrier.notes.is_complete = 1.0


def complete_group(run, carrier, first):
    """Complete the last step along directions that go along with one; the one behind them, or that one."""
    last = end_of_group(carrier, first)
    if last == first + 1 or run.plan.method.complete == 0:
        return first
    load_head(carrier, first)
    if complete_in_lanes(run, carrier, first, last):
        return last
    refuse_lanes(carrier, first, last)
    return first
