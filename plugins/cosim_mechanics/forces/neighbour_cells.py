"""Finds the pairs among many shapes that may touch, by cells of space with lists of the shapes in them.

Cells of level 0 are as wide as the largest shape, those of each further level half as wide. A shape is in the
list of the cell that contains its centre, at the finest level whose cells are not narrower than the shape. It
is compared with the shapes in neighbouring cells of its own level and of all coarser levels. So a large table
among small balls costs each ball a search in the cells of two levels.
"""

from __future__ import annotations

import math

import numpy as np

from cosim_mechanics.spatial import Reals, Slot

NONE = -1.0
"""The end of a list."""

MIDDLE = 13
"""The index of the cell itself among the 27 neighbours."""

SIDES = (-1, 0, 1)
NEIGHBOURS = np.array([(x, y, z) for x in SIDES for y in SIDES for z in SIDES]).ravel()
"""The relative coordinates of the 27 neighbours, three each."""

LEVELS = 16
"""The number of levels: shapes that are smaller still are in cells wider than necessary."""


def largest_mask(room: int) -> int:
    """The largest number 2^n - 1 that is less than `room`.

    >>> largest_mask(8), largest_mask(9), largest_mask(1)
    (7, 7, 0)
    """
    size = 1
    while 2 * size <= room:
        size = 2 * size
    return size - 1


def cell_of(x: int, y: int, z: int, level: int, mask: int) -> int:
    """The index of the list of a cell, by hashing; several cells may share a list.

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
    """Fill the levels of shapes and their order, coarse levels first; returns the number of bounded shapes.

    Parameters
    ----------
    reaches : m
        Radius of the sphere about each shape; 0 for a half-space, which is in no cell.
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
    """Write the pairs of shapes of different bodies whose spheres meet; returns their number.

    The cost grows with the number of shapes, and with that of shapes in neighbouring cells.

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
        Filled with the next shape in its list.
    pairs : view, two numbers for each pair
        Filled with the indices of the shapes.

    Returns
    -------
    int
        The number of pairs; if `pairs` has no room for all, some are missing there.
    """
    fill_cells(middles, bounded, order, levels, per_length, cells, lists, behind)
    mask = largest_mask(len(lists))
    count = 0
    for place in range(bounded):
        i = int(order[place])
        level_of_shape = int(levels[i])
        for level in range(level_of_shape + 1):
            if per_length[level] == 0.0:
                continue
            x = math.floor(middles[3 * i] * per_length[level])
            y = math.floor(middles[3 * i + 1] * per_length[level])
            z = math.floor(middles[3 * i + 2] * per_length[level])
            first = 0
            if level == level_of_shape:
                first = MIDDLE  # among shapes of one level each pair is found from one of its shapes only
            for neighbour in range(first, 27):
                cell = (
                    x + NEIGHBOURS[3 * neighbour],
                    y + NEIGHBOURS[3 * neighbour + 1],
                    z + NEIGHBOURS[3 * neighbour + 2],
                    level,
                )
                j = int(lists[cell_of(cell[0], cell[1], cell[2], level, mask)])
                if neighbour == MIDDLE and level == level_of_shape:
                    j = int(behind[i])
                while j >= 0:
                    is_near = meet(middles, reaches, i, j) and lies_in(cells, levels, j, cell)
                    if is_near and owners[j] != owners[i]:
                        put_pair(pairs, count, i, j)
                        count += 1
                    j = int(behind[j])
    return count


def put_pair(pairs: Slot, count: int, i: int, j: int) -> None:
    """Write a pair behind `count` others, if there is room for it."""
    if 2 * count + 1 < len(pairs):
        pairs[2 * count] = min(i, j)
        pairs[2 * count + 1] = max(i, j)


def fill_cells(
    middles: Reals,
    bounded: int,
    order: Reals,
    levels: Reals,
    per_length: Reals,
    cells: Slot,
    lists: Slot,
    behind: Slot,
) -> None:
    """Put each shape into the list of its cell; the arguments are those of `list_pairs`."""
    mask = largest_mask(len(lists))
    for i in range(len(lists)):
        lists[i] = NONE
    for place in range(bounded):
        i = int(order[place])
        level = int(levels[i])
        x = math.floor(middles[3 * i] * per_length[level])
        y = math.floor(middles[3 * i + 1] * per_length[level])
        z = math.floor(middles[3 * i + 2] * per_length[level])
        cells[3 * i] = x * 1.0
        cells[3 * i + 1] = y * 1.0
        cells[3 * i + 2] = z * 1.0
        cell = cell_of(x, y, z, level, mask)
        behind[i] = lists[cell]
        lists[cell] = i


def meet(middles: Reals, reaches: Reals, i: int, j: int) -> bool:
    """Whether the spheres about two shapes meet."""
    x = middles[3 * i] - middles[3 * j]
    y = middles[3 * i + 1] - middles[3 * j + 1]
    z = middles[3 * i + 2] - middles[3 * j + 2]
    reach = reaches[i] + reaches[j]
    return x * x + y * y + z * z < reach * reach


def lies_in(cells: Slot, levels: Reals, j: int, cell: tuple[int, int, int, int]) -> bool:
    """Whether a shape is in a cell, given by coordinates and level; checked since cells may share a list."""
    return bool(
        cells[3 * j] == cell[0]
        and cells[3 * j + 1] == cell[1]
        and cells[3 * j + 2] == cell[2]
        and levels[j] == cell[3]
    )
