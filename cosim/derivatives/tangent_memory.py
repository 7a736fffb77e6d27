"""Carrying tangents over updates of what is remembered: histories, and auto-update variables.

Each direction has histories of its own: the entries are those of the run, and beside each of their numbers
stands its tangent. That of the time says that an entry lies at a time that moves. Along the flow all is zero:
what is remembered is a function of the time, which does not change while time passes.
"""

from __future__ import annotations

import math

from cosim.component.history import ADDED, BEFORE, INSIDE, REFINED, history_at, margin
from cosim.derivatives.carrier import (
    IS_MOTION,
    NOT_FRESH,
    copy_cache_aside,
    own_part,
    part_of,
    realize_tangents,
    walk_spare,
    walk_with,
)
from cosim.derivatives.tangent_rows import interpolate_along
from cosim.run_data.records.handlers import IN_K
from cosim.step.histories import CLOSE, FIRST_PART, ROOM_FOR_REFINEMENT, SECOND_PART, SHORTEST, set_side
from cosim.step.saved_variables import copy_reals


def history_of(run, carrier, i, number):
    """The history of a signal along a direction."""
    return history_at(own_part(carrier, carrier.h, i), own_part(carrier, carrier.k, i), run.rings[number])


def has_room(run, carrier, needed):
    """Whether each history has room for so many entries."""
    is_roomy = True
    for number in range(len(run.rings)):
        ring = history_of(run, carrier, 0, number).ring
        is_roomy = is_roomy and ring.capacity - ring.count >= needed
    carrier.notes.needs_room = 0.0 if is_roomy else 1.0
    return is_roomy


def follow_memory(run, carrier, mark):
    """Append to histories, and update variables, at the present time."""
    realize_tangents(run, carrier, IS_MOTION)
    for i in range(carrier.directions):
        copy_present(carrier, i)
        set_side(run, carrier.spare_c, mark.detail, mark.smoothness)
        rows = run.plan.end_updates
        update_along(run, carrier, i, rows, carrier.notes.time, carrier.spare_c, carrier.spare_c_dot)
    carrier.notes.freshness = NOT_FRESH


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


def remember_inside_along(run, carrier, start, now):
    """Append what lies inside the step that was just taken: points of its dense output, and needed ones."""
    has_inside = not run.plan.inside_updates.is_empty()
    has_between = not run.plan.between_updates.is_empty()
    if not (has_inside or has_between) or not start < now:
        return
    count = run.plan.points_inside if has_inside else 0
    for i in range(carrier.directions):
        for j in range(count):
            compute_inside(run, carrier, i, j, start + (now - start) * (j + 1) / (count + 1))
        for number in range(len(run.rings)):
            history_of(run, carrier, i, number).forget_after(start)
        for j in range(count):
            append_inside(run, carrier, i, j, start + (now - start) * (j + 1) / (count + 1))
        if has_between:
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
    for source in run.smoothness:
        carrier.spare_c[source.at] = CLOSE * run.method_settings.accuracy
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now:
        high = now
        for number in range(len(run.rings)):
            high = min(high, history_of(run, carrier, i, number).time_after(low))
        changed = add_point(run, carrier, i, low + FIRST_PART * (high - low))
        if changed == math.inf:
            changed = add_point(run, carrier, i, low + SECOND_PART * (high - low))
        added += 1 if changed < math.inf else 0
        is_done = high - low <= shortest or added > ROOM_FOR_REFINEMENT - 4
        low = high if is_done or changed == math.inf else max(start, changed)


def add_point(run, carrier, i, t):
    """Add a point inside a step to the histories that need one there; since when they differ, or infinity."""
    derivatives = run.plan.derivatives
    rows = run.plan.between_updates
    interpolate_along(run, carrier, i, t, carrier.time_dots[i])
    fix_along_flow(carrier, i, carrier.spare_c_dot)
    carrier.spare_c[run.plan.side] = REFINED
    t_dot = time_dot_of(carrier, i)
    walk_spare(run, carrier, i, derivatives.first, derivatives.last, t, t_dot, carrier.spare_y_dot)
    walk_spare(run, carrier, i, rows.first, rows.last, t, t_dot, carrier.spare_y_dot)
    return added_since(run, carrier, i, t)


def added_since(run, carrier, i, t):
    """Since when histories differ to which a point was added at `t`, or infinity; no point counts twice."""
    changed = math.inf
    for number in range(len(run.rings)):
        history = history_of(run, carrier, i, number)
        if history.ring.flags & ADDED != 0:
            changed = min(changed, min(t, history.piece_start(t)))
        history.ring.flags = 0
    return changed
