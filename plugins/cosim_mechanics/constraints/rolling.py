"""The base of rolling constraints."""

from __future__ import annotations

from typing import Any

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import cross, perpendicular, point_parameter


class Rolling(contracts.Constraint):
    """Base of bodies that roll on a plane of another without slipping and without leaving it; not registered.

    A subclass says what its `body2` is, with `point2` at its centre and a `radius`.
    """

    equations = 3
    level = ("position", "velocity", "velocity")

    body1 = contracts.body(description="carries the plane")
    normal = direction_parameter("on body1", (0, 0, 1))
    point1 = point_parameter("of the plane, on body1")
    across = cosim.cache_slot(shape=6, description="two directions of the plane, in the frame of body1")

    @cosim.kernel
    def directions(normal, across):
        x = perpendicular(normal)
        y = cross((normal[0], normal[1], normal[2]), x)
        for i in range(3):
            across[i] = x[i]
            across[3 + i] = y[i]


def rolling(constraint: Any, s: Any, n: Any, m: Any, m_dot: Any) -> list[Any]:
    """The time derivative of the velocity of the touching point, along the normal and along the plane.

    Parameters
    ----------
    constraint : Constraint
        With body1, body2, point2, radius and across.
    s : what its equations are made of
    n : array, shape (3,)
        Normal of the plane in Ground.
    m, m_dot : array, shape (3,)
        Direction from the touching point to the centre, in Ground, and its rate.
    """
    body1, body2, R = constraint.body1, constraint.body2, constraint.radius
    w1, w2 = s.angular_velocity(body1), s.angular_velocity(body2)
    v1, v2 = s.velocity(body1, (0.0, 0.0, 0.0)), s.velocity(body2, constraint.point2)
    arm = s.position(body2, constraint.point2) - R * m - s.origin(body1)
    v = v2 - R * s.cross(w2, m) - v1 - s.cross(w1, arm)
    a = s.point_acceleration(body2, constraint.point2) - s.origin_acceleration(body1)
    a = a - s.angular_acceleration(body2).cross(R * m) - s.angular_acceleration(body1).cross(arm)
    a = a - R * s.cross(w2, m_dot) - s.cross(w1, v2 - R * m_dot - v1)
    axes = [n, *(s.rotation(body1) @ s.slot("across", 3 * i, 3) for i in range(2))]
    return [a.dot(e) + s.cross(w1, e) @ v for e in axes]
