"""Contact of two spheres or capsules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import (
    Reals,
    dot,
    minus,
    norm,
    plus,
    point_parameter,
    rotate,
    scaled,
    station,
)


def bounded(x: float) -> float:
    """The nearest number from -1 to 1.

    >>> bounded(1.5)
    1.0
    """
    if x < -1.0:
        return -1.0
    return min(x, 1.0)


def closest_places(p1: Reals, d1: Reals, p2: Reals, d2: Reals) -> tuple[float, float]:
    """The places s and t, from -1 to 1, at which the segments p1 + s d1 and p2 + t d2 are closest.

    A segment without length is a point. For parallel segments it is the middle of their common part.

    >>> closest_places((0, 0, 0), (1, 0, 0), (0.5, 0, 1), (0, 1, 0))
    (0.5, 0.0)
    >>> closest_places((0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0))
    (0.5, -0.5)
    """
    r = minus(p2, p1)
    a = dot(d1, d1)
    b = dot(d1, d2)
    c = dot(d2, d2)
    e = dot(d1, r)
    f = dot(d2, r)
    if a == 0.0:
        return 0.0, bounded(-f / c) if c > 0.0 else 0.0
    if c == 0.0:
        return bounded(e / a), 0.0
    across = a * c - b * b
    if across <= 1e-12 * a * c:
        reach = abs(b) / a
        low = max(-1.0, e / a - reach)
        high = min(1.0, e / a + reach)
        s = bounded(0.5 * (low + high))
        return s, bounded((b * s - f) / c)
    s = bounded((e * c - b * f) / across)
    t = (b * s - f) / c
    if abs(t) > 1.0:
        t = bounded(t)
        s = bounded((b * t + e) / a)
    return s, t


class CapsuleContact(contracts.Contact):
    """Contact between a sphere or capsule on body 1 and one on body 2: Hertz, Coulomb friction that sticks.

    Law: that of `Contact`, with the depth x = radius1 + radius2 - d of the two capsules in each other, d the
    distance of their segments, and 1 / R = 1 / radius1 + 1 / radius2.

    Frames and signs
    ----------------
    A capsule consists of all points nearer than its radius to a segment, which goes from `center - half_axis`
    to `center + half_axis` in the frame of its body. A half axis of (0, 0, 0) gives a sphere. The forces act
    in the middle of the overlap.

    Limits
    ------
    As for `Contact`. R is that of spheres, so the depth of capsules that touch with their sides is not that
    of Hertz for cylinders. Parallel capsules touch in one point, so they do not keep each other parallel. If
    the segments intersect, the computation stops with an error.

    Parameters
    ----------
    body1, body2 : body
    center_on_body1, center_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
    half_axis_on_body1, half_axis_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
    radius1, radius2 : float, m, > 0

    Energy
    ------
    As for `Contact`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapter 4. C. Ericson, "Real-Time Collision Detection" (2005),
    section 5.1.9 (closest points of segments).

    Examples
    --------
    >>> CapsuleContact(body1="one", body2="two", radius1=0.1, radius2=0.1, stiffness="1 GPa").radius1
    0.1
    """

    known_as = ("sphere_sphere_contact", "ball_contact")
    tried_with: ClassVar[Mapping[str, Any]] = {"radius1": 0.2, "radius2": 0.2}

    center_on_body1 = point_parameter("centre, in the frame of body 1")
    center_on_body2 = point_parameter("centre, in the frame of body 2")
    half_axis_on_body1 = point_parameter("from the centre to the end of the segment; 0 for a sphere")
    half_axis_on_body2 = point_parameter("from the centre to the end of the segment; 0 for a sphere")
    radius1 = cosim.parameter(unit="m", above=0.0, description="radius of the first")
    radius2 = cosim.parameter(unit="m", above=0.0, description="radius of the second")

    @cosim.kernel
    def place(
        X_GB1, X_GB2, center_on_body1, center_on_body2, half_axis_on_body1, half_axis_on_body2, radius1,
        radius2, depth, curvature_radius, normal, point,
    ):  # fmt: skip
        p1 = station(X_GB1, center_on_body1)
        p2 = station(X_GB2, center_on_body2)
        d1 = rotate(X_GB1, half_axis_on_body1)
        d2 = rotate(X_GB2, half_axis_on_body2)
        s, t = closest_places(p1, d1, p2, d2)
        near = plus(p1, scaled(s, d1))
        between = minus(plus(p2, scaled(t, d2)), near)
        distance = norm(between)
        if distance == 0.0:
            raise ValueError("the centres of the contact meet, so it has no direction: keep the bodies apart")
        x = radius1 + radius2 - distance
        depth[0] = x
        curvature_radius[0] = radius1 * radius2 / (radius1 + radius2)
        for i in range(3):
            normal[i] = between[i] / distance
            point[i] = near[i] + (radius1 - 0.5 * x) * between[i] / distance
