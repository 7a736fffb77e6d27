"""Which of many balls may touch: cells of space, each with a list of the balls whose centres lie in it."""

from __future__ import annotations

import math

from cosim_mechanics.spatial import Slot

NONE = -1.0
"""The end of a list."""


def largest_mask(room: int) -> int:
    """The largest 2^n - 1 that is below the room.

    >>> largest_mask(8), largest_mask(9), largest_mask(1)
    (7, 7, 0)
    """
    size = 1
    while 2 * size <= room:
        size = 2 * size
    return size - 1


def cell_of(x: float, y: float, z: float, mask: int) -> int:
    """The list of a cell, which several cells may share.

    >>> cell_of(1.0, 0.0, 0.0, 7) == cell_of(1.0, 0.0, 0.0, 7)
    True
    """
    return (int(x) * 73856093 ^ int(y) * 19349663 ^ int(z) * 83492791) & mask


def list_pairs(
    centers: Slot, stride: int, first: int, radii: Slot, cells: Slot, lists: Slot, behind: Slot, pairs: Slot
) -> int:
    """Write the pairs of balls that touch, and return how many they are.

    The centre of ball i stands at ``centers[stride * i + first]``. Cost grows with the number of balls and of
    balls in neighbouring cells, whose edges are as long as the largest ball is thick.

    Parameters
    ----------
    cells : view, three numbers for each ball
        Filled with the coordinates of its cell.
    lists : view, at least one number
        Filled with the last ball of each list.
    behind : view, one number for each ball
        Filled with the ball that stands behind it in its list.
    pairs : view, two numbers for each pair
        Filled with their indices; the rest with `NONE`.

    Returns
    -------
    int
        How many pairs touch; if they are more than `pairs` has room for, some are missing.
    """
    count = len(radii)
    largest = 0.0
    for i in range(count):
        largest = max(largest, radii[i])
    mask = largest_mask(len(lists))
    for i in range(len(lists)):
        lists[i] = NONE
    per_length = 0.5 / largest if largest > 0.0 else 0.0
    found = 0
    for i in range(count):
        at = stride * i + first
        x = math.floor(centers[at] * per_length) * 1.0
        y = math.floor(centers[at + 1] * per_length) * 1.0
        z = math.floor(centers[at + 2] * per_length) * 1.0
        cells[3 * i] = x
        cells[3 * i + 1] = y
        cells[3 * i + 2] = z
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dz in range(-1, 2):
                    j = int(lists[cell_of(x + dx, y + dy, z + dz, mask)])
                    while j >= 0:
                        if (
                            cells[3 * j] == x + dx
                            and cells[3 * j + 1] == y + dy
                            and cells[3 * j + 2] == z + dz
                        ):
                            a = centers[at] - centers[stride * j + first]
                            b = centers[at + 1] - centers[stride * j + first + 1]
                            c = centers[at + 2] - centers[stride * j + first + 2]
                            reach = radii[i] + radii[j]
                            if a * a + b * b + c * c < reach * reach:
                                if 2 * found + 1 < len(pairs):
                                    pairs[2 * found] = j
                                    pairs[2 * found + 1] = i
                                found += 1
                        j = int(behind[j])
        own = cell_of(x, y, z, mask)
        behind[i] = lists[own]
        lists[own] = i
    for i in range(2 * found, len(pairs)):
        pairs[i] = NONE
    return found
