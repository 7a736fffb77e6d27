"""Tangents along several directions side by side, in the lanes of a processor's vectors.

In all functions `carrier` is a `carrier.Carrier`, the arrays of the tangents.

Directions go in groups. Each lane computes what its direction computes alone, to the last bit; values are
computed once for the group. Where what is done next depends on tangents, and lanes disagree, the directions
of the group go on one by one.

While `notes.in_lanes` is set, the lanes of each group hold its tangents. Those of the cache are nowhere else;
what is remembered lies in the first direction and in lanes alone, if `notes.past_in_lanes` is set.
`leave_lanes` writes all that to the directions: before anything that reads single ones.
"""

from __future__ import annotations

from cosim.derivatives.carrier import HELD, own_part
from cosim.derivatives.lane_groups import collect, end_of_group, end_of_lanes, group_of, spread
from cosim.step.block_calls import copy_reals, different

FEWEST_CALM = 1.0
"""Steps without an event after which filling lanes is worth it: the next event may be as far."""


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


def refuse_lanes(carrier, first, last):
    """Have directions go one by one from now on, as their lanes have disagreed."""
    if carrier.notes.in_lanes != 0.0:
        leave_group(carrier, first, last)
    for i in range(first, last):
        carrier.refused_lanes[i] = 1.0
