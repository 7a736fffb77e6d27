"""Which of many shapes may touch: cells of space, each with a list of the shapes whose middle lies in it.

Cells of level 0 are as wide as the largest shape is thick, those of each further level half as wide. A shape
lies in cells of the finest level that are not narrower than the shape. It looks for others in its own level
and in all coarser ones. So a large table among small balls costs each ball a look at the cells of two levels.
"""

from __future__ import annotations

import math

import numpy as np

from cosim_mechanics.spatial import Reals, Slot

NONE = -1.0
"""The end of a list."""

MIDDLE = 13
"""The cell itself among its 27 neighbours."""

SIDES = (-1, 0, 1)
NEIGHBOURS = np.array([(x, y, z) for x in SIDES for y in SIDES for z in SIDES]).ravel()
"""Three coordinates of each of the 27."""

LEVELS = 16
"""Sizes of cells: shapes that are still smaller lie in cells that are too wide for them."""


def largest_mask(room: int) -> int:
    """The largest 2^n - 1 that is below the room.

    >>> largest_mask(8), largest_mask(9), largest_mask(1)
    (7, 7, 0)
    """
    size = 1
    while 2 * size <= room:
        size = 2 * size
    return size - 1


def cell_of(x: int, y: int, z: int, level: int, mask: int) -> int:
    """The list of a cell, which several cells may share.

    >>> cell_of(1, 0, 0, 0, 7) == cell_of(1, 0, 0, 0, 7)
    True
    """
    return (x * 73856093 ^ y * 19349663 ^ z * 83492791 ^ level * 2654435761) & mask


def level_of(reach: float, largest: float) -> int:
    """The level of a shape.

    >>> level_of(1.0, 1.0), level_of(0.5, 1.0), level_of(0.3, 1.0), level_of(0.0, 1.0)
    (0, 1, 1, 15)
    """
    level = 0
    size = 0.5 * largest
    while reach <= size and level < LEVELS - 1:
        level += 1
        size = 0.5 * size
    return level


def sort_by_size(reaches: Reals, order: Slot, levels: Slot, per_length: Slot) -> int:
    """Fill the levels of shapes and their order, coarse levels first; return how many are bounded.

    Parameters
    ----------
    reaches : m
        Radius of each shape about its middle; 0 for a half-space, which lies in no cell.
    order, levels : view, one number for each shape
    per_length : view, `LEVELS` numbers, 1/m
        Filled with 1 / width of the cells of each level, 0 for levels without shapes.
    """
    largest = 0.0
    for i in range(len(reaches)):
        largest = max(largest, reaches[i])
    bounded = 0
    for level in range(LEVELS):
        per_length[level] = 0.0
        for i in range(len(reaches)):
            if reaches[i] > 0.0 and level_of(reaches[i], largest) == level:
                order[bounded] = i
                levels[i] = level
                per_length[level] = math.ldexp(0.5 / largest, level)
                bounded += 1
    place = bounded
    for i in range(len(reaches)):
        if reaches[i] == 0.0:
            order[place] = i
            levels[i] = NONE
            place += 1
    return bounded


def list_pairs(
    middles: Reals,
    reaches: Reals,
    owners: Reals,
    bounded: int,
    order: Reals,
    levels: Reals,
    per_length: Reals,
    cells: Slot,
    lists: Slot,
    behind: Slot,
    pairs: Slot,
) -> int:
    """Write the pairs of shapes of different bodies whose spheres meet, and return how many they are.

    Cost grows with the number of shapes and of those in neighbouring cells.

    Parameters
    ----------
    middles : view, three numbers for each shape, m
    reaches : view, m
        Radius of the sphere about each shape.
    owners : view
        The body of each shape.
    bounded, order, levels, per_length
        As of `sort_by_size`.
    cells : view, three numbers for each shape
        Filled with the coordinates of its cell.
    lists : view, at least one number
        Filled with the last shape of each list.
    behind : view, one number for each shape
        Filled with the shape that stands behind it in its list.
    pairs : view, two numbers for each pair
        Filled with their indices.

    Returns
    -------
    int
        How many pairs there are; if they are more than `pairs` has room for, some are missing.
    """
    mask = largest_mask(len(lists))
    for i in range(len(lists)):
        lists[i] = NONE
    for place in range(bounded):
        i = int(order[place])
        own = int(levels[i])
        x = math.floor(middles[3 * i] * per_length[own])
        y = math.floor(middles[3 * i + 1] * per_length[own])
        z = math.floor(middles[3 * i + 2] * per_length[own])
        cells[3 * i] = x * 1.0
        cells[3 * i + 1] = y * 1.0
        cells[3 * i + 2] = z * 1.0
        mine = cell_of(x, y, z, own, mask)
        behind[i] = lists[mine]
        lists[mine] = i
    found = 0
    for place in range(bounded):
        i = int(order[place])
        own = int(levels[i])
        px = middles[3 * i]
        py = middles[3 * i + 1]
        pz = middles[3 * i + 2]
        for level in range(own + 1):
            if per_length[level] == 0.0:
                continue
            x = math.floor(px * per_length[level])
            y = math.floor(py * per_length[level])
            z = math.floor(pz * per_length[level])
            first = 0
            if level == own:
                first = MIDDLE  # of shapes of one level each pair is looked at from one side
            for neighbour in range(first, 27):
                cx = x + NEIGHBOURS[3 * neighbour]
                cy = y + NEIGHBOURS[3 * neighbour + 1]
                cz = z + NEIGHBOURS[3 * neighbour + 2]
                j = int(lists[cell_of(cx, cy, cz, level, mask)])
                if neighbour == MIDDLE and level == own:
                    j = int(behind[i])
                while j >= 0:
                    a = px - middles[3 * j]
                    b = py - middles[3 * j + 1]
                    c = pz - middles[3 * j + 2]
                    reach = reaches[i] + reaches[j]
                    if (
                        a * a + b * b + c * c < reach * reach
                        and cells[3 * j] == cx
                        and cells[3 * j + 1] == cy
                        and cells[3 * j + 2] == cz
                        and levels[j] == level
                        and owners[j] != owners[i]
                    ):
                        if 2 * found + 1 < len(pairs):
                            pairs[2 * found] = min(i, j)
                            pairs[2 * found + 1] = max(i, j)
                        found += 1
                    j = int(behind[j])
    return found
