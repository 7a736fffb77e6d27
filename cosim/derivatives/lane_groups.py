"""Groups of directions whose tangents lie side by side, and where they lie.

In all functions `carrier` is a `carrier.Carrier`, the arrays of the tangents. ``carrier.lanes`` begins with
spare lanes for time, states and cache; then come the lanes of each group.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

from cosim.derivatives.carrier import own_part, part_of
from cosim.run_data.run import Integers, Reals
from cosim.step.block_calls import copy_reals
from cosim_compiler.array_groups import Table

FEWEST = 2
"""Directions that are worth a group of lanes."""


class Lanes(NamedTuple):
    """Tangents of a group of directions: of each number one for each lane, side by side."""

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
    width: int  # how many lanes it has
    table: Table  # of tangents in so many lanes


def size_of_lanes(arrays, history, width):
    """Numbers in all groups of at most `width` lanes, and spare ones, by a carrier's arrays and histories."""
    carrier = SimpleNamespace(**arrays)
    groups = -(-carrier.time_dots.size // width)
    return width * (size_of_spare(carrier) + groups * size_of_group(carrier, history))


def size_of_spare(carrier):
    """How many numbers have spare lanes."""
    return 1 + carrier.y.shape[0] + carrier.c.shape[0]


def size_of_group(carrier, history):
    """How many numbers have lanes of a group."""
    size = 1 + history
    for numbers in (carrier.y, carrier.p, carrier.d, carrier.c, carrier.memory, carrier.work):
        size += numbers.shape[0]
    return size


def end_of_group(carrier, first):
    """The direction behind those that are in lanes together with one; only itself if it goes alone."""
    return end_of_lanes(carrier, first) if carrier.notes.in_lanes != 0.0 else first + 1


def end_of_lanes(carrier, first):
    """The direction behind those that may be in lanes together with one; only itself if it goes alone."""
    if first < carrier.plan.first_direction:
        return first + 1
    last = min(first + carrier.plan.lanes, carrier.directions)
    return last if last - first >= FEWEST and carrier.refused_lanes[first] == 0.0 else first + 1


def group_of(carrier, first, last):
    """A group of directions, with its lanes."""
    k, h = own_part(carrier, carrier.k, first), own_part(carrier, carrier.h, first)
    width = carrier.plan.lanes
    before = first - carrier.plan.first_direction
    at = width * size_of_spare(carrier) + before * size_of_group(carrier, h.shape[0])
    table = carrier.lane_table
    if first == carrier.plan.last_group:
        width = carrier.plan.last_lanes
        table = carrier.last_lane_table
    t, at = next_lanes(carrier, at, width)
    y, at = next_lanes(carrier, at, width * carrier.y.shape[0])
    p, at = next_lanes(carrier, at, width * carrier.p.shape[0])
    d, at = next_lanes(carrier, at, width * carrier.d.shape[0])
    c, at = next_lanes(carrier, at, width * carrier.c.shape[0])
    memory, at = next_lanes(carrier, at, width * carrier.memory.shape[0])
    work, at = next_lanes(carrier, at, width * carrier.work.shape[0])
    past, _ = next_lanes(carrier, at, width * h.shape[0])
    return Group(first, last, Lanes(t, y, p, d, past, c, memory, work), k, h, width, table)


def next_lanes(carrier, at, size):
    """So many reals of lanes from a place on, and the place behind them."""
    end = at + size
    return carrier.lanes[at:end], end


def spare_group(carrier, first, last):
    """A group of directions whose time, states and cache are spare lanes."""
    group = group_of(carrier, first, last)
    t, at = next_lanes(carrier, 0, group.width)
    y, at = next_lanes(carrier, at, group.width * carrier.y.shape[0])
    c, at = next_lanes(carrier, at, group.width * carrier.c.shape[0])
    lanes = group.lanes
    spare = Lanes(t, y, lanes.p, lanes.d, lanes.h, c, lanes.memory, lanes.work)
    return Group(first, last, spare, group.k, group.h, group.width, group.table)


def spare_lanes(carrier, group):
    """A group of directions as of `spare_group`, whose cache has the present tangents."""
    spare = spare_group(carrier, group.first, group.last)
    copy_reals(group.lanes.c, spare.lanes.c)
    return spare


def cache_dot(carrier, i, slot):
    """The tangent of a slot of the cache along a direction, wherever it lies."""
    begin = carrier.plan.first_direction
    first = begin + (i - begin) // carrier.plan.lanes * carrier.plan.lanes
    last = end_of_group(carrier, first)
    if i >= begin and last > first + 1:
        group = group_of(carrier, first, last)
        return group.lanes.c[group.width * slot + i - first]
    return part_of(carrier.c_dots, i, carrier.c)[slot]


# copies between lanes and directions


def spread(dots, lanes, group):
    """Fill the lanes with tangents of directions; spare lanes repeat the last one."""
    size = lanes.shape[0] // group.width
    for lane in range(group.width):
        i = min(group.first + lane, group.last - 1)
        put_lane(dots[i * size : (i + 1) * size], lanes, lane, group.width)


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
    size = lanes.shape[0] // group.width
    for i in range(group.first, group.last):
        take_lane(lanes, i - group.first, dots[i * size : (i + 1) * size], group.width)


def take_lane(lanes, lane, numbers, width):
    """Copy as many numbers of one of so many lanes as there is room for."""
    if width == 2:  # a loop that knows how far it goes on is faster
        take_every(lanes, lane, numbers, 2)
    elif width == 4:
        take_every(lanes, lane, numbers, 4)
    else:
        take_every(lanes, lane, numbers, width)


def take_every(lanes, lane, numbers, width):
    """`take_lane`, whose callers may know the number of lanes."""
    for m in range(numbers.shape[0]):
        numbers[m] = lanes[width * m + lane]


def put_lane(numbers, lanes, lane, width):
    """Fill one of so many lanes."""
    if width == 2:
        put_every(numbers, lanes, lane, 2)
    elif width == 4:
        put_every(numbers, lanes, lane, 4)
    else:
        put_every(numbers, lanes, lane, width)


def put_every(numbers, lanes, lane, width):
    """`put_lane`, whose callers may know the number of lanes."""
    for m in range(lanes.shape[0] // width):
        lanes[width * m + lane] = numbers[m]


def clear_lane(lanes, lane, width):
    """Fill one of so many lanes with zeros."""
    if width == 2:
        clear_every(lanes, lane, 2)
    elif width == 4:
        clear_every(lanes, lane, 4)
    else:
        clear_every(lanes, lane, width)


def clear_every(lanes, lane, width):
    """`clear_lane`, whose callers may know the number of lanes."""
    for m in range(lanes.shape[0] // width):
        lanes[width * m + lane] = 0.0


def clear_flow_tangents(group):
    """Set the tangents of time, states and cache in the lane of the flow to 0; those of histories stay."""
    if group.first == 0:
        lanes = group.lanes
        lanes.t[0] = 0.0
        clear_lane(lanes.y, 0, group.width)
        clear_lane(lanes.c, 0, group.width)
