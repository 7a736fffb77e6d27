"""Contact of a sphere or capsule with a convex mesh."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

import cosim
from cosim_mechanics.forces.convex_contact import ConvexContact, capsule_on
from cosim_mechanics.spatial import Reals, cross, dot, minus, plus, scaled

TETRAHEDRON = (
    (0.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.3, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.3),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.3, 0.0),
    (0.3, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.3),
)
"""A closed mesh to try the contact with."""


def closest_on_triangle(p: Reals, a: Reals, b: Reals, c: Reals) -> tuple[float, float, float]:
    """The point of a triangle that is nearest to p.

    >>> closest_on_triangle((1.0, 1.0, 2.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    (0.5, 0.5, 0.0)
    """
    ab = minus(b, a)
    ac = minus(c, a)
    d1 = dot(ab, minus(p, a))
    d2 = dot(ac, minus(p, a))
    d3 = dot(ab, minus(p, b))
    d4 = dot(ac, minus(p, b))
    d5 = dot(ab, minus(p, c))
    d6 = dot(ac, minus(p, c))
    u = d3 * d6 - d5 * d4
    v = d5 * d2 - d1 * d6
    w = d1 * d4 - d3 * d2
    on_ab = 0.0
    on_ac = 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        pass  # corner a
    elif d3 >= 0.0 and d4 <= d3:
        on_ab = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        on_ac = 1.0
    elif w <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        on_ab = d1 / (d1 - d3)
    elif v <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        on_ac = d2 / (d2 - d6)
    elif u <= 0.0 and d4 >= d3 and d5 >= d6:
        on_ac = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        on_ab = 1.0 - on_ac
    else:
        on_ab = v / (u + v + w)
        on_ac = w / (u + v + w)
    return plus(a, plus(scaled(on_ab, ab), scaled(on_ac, ac)))


def distance_from_mesh(p: Reals, corners: Reals) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from a closed convex mesh, and the direction away from it.

    `corners` has nine numbers for each triangle.
    """
    inside = -math.inf
    facing = (0.0, 0.0, 1.0)
    nearest_square = math.inf
    nearest_point = (0.0, 0.0, 0.0)
    for first in range(0, len(corners), 9):
        a = (corners[first], corners[first + 1], corners[first + 2])
        b = (corners[first + 3], corners[first + 4], corners[first + 5])
        c = (corners[first + 6], corners[first + 7], corners[first + 8])
        outward = cross(minus(b, a), minus(c, a))
        outward = scaled(1.0 / math.sqrt(dot(outward, outward)), outward)
        above = dot(outward, minus(p, a))
        if above > inside:
            inside = above
            facing = outward
        if above > 0.0:  # those that face p have its nearest point
            closest = closest_on_triangle(p, a, b, c)
            offset = minus(p, closest)
            if dot(offset, offset) < nearest_square:
                nearest_square = dot(offset, offset)
                nearest_point = closest
    if inside <= 0.0:
        return inside, facing
    distance = math.sqrt(nearest_square)
    if distance == 0.0:
        return inside, facing
    return distance, scaled(1.0 / distance, minus(p, nearest_point))


def outside_mesh(s: Any, p: Reals) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from the mesh of a contact, and the direction away from it."""
    return distance_from_mesh(p, s.triangles)


def checked_triangles(value: Any) -> Any:
    """The triangles of a closed convex mesh as an array; `ValueError` for other meshes.

    >>> checked_triangles([[0, 0, 0, 0, 1, 0, 1, 0, 0]])
    Traceback (most recent call last):
    ValueError: the number of triangles is 1, a closed mesh needs at least 4: use hull_triangles
    """
    triangles = np.asarray(value, dtype=float)
    if triangles.ndim != 2 or triangles.shape[1] != 9 or not np.all(np.isfinite(triangles)):
        raise ValueError(f"triangles have shape {triangles.shape}, need (n, 9): three corners each")
    if len(triangles) < 4:
        raise ValueError(
            f"the number of triangles is {len(triangles)}, a closed mesh needs at least 4: use hull_triangles"
        )
    a, b, c = triangles[:, :3], triangles[:, 3:6], triangles[:, 6:]
    normals = np.cross(b - a, c - a)
    size = np.linalg.norm(normals, axis=1)
    scale = np.abs(triangles - triangles.mean(axis=0)).max()
    if not np.all(size > 1e-12 * scale * scale):
        raise ValueError("a triangle of the mesh has no area: use hull_triangles")
    above = np.einsum("ij,ikj->ik", normals / size[:, None], triangles.reshape(1, -1, 3) - a[:, None, :])
    if above.max() > 1e-9 * scale:
        raise ValueError("the mesh is not convex, or its triangles do not turn outward: take hull_triangles")
    return triangles


class MeshContact(ConvexContact):
    """Contact between a convex mesh on body 1 and a sphere or capsule on body 2: Hertz, friction that sticks.

    Law: that of `ConvexContact`: x = radius1 + radius2 - d, d the distance from the mesh, which is grown by
    radius1.

    Frames and signs
    ----------------
    The triangles are in frame F on body 1; seen from outside their corners are in counterclockwise order. The
    rest is as for `ConvexContact`.

    Limits
    ------
    As for `ConvexContact`. The cost grows with the number of triangles, and is 50 times as high for a
    capsule.

    Parameters
    ----------
    body1, body2 : body
        The one with the mesh, the one with the sphere or capsule.
    frame_on_body1 : pose, default identity
    triangles : array_like, shape (n, 9), m
        Of a closed convex mesh, three corners each: `hull_triangles`.
    radius1 : float, m, >= 0, default 0
        The thickness that is added to the mesh.
    center_on_body2, half_axis_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
    radius2 : float, m, > 0
    crown : float, > 0, default 0.001

    Raises
    ------
    ModelError
        A mesh that is open, not convex or turned inside out.

    Energy
    ------
    As for `Contact`.

    References
    ----------
    C. Ericson, "Real-Time Collision Detection" (2005), section 5.1.5 (closest point of a triangle).

    Examples
    --------
    >>> from cosim_mechanics import hull_triangles
    >>> MeshContact(
    ...     body1="stone", body2="ball", radius2=0.1, stiffness="1 GPa",
    ...     triangles=hull_triangles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    ... ).triangles.shape
    (4, 9)
    """

    known_as = ("convex_mesh_contact", "polyhedron_contact")
    tried_with: ClassVar[Mapping[str, Any]] = {"triangles": TETRAHEDRON, "radius2": 0.2}

    triangles = cosim.parameter(
        unit="m", shape=("triangles", 9), convert=checked_triangles, description="corners of each triangle"
    )

    place = capsule_on(outside_mesh)
