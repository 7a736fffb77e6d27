"""Carrying tangents over updates of what is remembered: histories, and auto-update variables.

Each direction has histories of its own: the entries are those of the run, and beside each of their numbers
stands its tangent. That of the time says that an entry lies at a time that moves. Along the flow all is zero:
what is remembered is a function of the time, which does not change while time passes.
"""

from __future__ import annotations

import math

from cosim.component.history import ADDED, BEFORE, INSIDE, REFINED, history_at, margin
from cosim.derivatives.carrier import (
    NOT_FRESH,
    copy_cache_aside,
    own_part,
    part_of,
    past_of,
    walk_spare,
    walk_with,
)
from cosim.derivatives.lane_groups import (
    clear_flow_tangents,
    end_of_group,
    group_of,
    put_lane,
    spare_group,
    spare_lanes,
    spread,
)
from cosim.derivatives.lane_walks import walk_lanes
from cosim.derivatives.tangent_cache import realize_motion
from cosim.derivatives.tangent_lanes import leave_lanes, refuse_lanes
from cosim.derivatives.tangent_rows import interpolate_along
from cosim.run_data.records.handlers import IN_K
from cosim.step.block_calls import copy_reals
from cosim.step.histories import CLOSE, FIRST_PART, ROOM_FOR_REFINEMENT, SECOND_PART, SHORTEST, set_side
from cosim_compiler.calls import never_inlined


def load_swap_lane(run, carrier, group, i):
    """As `load_swaps`, into the spare cache and a lane."""
    d_dot = part_of(carrier.d_dots, i, carrier.d)
    for swap in run.swaps:
        is_whole = swap.array == IN_K
        carrier.spare_c[swap.update] = float(group.k[swap.offset]) if is_whole else carrier.d[swap.offset]
        place = group.width * swap.update + i - group.first
        group.lanes.c[place] = 0.0 if is_whole else d_dot[swap.offset]


def store_swap_lane(run, carrier, group, i):
    """As `store_swaps`, from the spare cache and a lane."""
    k = own_part(carrier, carrier.k, i)
    d_dot = part_of(carrier.d_dots, i, carrier.d)
    for swap in run.swaps:
        if swap.array == IN_K:
            k[swap.offset] = int(carrier.spare_c[swap.update])
            continue
        d_dot[swap.offset] = group.lanes.c[group.width * swap.update + i - group.first]
        if i == carrier.directions - 1:
            carrier.d[swap.offset] = carrier.spare_c[swap.update]


def history_of(run, carrier, i, number):
    """The history of a signal along a direction."""
    return history_at(own_part(carrier, carrier.h, i), own_part(carrier, carrier.k, i), run.rings[number])


def has_room(run, carrier, needed):
    """Whether each history has room for so many entries."""
    is_roomy = True
    for number in range(len(run.rings)):
        ring = history_of(run, carrier, past_of(carrier, 0), number).ring
        is_roomy = is_roomy and ring.capacity - ring.count >= needed
    carrier.notes.needs_room = 0.0 if is_roomy else 1.0
    return is_roomy


@never_inlined
def follow_memory(run, carrier, mark):
    """Append to histories, and update variables, at the present time."""
    realize_motion(run, carrier)
    if carrier.plan.stays_in_lanes == 0:
        leave_lanes(carrier)
    first = past_of(carrier, 0)
    while first < carrier.directions:
        first = update_next(run, carrier, first, mark)
    carrier.notes.freshness = NOT_FRESH


def update_next(run, carrier, first, mark):
    """Update what is remembered along a direction, and those that go along; the next direction."""
    last = end_of_group(carrier, first)
    if last > first + 1:
        if update_in_lanes(run, carrier, first, last, mark):
            return last
        refuse_lanes(carrier, first, last)
    copy_present(carrier, first)
    set_side(run, carrier.spare_c, mark.detail, mark.smoothness)
    rows = run.plan.end_updates
    update_along(run, carrier, first, rows, carrier.notes.time, carrier.spare_c, carrier.spare_c_dot)
    return first + 1


def update_in_lanes(run, carrier, first, last, mark):
    """Update what is remembered along a group of directions; False where a block fails."""
    group = copy_present_lanes(carrier, first, last)
    set_side(run, carrier.spare_c, mark.detail, mark.smoothness)
    for i in range(first, last):
        load_swap_lane(run, carrier, group, i)
    rows = run.plan.end_updates
    t = carrier.notes.time
    carrier.notes.past_in_lanes = 1.0
    if not walk_lanes(run, carrier, group, rows.first, rows.last, t, carrier.spare_y, carrier.spare_c):
        return False  # updates may be repeated: the same entries replace those that were made
    for i in range(first, last):
        store_swap_lane(run, carrier, group, i)
    spread(carrier.d_dots, group.lanes.d, group)
    return True


def copy_present_lanes(carrier, first, last):
    """Copy the present states and cache to the spare ones, and their tangents to spare lanes."""
    present = group_of(carrier, first, last)
    group = spare_lanes(carrier, present)
    copy_reals(present.lanes.t, group.lanes.t)
    copy_reals(present.lanes.y, group.lanes.y)
    clear_flow_tangents(group)
    copy_reals(carrier.y, carrier.spare_y)
    copy_reals(carrier.c, carrier.spare_c)
    return group


def copy_present(carrier, i):
    """Copy the present states and cache with their tangents to the spare ones."""
    copy_reals(carrier.y, carrier.spare_y)
    copy_reals(part_of(carrier.y_dots, i, carrier.y), carrier.spare_y_dot)
    copy_cache_aside(carrier, i)
    fix_along_flow(carrier, i, carrier.spare_c_dot)


def fix_along_flow(carrier, i, c_dot):
    """Take out the tangents of the spare states, and these of a cache, along the flow."""
    if i == 0:
        for m in range(carrier.spare_y_dot.shape[0]):
            carrier.spare_y_dot[m] = 0.0
        for m in range(c_dot.shape[0]):
            c_dot[m] = 0.0


def time_dot_of(carrier, i):
    """The tangent of the time of what is remembered."""
    return carrier.time_dots[i] if i > 0 else 0.0


def update_along(run, carrier, i, rows, t, c, c_dot):
    """Call updates along a direction, on the spare states; variables have new values after the last one."""
    load_swaps(run, carrier, i, c, c_dot)
    walk_with(
        run, carrier, i, rows.first, rows.last, t, time_dot_of(carrier, i),
        carrier.spare_y, carrier.spare_y_dot, c, c_dot,
    )  # fmt: skip
    store_swaps(run, carrier, i, c, c_dot)


def load_swaps(run, carrier, i, c, c_dot):
    """Fill what updates of variables change, in a cache, with the variables along direction `i`."""
    k = own_part(carrier, carrier.k, i)
    d_dot = part_of(carrier.d_dots, i, carrier.d)
    for swap in run.swaps:
        is_whole = swap.array == IN_K
        c[swap.update] = float(k[swap.offset]) if is_whole else carrier.d[swap.offset]
        c_dot[swap.update] = 0.0 if is_whole else d_dot[swap.offset]


def store_swaps(run, carrier, i, c, c_dot):
    """Make variables what updates along direction `i` have left in a cache; all directions read `d` first."""
    k = own_part(carrier, carrier.k, i)
    d_dot = part_of(carrier.d_dots, i, carrier.d)
    for swap in run.swaps:
        if swap.array == IN_K:
            k[swap.offset] = int(c[swap.update])
            continue
        d_dot[swap.offset] = c_dot[swap.update]
        if i == carrier.directions - 1:
            carrier.d[swap.offset] = c[swap.update]


@never_inlined
def remember_inside_along(run, carrier, start, now):
    """Append what lies inside the step that was just taken: points of its dense output, and needed ones."""
    has_inside = not run.plan.inside_updates.is_empty()
    has_between = not run.plan.between_updates.is_empty()
    if not (has_inside or has_between) or not start < now:
        return
    count = run.plan.points_inside if has_inside else 0
    first = past_of(carrier, 0)
    while first < carrier.directions:
        last = end_of_group(carrier, first)
        if last > first + 1:
            if refine_in_lanes(run, carrier, first, last, start, now):
                first = last
                continue
            refuse_lanes(carrier, first, last)
        remember_inside(run, carrier, first, count, start, now)
        first += 1


def remember_inside(run, carrier, i, count, start, now):
    """Append `count` points of dense output along a direction, and needed ones."""
    for j in range(count):
        compute_inside(run, carrier, i, j, start + (now - start) * (j + 1) / (count + 1))
    for number in range(len(run.rings)):
        history_of(run, carrier, i, number).forget_after(start)
    for j in range(count):
        append_inside(run, carrier, i, j, start + (now - start) * (j + 1) / (count + 1))
    if not run.plan.between_updates.is_empty():
        refine_along(run, carrier, i, start, now)


def compute_inside(run, carrier, i, j, t):
    """Evaluate a point inside a step along a direction."""
    rows = run.plan.derivatives
    c = part_of(carrier.inner_caches, j, carrier.c)
    c_dot = part_of(carrier.inner_dots, j, carrier.c)
    copy_reals(carrier.c, c)
    copy_reals(part_of(carrier.c_dots, i, carrier.c), c_dot)
    interpolate_along(run, carrier, i, t, carrier.time_dots[i])
    fix_along_flow(carrier, i, c_dot)
    walk_with(
        run, carrier, i, rows.first, rows.last, t, time_dot_of(carrier, i),
        carrier.spare_y, carrier.spare_y_dot, c, c_dot,
    )  # fmt: skip


def append_inside(run, carrier, i, j, t):
    """Append point `j` inside the step, at time `t`, to the histories along direction `i`."""
    c = part_of(carrier.inner_caches, j, carrier.c)
    c_dot = part_of(carrier.inner_dots, j, carrier.c)
    interpolate_along(run, carrier, i, t, carrier.time_dots[i])
    if i == 0:
        fix_along_flow(carrier, i, c_dot)
    set_side(run, c, INSIDE, math.inf)
    update_along(run, carrier, i, run.plan.inside_updates, t, c, c_dot)


def refine_along(run, carrier, i, start, now):
    """Add points between the ends of a step along a direction: as `histories.refine`, to its end."""
    rows = run.plan.between_updates
    copy_present(carrier, i)
    carrier.spare_c[run.plan.side] = BEFORE
    walk_spare(run, carrier, i, rows.first, rows.last, now, time_dot_of(carrier, i), carrier.spare_y_dot)
    refine(run, carrier, i, i + 1, start, now)


def refine_in_lanes(run, carrier, first, last, start, now):
    """Add points to histories inside a step along a group of directions; False where a block fails."""
    group = copy_present_lanes(carrier, first, last)
    carrier.notes.past_in_lanes = 1.0
    for number in range(len(run.rings)):
        history_of(run, carrier, first, number).forget_after(start)
    rows = run.plan.between_updates
    carrier.spare_c[run.plan.side] = BEFORE
    is_done = walk_lanes(run, carrier, group, rows.first, rows.last, now, carrier.spare_y, carrier.spare_c)
    return is_done and refine(run, carrier, first, last, start, now)


def refine(run, carrier, i, last, start, now):
    """Add points along direction `i`, and those before `last` that go along; False where a block fails."""
    for source in run.smoothness:
        carrier.spare_c[source.at] = CLOSE * run.method_settings.accuracy
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now:
        high = now
        for number in range(len(run.rings)):
            high = min(high, history_of(run, carrier, i, number).time_after(low))
        changed = add_point(run, carrier, i, last, low + FIRST_PART * (high - low))
        if changed == math.inf:
            changed = add_point(run, carrier, i, last, low + SECOND_PART * (high - low))
        if changed == -math.inf:
            return False
        added += 1 if changed < math.inf else 0
        is_done = high - low <= shortest or added > ROOM_FOR_REFINEMENT - 4
        low = high if is_done or changed == math.inf else max(start, changed)
    return True


def add_point(run, carrier, i, last, t):
    """Add a point inside a step to the histories that need one there; since when they differ, or infinity.

    Minus infinity where directions that go along, those before `last`, cannot share it.
    """
    if last == i + 1:
        evaluate_point(run, carrier, i, t)
    elif not evaluate_point_in_lanes(run, carrier, i, last, t):
        return -math.inf
    return added_since(run, carrier, i, t)


def evaluate_point_in_lanes(run, carrier, first, last, t):
    """Evaluate a point inside a step along a group of directions, with its updates; False where one fails."""
    group = spare_group(carrier, first, last)
    for lane in range(group.width):
        if first + lane < last:
            interpolate_along(run, carrier, first + lane, t, carrier.time_dots[first + lane])
        put_lane(carrier.spare_y_dot, group.lanes.y, lane, group.width)
    clear_flow_tangents(group)
    carrier.spare_c[run.plan.side] = REFINED
    motion, rows = run.plan.derivatives, run.plan.between_updates
    is_done = walk_lanes(run, carrier, group, motion.first, motion.last, t, carrier.spare_y, carrier.spare_c)
    return is_done and walk_lanes(
        run, carrier, group, rows.first, rows.last, t, carrier.spare_y, carrier.spare_c
    )


def evaluate_point(run, carrier, i, t):
    """The same along one direction."""
    derivatives = run.plan.derivatives
    rows = run.plan.between_updates
    interpolate_along(run, carrier, i, t, carrier.time_dots[i])
    fix_along_flow(carrier, i, carrier.spare_c_dot)
    carrier.spare_c[run.plan.side] = REFINED
    t_dot = time_dot_of(carrier, i)
    walk_spare(run, carrier, i, derivatives.first, derivatives.last, t, t_dot, carrier.spare_y_dot)
    walk_spare(run, carrier, i, rows.first, rows.last, t, t_dot, carrier.spare_y_dot)


def added_since(run, carrier, i, t):
    """Since when histories differ to which a point was added at `t`, or infinity; no point counts twice."""
    changed = math.inf
    for number in range(len(run.rings)):
        history = history_of(run, carrier, i, number)
        if history.ring.flags & ADDED != 0:
            changed = min(changed, min(t, history.piece_start(t)))
        history.ring.flags = 0
    return changed
