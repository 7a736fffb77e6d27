"""Solids as `Collisions` knows them: rows of numbers, and where two of them touch."""

from __future__ import annotations

import math
from typing import Any

from cosim_mechanics.forces.box_contact import distance_from_box
from cosim_mechanics.forces.convex_contact import nearest_on_capsule
from cosim_mechanics.forces.cylinder_contact import distance_from_cylinder
from cosim_mechanics.forces.mesh_contact import distance_from_mesh
from cosim_mechanics.spatial import Reals, Slot, norm

HALF_SPACE, ROUND, BOX, CYLINDER, MESH = 0, 1, 2, 3, 4
"""Kinds of solids: what lies at z < 0; a sphere or capsule; …"""

BRISTLES = (0, 4, 8, 6, 12)
"""How many bristles shapes of each kind bring; those of both shapes serve a contact."""

CONTACT = 12
"""Numbers of a contact, one of them spare."""

FIRST_SHAPE, SECOND_SHAPE, FEATURE, DEPTH, RADIUS = range(5)
NORMAL, POINT = 5, 8
"""Where each of them stands; a normal (from the first shape to the second) and a point have three."""

FEATURES = 1_000_000
"""More than a pair of shapes has contacts: a mesh on a plane has one for each vertex."""


def outside_solid(s: Any, p: Reals) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from a box, cylinder or mesh in its frame, m, and the direction away from it.

    `s` is its kind, its size (edges, or radius and length), its rounding and the corners of its triangles.
    """
    kind, size, rounding, corners = s
    if kind == BOX:
        return distance_from_box(p, size, rounding)
    if kind == CYLINDER:
        return distance_from_cylinder(p, size[0], size[1], rounding)
    return distance_from_mesh(p, corners)


search_solid = nearest_on_capsule(outside_solid)


def extent_of(kind: float, size: Reals, rounding: float) -> float:
    """Radius of the sphere about a capsule, box or cylinder, m; 0 for other kinds.

    >>> extent_of(ROUND, (0.0, 0.0, 0.5), 0.25), extent_of(CYLINDER, (1.5, 4.0, 0.0), 0.1)
    (0.75, 2.5)
    """
    if kind == ROUND:
        return norm(size[0:3]) + rounding
    if kind == BOX:
        return 0.5 * norm(size[0:3])
    if kind == CYLINDER:
        return math.sqrt(size[0] * size[0] + 0.25 * size[1] * size[1])
    return 0.0


def put_contact(
    contacts: Slot,
    number: int,
    first: int,
    second: int,
    feature: int,
    depth: float,
    radius: float,
    normal: Reals,
    point: Reals,
) -> int:
    """Write a contact where there is room, and return the number of the next one."""
    at = CONTACT * number
    if at + CONTACT <= len(contacts):
        contacts[at + FIRST_SHAPE] = first
        contacts[at + SECOND_SHAPE] = second
        contacts[at + FEATURE] = feature
        contacts[at + DEPTH] = depth
        contacts[at + RADIUS] = radius
        for i in range(3):
            contacts[at + NORMAL + i] = normal[i]
            contacts[at + POINT + i] = point[i]
        contacts[at + CONTACT - 1] = 0.0
    return number + 1


def is_listed(pairs: Reals, first: float, second: float) -> bool:
    """Whether a pair stands in a sorted list of pairs, two numbers each.

    >>> is_listed([0, 1, 0, 4, 2, 3], 0, 4), is_listed([0, 1, 0, 4, 2, 3], 1, 4), is_listed([], 0, 1)
    (True, False, False)
    """
    low = 0
    high = len(pairs) // 2
    while low < high:
        middle = (low + high) // 2
        a = pairs[2 * middle]
        b = pairs[2 * middle + 1]
        if a < first or (a == first and b < second):
            low = middle + 1
        else:
            high = middle
    return bool(2 * low < len(pairs) and pairs[2 * low] == first and pairs[2 * low + 1] == second)


def slot_of(held: Reals, slots: Reals, key: float, first: int, second: int) -> int:
    """Where the bristle of a contact stands among those of its two shapes; -1 where it has none.

    Parameters
    ----------
    held : view
        The contact of each bristle, 0 for none.
    slots : view
        The first bristle of each shape, and of the one after the last.
    key : float, > 0
    first, second : int
        The shapes.
    """
    for slot in range(int(slots[second]), int(slots[second + 1])):
        if held[slot] == key:
            return slot
    for slot in range(int(slots[first]), int(slots[first + 1])):
        if held[slot] == key:
            return slot
    return -1


def free_slot(held: Reals, held_next: Reals, slots: Reals, first: int, second: int) -> int:
    """A place for a bristle that is free in both lists; -1 where there is none.

    >>> free_slot([5.0, 0.0], [0.0] * 2, [0, 1, 2], 0, 1)
    1
    >>> free_slot([5.0] * 2, [0.0] * 2, [0, 1, 2], 0, 1)
    -1
    """
    for slot in range(int(slots[second]), int(slots[second + 1])):
        if held[slot] == 0.0 and held_next[slot] == 0.0:
            return slot
    for slot in range(int(slots[first]), int(slots[first + 1])):
        if held[slot] == 0.0 and held_next[slot] == 0.0:
            return slot
    return -1
