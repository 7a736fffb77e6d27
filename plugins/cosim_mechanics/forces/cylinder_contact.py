"""Contact of a sphere or capsule with a cylinder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics.forces.convex_contact import ConvexContact, capsule_on
from cosim_mechanics.spatial import Reals


def distance_from_cylinder(
    p: Reals, radius: float, length: float, rounding: float
) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from a cylinder about the z axis, without its rounding, and the way out.

    >>> distance_from_cylinder((2.0, 0.0, 0.0), 1.0, 2.0, 0.25)
    (1.25, (1.0, 0.0, 0.0))
    """
    around = math.sqrt(p[0] * p[0] + p[1] * p[1])
    x = p[0] / around if around > 0.0 else 1.0
    y = p[1] / around if around > 0.0 else 0.0
    z = -1.0 if p[2] < 0.0 else 1.0
    side = around - radius + rounding
    end = abs(p[2]) - 0.5 * length + rounding
    if side > 0.0 and end > 0.0:
        distance = math.sqrt(side * side + end * end)
        return distance, (side / distance * x, side / distance * y, end / distance * z)
    if side > end:
        return side, (x, y, 0.0)
    return end, (0.0, 0.0, z)


def outside_cylinder(s: Any, p: Reals) -> tuple[float, tuple[float, float, float]]:
    """Distance of a point from the cylinder of a contact, and the direction away from it."""
    return distance_from_cylinder(p, s.cylinder_radius, s.length, s.radius1)


class CylinderContact(ConvexContact):
    """Contact between a cylinder on body 1 and a sphere or capsule on body 2: Hertz, friction that sticks.

    Law: that of `ConvexContact`: x = radius1 + radius2 - d, with d the distance from the cylinder without its
    rounding.

    Frames and signs
    ----------------
    The middle of the cylinder is the origin of frame F on body 1, its axis is F's z axis. As for
    `ConvexContact`.

    Limits
    ------
    As for `ConvexContact`.

    Parameters
    ----------
    body1, body2 : body
        The one with the cylinder, the one with the sphere or capsule.
    frame_on_body1 : pose, default identity
    cylinder_radius, length : float, m, > 0
        The rounding included.
    radius1 : float, m, >= 0, default 0
        Of the rounding of both edges, at most the radius of the cylinder and half its length.
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
    >>> CylinderContact(
    ...     body1="drum", body2="ball", cylinder_radius=0.5, length=1.0, radius2=0.1, stiffness="1 GPa"
    ... ).length
    1.0
    """

    known_as = ("sphere_cylinder_contact", "capsule_cylinder_contact")
    tried_with: ClassVar[Mapping[str, Any]] = {"cylinder_radius": 0.2, "length": 0.3, "radius2": 0.2}

    cylinder_radius = cosim.parameter(unit="m", above=0.0, description="radius of the cylinder")
    length = cosim.parameter(unit="m", above=0.0, description="length of the cylinder")

    @cosim.kernel(refuses=["the rounding of a cylinder is larger than its radius or half its length"])
    def rounding(cylinder_radius, length, radius1):
        return 1.0 if radius1 > min(cylinder_radius, 0.5 * length) else 0.0

    place = capsule_on(outside_cylinder)
