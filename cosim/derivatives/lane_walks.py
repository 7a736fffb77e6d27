"""Steps, rows and updates that are computed along a group of directions at once.

In all functions `carrier` is a `carrier.Carrier`, the arrays of the tangents, and `run` the `Run` along which
they are carried. Each of these returns False where a block fails: its directions then go on one by one.
"""

from __future__ import annotations

from cosim.contracts.method_entries import by_address
from cosim.contracts.method_layout import DONE, WORK_HEADER, OdeSystem, StepWork
from cosim.derivatives.carrier import method_of, part_of, store_head
from cosim.derivatives.lane_groups import Lanes, collect, group_of, put_lane, spare_lanes
from cosim.step.block_calls import copy_reals
from cosim.walker import call_lane_redo, call_lane_tangent
from cosim_compiler.record import place_in

START, END = place_in(StepWork, "start"), place_in(StepWork, "end")


def step_in_lanes(run, carrier, first, last, end):
    """Take a step once more along a group of directions; False where a block fails."""
    group = group_of(carrier, first, last)
    lanes = group.lanes
    n = carrier.y.shape[0]
    start, slope = WORK_HEADER, WORK_HEADER + 3 * n  # as `MethodArrays` says
    put_lanes(lanes.t, lanes.work, START, group.width)
    put_lanes(lanes.t, lanes.work, END, group.width)
    put_lanes(lanes.y, lanes.work, start, group.width)
    put_lanes(lanes.c[: group.width * n], lanes.work, slope, group.width)
    is_last = first == carrier.plan.last_group
    address = carrier.plan.last_step_in_lanes if is_last else carrier.plan.step_in_lanes
    if not redo_lanes(run, carrier, group, address, end, carrier.y, carrier.c):
        return False
    collect(lanes.y, carrier.y_dots, group)
    return True


def put_lanes(numbers, lanes, place, width):
    """Copy lanes, `width` for each number, to a place among others."""
    copy_reals(numbers, lanes[width * place : width * place + numbers.shape[0]])


def complete_in_lanes(run, carrier, first, last):
    """Complete dense output along a group of directions; False where a block fails."""
    present = group_of(carrier, first, last)
    group = spare_lanes(carrier, present)
    copy_reals(present.lanes.t, group.lanes.t)
    copy_reals(present.lanes.y, group.lanes.y)
    copy_reals(carrier.y, carrier.spare_y)
    copy_reals(carrier.c, carrier.spare_c)
    is_last = first == carrier.plan.last_group
    address = carrier.plan.last_complete_in_lanes if is_last else carrier.plan.complete_in_lanes
    return redo_lanes(run, carrier, group, address, carrier.notes.time, carrier.spare_y, carrier.spare_c)


def redo_lanes(run, carrier, group, address, t, y, c):
    """Call the tangent of a function of the method along a group of directions; False where a block fails."""
    method = method_of(run, carrier)
    lanes = group.lanes
    used = Lanes(
        lanes.t,  # t
        lanes.y,  # y
        lanes.p,  # p
        lanes.d,  # d
        lanes.h,  # h
        lanes.c,  # c
        lanes.memory[: group.width * method.memory_numbers.shape[0]],  # memory
        lanes.work,  # work
    )
    rows = run.plan.derivatives
    system = OdeSystem(
        group.table, run.ints, rows.first, rows.last, y, carrier.p, carrier.d, group.k, group.h, c
    )
    if call_lane_redo(address, by_address(system, method, t) + used) != DONE:
        return False
    collect(lanes.work, carrier.work_dots, group)
    collect(lanes.memory, carrier.memory_dots, group)
    for i in range(group.first, group.last):
        store_head(carrier, i)
    return True


def realize_in_lanes(run, carrier, first, last):
    """Evaluate the present cache and its tangents along a group of directions; False where a block fails."""
    group = group_of(carrier, first, last)
    t = carrier.notes.time
    motion = run.plan.derivatives
    is_done = walk_lanes(run, carrier, group, run.plan.first_row, motion.first, t, carrier.y, carrier.c)
    if first == 0:
        flow = part_of(carrier.c_dots, 0, carrier.c)
        for slot in carrier.slots_before_motion:  # nothing flows there
            group.lanes.c[group.width * slot] = flow[slot]
    return is_done and renew_in_lanes(run, carrier, first, last)


def renew_in_lanes(run, carrier, first, last):
    """Evaluate the present motion and its tangents along a group of directions; False where a block fails."""
    group = group_of(carrier, first, last)
    if first == 0:
        put_lane(carrier.y_dots, group.lanes.y, 0, group.width)
    rows = run.plan.derivatives
    t = carrier.notes.time
    return walk_lanes(run, carrier, group, rows.first, rows.last, t, carrier.y, carrier.c)


def walk_lanes(run, carrier, group, first, last, t, y, c):
    """Walk blocks and their tangents in lanes; False where one fails."""
    table, lanes = group.table, group.lanes
    for row in range(first, last):
        status = call_lane_tangent(
            table[row, 0],
            t, y, carrier.p, carrier.d, group.k, group.h, c,
            run.ints, table[row, 1], table[row, 2],
            lanes.t, lanes.y, lanes.p, lanes.d, lanes.h, lanes.c,
        )  # fmt: skip
        if status != 0:
            return False
    return True
