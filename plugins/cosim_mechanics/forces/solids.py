"""The rows of numbers by which `Collisions` represents solids, contacts and bristles."""

from __future__ import annotations

import math
from typing import Any

from cosim_mechanics.forces.box_contact import distance_from_box
from cosim_mechanics.forces.convex_contact import nearest_on_capsule
from cosim_mechanics.forces.cylinder_contact import distance_from_cylinder
from cosim_mechanics.forces.mesh_contact import distance_from_mesh
from cosim_mechanics.spatial import Reals, Slot, norm

HALF_SPACE, ROUND, BOX, CYLINDER, MESH = 0, 1, 2, 3, 4
"""Kinds of solids: the half-space z < 0; a sphere or capsule; …"""

BRISTLES = (0, 4, 8, 6, 12)
"""The number of bristles of a shape of each kind; a contact uses one of either shape."""

CONTACT = 12
"""The count of numbers of a contact, of which one is unused."""

FIRST_SHAPE, SECOND_SHAPE, FEATURE, DEPTH, RADIUS = range(5)
NORMAL, POINT = 5, 8
"""The places of these numbers; a normal (from the first shape to the second) and a point have three."""

FEATURES = 1_000_000
"""A bound of the number of contacts of two shapes: a mesh on a plane has one for each vertex."""


def outside_solid(s: Any, p: Reals) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from a box, cylinder or mesh in its frame, m, and the direction away from it.

    `s` is a tuple of the kind, the size (edges, or radius and length), the rounding, and the corners of
    triangles.
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
    """Write a contact if there is room; returns the number of the next one."""
    start = CONTACT * number
    if start + CONTACT <= len(contacts):
        contacts[start + FIRST_SHAPE] = first
        contacts[start + SECOND_SHAPE] = second
        contacts[start + FEATURE] = feature
        contacts[start + DEPTH] = depth
        contacts[start + RADIUS] = radius
        for i in range(3):
            contacts[start + NORMAL + i] = normal[i]
            contacts[start + POINT + i] = point[i]
        contacts[start + CONTACT - 1] = 0.0
    return number + 1


def is_listed(pairs: Reals, first: float, second: float) -> bool:
    """Whether a sorted list of pairs, two numbers each, contains a pair.

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
    """The place of the bristle of a contact among those of its two shapes; -1 if it has none.

    Parameters
    ----------
    held : view
        The contact of each bristle, 0 for none.
    slots : view
        The first bristle of each shape, and of the one after the last.
    key : float, > 0
        The key of the contact.
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
    """A place for a bristle that is free both in `held` and in `held_next`; -1 if there is none.

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
