"""Tangents along several directions side by side, in the lanes of a processor's vectors.

In all functions `carrier` is a `carrier.Carrier`, the arrays of the tangents, and `run` the `Run` along which
they are carried.

Directions go in groups. Each lane computes what its direction computes alone, to the last bit; values are
computed once for the group. Where what is done next depends on tangents, and lanes disagree, the directions
of the group go on one by one.

While `notes.in_lanes` is set, the lanes of each group hold its tangents. Those of the cache are nowhere else;
what is remembered lies in the first direction and in lanes alone, if `notes.past_in_lanes` is set.
`leave_lanes` writes all that to the directions: before anything that reads single ones.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.contracts.method_entries import by_address
from cosim.contracts.method_layout import DONE, WORK_HEADER, OdeSystem, StepWork
from cosim.derivatives.carrier import HELD, method_of, own_part, part_of, store_head
from cosim.run_data.run import Integers, Reals
from cosim.step.block_calls import copy_reals, different
from cosim.walker import call_lane_redo, call_lane_tangent, walk
from cosim_compiler.language.types import COUNT
from cosim_compiler.record import place_in

START, END = place_in(StepWork, "start"), place_in(StepWork, "end")
assert COUNT == 4, "`spread` fills four lanes"
FEWEST = 2
"""Directions that are worth a group of lanes."""
FEWEST_CALM = 1.0
"""Steps without an event after which filling lanes is worth it: the next event may be as far."""


class Lanes(NamedTuple):
    """Tangents of a group of directions: of each number COUNT of them, one for each lane."""

    t: Reals
    y: Reals
    p: Reals
    d: Reals
    h: Reals
    c: Reals
    memory: Reals  # of the method, as the next
    work: Reals


class Group(NamedTuple):
    """The directions from `first` to the one before `last`, their lanes, and what they remember."""

    first: int
    last: int
    lanes: Lanes
    k: Integers
    h: Reals


# groups


def size_of_lanes(arrays, history):
    """Numbers in the lanes of all groups and in spare ones, by the arrays of a carrier and its histories."""
    size = sum(arrays[name].size for name in ("y", "p", "d", "c", "memory", "work"))
    groups = -(-arrays["time_dots"].size // COUNT)
    spare = COUNT * (1 + arrays["y"].size + arrays["c"].size)
    return spare + groups * COUNT * (1 + size + history)


def end_of_group(carrier, first):
    """The direction behind those that are in lanes together with one; only itself if it goes alone."""
    return end_of_lanes(carrier, first) if carrier.notes.in_lanes != 0.0 else first + 1


def end_of_lanes(carrier, first):
    """The direction behind those that may be in lanes together with one; only itself if it goes alone."""
    last = min(first + COUNT, carrier.directions)
    return last if last - first >= FEWEST and carrier.refused_lanes[first] == 0.0 else first + 1


def group_of(carrier, first, last):
    """A group of directions, with its lanes."""
    k, h = own_part(carrier, carrier.k, first), own_part(carrier, carrier.h, first)
    n, size = carrier.y.shape[0], carrier.c.shape[0]
    at_t = COUNT * (1 + n + size)  # behind the spare ones
    numbers = 1 + n + carrier.p.shape[0] + carrier.d.shape[0] + size
    numbers += carrier.memory.shape[0] + carrier.work.shape[0] + h.shape[0]
    at_t += first // COUNT * COUNT * numbers
    at_y = at_t + COUNT
    at_p = at_y + COUNT * n
    at_d = at_p + COUNT * carrier.p.shape[0]
    at_c = at_d + COUNT * carrier.d.shape[0]
    at_memory = at_c + COUNT * size
    at_work = at_memory + COUNT * carrier.memory.shape[0]
    at_h = at_work + COUNT * carrier.work.shape[0]
    lanes = carrier.lanes
    rooms = Lanes(
        lanes[at_t:at_y],  # t
        lanes[at_y:at_p],  # y
        lanes[at_p:at_d],  # p
        lanes[at_d:at_c],  # d
        lanes[at_h : at_h + COUNT * h.shape[0]],  # h
        lanes[at_c:at_memory],  # c
        lanes[at_memory:at_work],  # memory
        lanes[at_work:at_h],  # work
    )
    return Group(first, last, rooms, k, h)


def spare_group(carrier, first, last):
    """A group of directions whose time, states and cache are spare lanes."""
    group = group_of(carrier, first, last)
    at_c = COUNT * (1 + carrier.y.shape[0])
    spare = carrier.lanes
    lanes = group.lanes
    rooms = Lanes(
        spare[:COUNT],  # t
        spare[COUNT:at_c],  # y
        lanes.p,  # p
        lanes.d,  # d
        lanes.h,  # h
        spare[at_c : at_c + COUNT * carrier.c.shape[0]],  # c
        lanes.memory,  # memory
        lanes.work,  # work
    )
    return Group(first, last, rooms, group.k, group.h)


def spare_lanes(carrier, group):
    """A group of directions as of `spare_group`, whose cache has the present tangents."""
    spare = spare_group(carrier, group.first, group.last)
    copy_reals(group.lanes.c, spare.lanes.c)
    return spare


def refuse_lanes(carrier, first, last):
    """Have directions go one by one from now on, as their lanes have disagreed."""
    if carrier.notes.in_lanes != 0.0:
        leave_group(carrier, first, last)
    for i in range(first, last):
        carrier.refused_lanes[i] = 1.0


# entering and leaving lanes


def enter_lanes(carrier):
    """Fill the lanes of all groups with the tangents of their directions, unless an event has just been."""
    notes = carrier.notes
    has_lanes = carrier.plan.step_in_lanes != 0 and notes.is_held != HELD
    if notes.in_lanes != 0.0 or notes.calm_steps < FEWEST_CALM or not has_lanes:
        return
    first = 0
    while first < carrier.directions:
        last = end_of_lanes(carrier, first)
        if last > first + 1 and not fill_lanes(carrier, group_of(carrier, first, last)):
            refuse_lanes(carrier, first, last)
        first = last
    notes.in_lanes = 1.0


def leave_lanes(carrier):
    """Write what lanes alone have had to their directions: tangents of the cache, and what is remembered."""
    if carrier.notes.in_lanes == 0.0:
        return
    first = 0
    while first < carrier.directions:
        last = end_of_group(carrier, first)
        if last > first + 1:
            leave_group(carrier, first, last)
        first = last
    carrier.notes.in_lanes = 0.0
    carrier.notes.past_in_lanes = 0.0


def leave_group(carrier, first, last):
    """Write what lanes alone have to the directions of one group."""
    group = group_of(carrier, first, last)
    collect(group.lanes.c, carrier.c_dots, group)
    if carrier.notes.past_in_lanes == 0.0:
        return
    for i in range(first + 1, last):
        k, h = own_part(carrier, carrier.k, i), own_part(carrier, carrier.h, i)
        for m in range(k.shape[0]):
            k[m] = group.k[m]
        copy_reals(group.h, h)
    collect(group.lanes.h, carrier.h_dots, group)


def fill_lanes(carrier, group):
    """Fill the lanes of a group; False where its directions remember other values than each other."""
    for i in range(group.first + 1, group.last):
        other_k, other_h = own_part(carrier, carrier.k, i), own_part(carrier, carrier.h, i)
        for m in range(group.k.shape[0]):
            if group.k[m] != other_k[m]:
                return False
        for m in range(group.h.shape[0]):
            if different(group.h[m], other_h[m]):
                return False
    lanes = group.lanes
    spread(carrier.time_dots, lanes.t, group)
    spread(carrier.y_dots, lanes.y, group)
    spread(carrier.p_dots, lanes.p, group)
    spread(carrier.d_dots, lanes.d, group)
    spread(carrier.h_dots, lanes.h, group)
    spread(carrier.c_dots, lanes.c, group)
    spread(carrier.memory_dots, lanes.memory, group)
    spread(carrier.work_dots, lanes.work, group)
    return True


def spread(dots, lanes, group):
    """Fill the COUNT lanes, which are four, with tangents of directions; spare lanes repeat the last one."""
    size = lanes.shape[0] // COUNT
    first, end = group.first, group.last - 1
    zero, one = dots[first * size :], dots[min(first + 1, end) * size :]
    two, three = dots[min(first + 2, end) * size :], dots[min(first + 3, end) * size :]
    for m in range(size):
        lanes[COUNT * m] = zero[m]
        lanes[COUNT * m + 1] = one[m]
        lanes[COUNT * m + 2] = two[m]
        lanes[COUNT * m + 3] = three[m]


def spread_discrete(carrier):
    """Fill the lanes of discrete variables again, as they have changed."""
    first = 0
    while first < carrier.directions:
        last = end_of_group(carrier, first)
        if last > first + 1:
            group = group_of(carrier, first, last)
            spread(carrier.d_dots, group.lanes.d, group)
        first = last


def collect(lanes, dots, group):
    """Copy lanes to their directions."""
    size = lanes.shape[0] // COUNT
    for i in range(group.first, group.last):
        take_lane(lanes, i - group.first, dots[i * size : (i + 1) * size])


def take_lane(lanes, lane, numbers):
    """Copy as many numbers of one lane as there is room for."""
    for m in range(numbers.shape[0]):
        numbers[m] = lanes[COUNT * m + lane]


def put_lane(numbers, lanes, lane):
    """Fill one lane."""
    for m in range(lanes.shape[0] // COUNT):
        lanes[COUNT * m + lane] = numbers[m]


def clear_lane(lanes, lane):
    """Fill one lane with zeros."""
    for m in range(lanes.shape[0] // COUNT):
        lanes[COUNT * m + lane] = 0.0


def cache_dot(carrier, i, slot):
    """The tangent of a slot of the cache along a direction, wherever it lies."""
    first = i // COUNT * COUNT
    last = end_of_group(carrier, first)
    if last > first + 1:
        return group_of(carrier, first, last).lanes.c[COUNT * slot + i - first]
    return part_of(carrier.c_dots, i, carrier.c)[slot]


# the flow, which is the first direction


def take_flow(carrier):
    """Copy the tangents of the derivatives along the flow from its lane."""
    last = end_of_group(carrier, 0)
    if last > 1:
        flow = part_of(carrier.c_dots, 0, carrier.c)
        take_lane(group_of(carrier, 0, last).lanes.c, 0, flow[: carrier.y.shape[0]])


def load_flow(carrier):
    """Make the first direction the flow of the present states: their derivatives."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    copy_reals(carrier.c[: flow.shape[0]], flow)


def clear_flow_tangents(group):
    """Set the tangents of time, states and cache in the lane of the flow to 0; those of histories stay."""
    if group.first == 0:
        lanes = group.lanes
        lanes.t[0] = 0.0
        clear_lane(lanes.y, 0)
        clear_lane(lanes.c, 0)


# what is computed in lanes


def step_in_lanes(run, carrier, first, last, end):
    """Take a step once more along a group of directions; False where a block fails."""
    group = group_of(carrier, first, last)
    lanes = group.lanes
    n = carrier.y.shape[0]
    start, slope = WORK_HEADER, WORK_HEADER + 3 * n  # as `MethodArrays` says
    put_lanes(lanes.t, lanes.work, START)
    put_lanes(lanes.t, lanes.work, END)
    put_lanes(lanes.y, lanes.work, start)
    put_lanes(lanes.c[: COUNT * n], lanes.work, slope)
    address = carrier.plan.step_in_lanes
    if not redo_lanes(run, carrier, group, address, end, carrier.y, carrier.c):
        return False
    collect(lanes.y, carrier.y_dots, group)
    return True


def put_lanes(numbers, lanes, place):
    """Copy lanes to a place among others."""
    copy_reals(numbers, lanes[COUNT * place : COUNT * place + numbers.shape[0]])


def complete_in_lanes(run, carrier, first, last):
    """Complete dense output along a group of directions; False where a block fails."""
    present = group_of(carrier, first, last)
    group = spare_lanes(carrier, present)
    copy_reals(present.lanes.t, group.lanes.t)
    copy_reals(present.lanes.y, group.lanes.y)
    copy_reals(carrier.y, carrier.spare_y)
    copy_reals(carrier.c, carrier.spare_c)
    address = carrier.plan.complete_in_lanes
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
        lanes.memory[: COUNT * method.memory_numbers.shape[0]],  # memory
        lanes.work,  # work
    )
    rows = run.plan.derivatives
    system = OdeSystem(
        carrier.lane_table, run.ints, rows.first, rows.last, y, carrier.p, carrier.d, group.k, group.h, c
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
            group.lanes.c[COUNT * slot] = flow[slot]
        status = walk(
            run.table, run.ints, motion.first, motion.last, t,
            carrier.y, carrier.p, carrier.d, group.k, group.h, carrier.c,
        )  # fmt: skip
        is_done = is_done and status == 0
        load_flow(carrier)
    return is_done and renew_in_lanes(run, carrier, first, last)


def renew_in_lanes(run, carrier, first, last):
    """Evaluate the present motion and its tangents along a group of directions; False where a block fails."""
    group = group_of(carrier, first, last)
    if first == 0:
        put_lane(carrier.y_dots, group.lanes.y, 0)
    rows = run.plan.derivatives
    t = carrier.notes.time
    return walk_lanes(run, carrier, group, rows.first, rows.last, t, carrier.y, carrier.c)


def walk_lanes(run, carrier, group, first, last, t, y, c):
    """Walk blocks and their tangents in lanes; False where one fails."""
    table, lanes = carrier.lane_table, group.lanes
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
