"""Where the shapes of `Collisions` touch: pairs of shapes, and the contacts of each.

`sizes` has four numbers for each shape (`Collisions.sizes`). The functions ``touch_…`` append contacts to
`contact_rows`, of which there are `number` before, and return how many there are then.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.forces.capsule_contact import closest_places
from cosim_mechanics.forces.convex_contact import depth_on_capsule
from cosim_mechanics.forces.rim_contact import steepest_direction
from cosim_mechanics.forces.solids import CYLINDER, MESH, ROUND, is_listed, put_contact, search_solid
from cosim_mechanics.spatial import (
    Reals,
    compose,
    dot,
    inverse,
    minus,
    norm,
    plus,
    rotate,
    rotate_inverse,
    scaled,
    station,
)


def pose_of(s: Any, owner: int) -> Reals:
    """Pose of a body in Ground, 0 for body 1; numbers, since a part of either array has no adjoint."""
    return pose_at(s.X_GB1, 0) if owner == 0 else pose_at(s.X_GB, 12 * owner - 12)


def pose_at(X: Any, at: int) -> Reals:
    """The pose that begins at a place of an array of poses."""
    return (
        *(X[at], X[at + 1], X[at + 2], X[at + 3], X[at + 4], X[at + 5], X[at + 6], X[at + 7], X[at + 8]),
        *(X[at + 9], X[at + 10], X[at + 11]),
    )


def place_shapes(s: Any) -> None:
    """Compute poses and middles of all shapes."""
    for i in range(len(s.reaches)):
        X = compose(pose_of(s, int(s.owners[i])), s.frames[12 * i : 12 * i + 12])
        for k in range(12):
            s.poses[12 * i + k] = X[k]
        for k in range(3):
            s.middles[3 * i + k] = X[9 + k]


def is_ignored(s: Any, i: int, j: int) -> bool:
    """Whether the contact of two shapes is left out: they are on one body, or on a pair that is ignored."""
    owner1 = min(s.owners[i], s.owners[j])
    owner2 = max(s.owners[i], s.owners[j])
    return owner1 == owner2 or is_listed(s.ignored, owner1, owner2)


def corners_of(s: Any, j: int) -> int:
    """How many points of a solid may touch a half-space.

    They are the ends of a capsule, the ends of two lines on a cylinder, the corners of a box or a mesh.
    """
    if s.kinds[j] == ROUND:
        is_sphere = s.sizes[4 * j] == 0.0 and s.sizes[4 * j + 1] == 0.0 and s.sizes[4 * j + 2] == 0.0
        return 1 if is_sphere else 2
    if s.kinds[j] == CYLINDER:
        return 4
    return int(s.sizes[4 * j + 3]) if s.kinds[j] == MESH else 8


def corner_of(s: Any, j: int, corner: int, n: Reals) -> Reals:
    """The centre of the rounding at such a point of a solid, in Ground; `n` points up from the half-space."""
    X = s.poses[12 * j : 12 * j + 12]
    r = s.roundings[j]
    sizes = s.sizes[4 * j : 4 * j + 4]
    first = 1.0 if corner % 2 == 1 else -1.0  # which of two sides, by the bits of the number of the corner
    second = 1.0 if corner // 2 % 2 == 1 else -1.0
    if s.kinds[j] == ROUND:
        return station(X, scaled(first, sizes))
    if s.kinds[j] == CYLINDER:
        axis = (X[2], X[5], X[8])
        out = steepest_direction(axis, n, (X[1], X[4], X[7]))
        on_axis = plus(X[9:12], scaled(first * (0.5 * sizes[1] - r), axis))
        return plus(on_axis, scaled(-second * (sizes[0] - r), out))
    if s.kinds[j] == MESH:
        at = 3 * (int(sizes[2]) + corner)
        return station(X, s.vertices[at : at + 3])
    third = 1.0 if corner // 4 == 1 else -1.0
    return station(
        X, (first * (0.5 * sizes[0] - r), second * (0.5 * sizes[1] - r), third * (0.5 * sizes[2] - r))
    )


def touch_half_space(s: Any, i: int, j: int, number: int) -> int:
    """Append the contacts of solid `j` with half-space `i`."""
    plane = s.poses[12 * i : 12 * i + 12]
    n = (plane[2], plane[5], plane[8])
    r = s.roundings[j]
    for corner in range(corners_of(s, j)):
        center = corner_of(s, j, corner, n)
        x = r - dot(n, minus(center, plane[9:12]))
        if x > 0.0:
            number = put_contact(s.contact_rows, number, i, j, corner, x, r, n, minus(center, scaled(r, n)))
    return number


def touch_half_spaces(s: Any, number: int) -> int:
    """Append the contacts of all solids with all half-spaces: these follow the bounded shapes in `order`."""
    count = len(s.reaches)
    for place in range(int(s.bounded), count):
        i = int(s.order[place])
        plane = s.poses[12 * i : 12 * i + 12]
        n = (plane[2], plane[5], plane[8])
        height = dot(n, plane[9:12])
        for j in range(count):
            if dot(n, s.middles[3 * j : 3 * j + 3]) - height < s.reaches[j] and not is_ignored(s, i, j):
                number = touch_half_space(s, i, j, number)
    return number


def touch_round(s: Any, i: int, j: int, number: int) -> int:
    """Append the contact of two spheres or capsules."""
    X1 = s.poses[12 * i : 12 * i + 12]
    X2 = s.poses[12 * j : 12 * j + 12]
    d1 = rotate(X1, s.sizes[4 * i : 4 * i + 3])
    d2 = rotate(X2, s.sizes[4 * j : 4 * j + 3])
    at1, at2 = closest_places(X1[9:12], d1, X2[9:12], d2)
    near = plus(X1[9:12], scaled(at1, d1))
    between = minus(plus(X2[9:12], scaled(at2, d2)), near)
    distance = norm(between)
    r1 = s.roundings[i]
    r2 = s.roundings[j]
    x = r1 + r2 - distance
    if x > 0.0:
        if distance == 0.0:
            raise ValueError("the centres of two shapes meet, so their contact has no direction")
        n = scaled(1.0 / distance, between)
        point = plus(near, scaled(r1 - 0.5 * x, n))
        number = put_contact(s.contact_rows, number, i, j, 0, x, r1 * r2 / (r1 + r2), n, point)
    return number


def touch_convex(s: Any, i: int, j: int, number: int) -> int:
    """Append the contact of a box, cylinder or mesh `i` with a sphere or capsule `j`."""
    X_GF = s.poses[12 * i : 12 * i + 12]
    X2 = s.poses[12 * j : 12 * j + 12]
    sizes = s.sizes[4 * i : 4 * i + 4]
    triangles = s.triangles[0:0]
    if s.kinds[i] == MESH:
        triangles = s.triangles[9 * int(sizes[0]) : 9 * int(sizes[1])]
    solid = (s.kinds[i], (sizes[0], sizes[1], sizes[2]), s.roundings[i], triangles)
    center = station(inverse(X_GF), X2[9:12])
    axis = rotate_inverse(X_GF, rotate(X2, s.sizes[4 * j : 4 * j + 3]))
    bulge = s.crown * s.roundings[j]
    share, distance, away = search_solid(solid, center, axis, bulge)
    radii = s.roundings[i] + s.roundings[j]
    x = depth_on_capsule(radii, distance, 0.5 * bulge * share * share, dot(axis, axis) == 0.0)
    if not x <= 0.0:  # also where x is NaN
        n = rotate(X_GF, away)
        middle = station(X_GF, plus(center, scaled(share, axis)))
        point = minus(middle, scaled(s.roundings[j] - 0.5 * x, n))
        number = put_contact(s.contact_rows, number, i, j, 0, x, s.roundings[j], n, point)
    return number


def touch_pair(s: Any, i: int, j: int, number: int) -> int:
    """Append the contact of two bounded shapes, one of which is a sphere or capsule."""
    if s.kinds[i] == ROUND and s.kinds[j] == ROUND:
        return touch_round(s, i, j, number)
    if s.kinds[j] == ROUND:
        return touch_convex(s, i, j, number)
    return touch_convex(s, j, i, number)
