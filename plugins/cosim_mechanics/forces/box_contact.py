"""Contact of a sphere or capsule with a box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics.forces.convex_contact import ConvexContact, capsule_on
from cosim_mechanics.spatial import Reals, dot


def sign(x: float) -> float:
    """The sign of a number as 1 or -1; 1 for zero.

    >>> sign(-3.0), sign(0.0)
    (-1.0, 1.0)
    """
    return -1.0 if x < 0.0 else 1.0


def distance_from_box(p: Reals, size: Reals, rounding: float) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from a box about the origin, without its rounding, and the unit vector away.

    >>> distance_from_box((2.0, 0.0, 0.0), (2.0, 2.0, 2.0), 0.25)
    (1.25, (1.0, 0.0, 0.0))
    """
    q = (
        abs(p[0]) - 0.5 * size[0] + rounding,
        abs(p[1]) - 0.5 * size[1] + rounding,
        abs(p[2]) - 0.5 * size[2] + rounding,
    )
    m = (max(q[0], 0.0), max(q[1], 0.0), max(q[2], 0.0))
    distance = math.sqrt(dot(m, m))
    if distance > 0.0:
        return distance, (
            m[0] * sign(p[0]) / distance,
            m[1] * sign(p[1]) / distance,
            m[2] * sign(p[2]) / distance,
        )
    if q[0] >= q[1] and q[0] >= q[2]:
        return q[0], (sign(p[0]), 0.0, 0.0)
    if q[1] >= q[2]:
        return q[1], (0.0, sign(p[1]), 0.0)
    return q[2], (0.0, 0.0, sign(p[2]))


def outside_box(s: Any, p: Reals) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from the box of a contact, and the direction away from it."""
    return distance_from_box(p, s.size, s.radius1)


class BoxContact(ConvexContact):
    """Contact between a box on body 1 and a sphere or capsule on body 2: Hertz, Coulomb friction that sticks.

    Law: that of `ConvexContact`: x = radius1 + radius2 - d, d the distance from the box without its rounding.

    Frames and signs
    ----------------
    The middle of the box is the origin of frame F on body 1, its edges are parallel to F's axes. As for
    `ConvexContact`.

    Limits
    ------
    As for `ConvexContact`.

    Parameters
    ----------
    body1, body2 : body
        The one with the box, the one with the sphere or capsule.
    frame_on_body1 : pose, default identity
    size : array_like, shape (3,), m, > 0
        Lengths of the edges, the rounding included.
    radius1 : float, m, >= 0, default 0
        Radius of the rounding, at most half the shortest edge.
    center_on_body2, half_axis_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
    radius2 : float, m, > 0
    crown : float, > 0, default 0.001

    Energy
    ------
    As for `Contact`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapter 4.

    Examples
    --------
    >>> BoxContact(body1="table", body2="ball", size=(1, 1, 0.1), radius2=0.1, stiffness="1 GPa").radius2
    0.1
    """

    known_as = ("sphere_box_contact", "capsule_box_contact")
    tried_with: ClassVar[Mapping[str, Any]] = {
        "size": (0.2, 0.2, 0.1),
        "frame_on_body1": (0.0, 0.0, -0.3),
        "radius2": 0.4,
    }

    size = cosim.parameter(unit="m", shape=3, above=0.0, description="edges of the box", elements="xyz")

    @cosim.kernel(
        refuses=["the rounding of a box is larger than half its shortest edge: make radius1 smaller"]
    )
    def rounding(size, radius1):
        return 1.0 if 2.0 * radius1 > min(size[0], size[1], size[2]) else 0.0

    place = capsule_on(outside_box)
