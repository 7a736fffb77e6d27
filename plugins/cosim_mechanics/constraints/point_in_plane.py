"""A point that stays in a plane."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import minus, point_parameter, rotate, station


class PointInPlane(contracts.Constraint):
    """Keeps a point of one body in a plane of another.

    Law: n·(p2 - p1) = 0, with the normal n and the point p1 of the plane fixed on body1.

    Parameters
    ----------
    body1, body2 : body
        The one with the plane and the one with the point.
    normal : array_like, shape (3,)
        Of the plane, in the frame of body1; its length does not matter.
    point1, point2 : array_like, shape (3,), m, default the bodies' origins
        A point of the plane, and the one that stays in it.

    References
    ----------
    Simbody 3.7, ``Constraint::PointInPlane``.

    Examples
    --------
    >>> PointInPlane(body1="ground", body2="puck", normal=(0, 0, 2)).normal.tolist()
    [0.0, 0.0, 1.0]
    """

    body1 = contracts.body(description="carries the plane")
    body2 = contracts.body(description="carries the point")
    normal = direction_parameter("of the plane, in the frame of body1")
    point1 = point_parameter("of the plane, on body1")
    point2 = point_parameter("in the frame of body2")

    def create_constraint_equations(self, s):
        return [along(self, s, self.normal)]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, normal, point1, point2, position_error):
        r = minus(station(X_GB2, point2), station(X_GB1, point1))
        n = rotate(X_GB1, normal)
        position_error[0] = n[0] * r[0] + n[1] * r[1] + n[2] * r[2]


def along(constraint, s, axis):
    """The second derivative of n·(p2 - p1), with n = R_GB1 axis fixed on body1."""
    body1, body2 = constraint.body1, constraint.body2
    n, w = s.rotation(body1) @ axis, s.angular_velocity(body1)
    r = s.position(body2, constraint.point2) - s.position(body1, constraint.point1)
    v = s.velocity(body2, constraint.point2) - s.velocity(body1, constraint.point1)
    a = s.point_acceleration(body2, constraint.point2) - s.point_acceleration(body1, constraint.point1)
    n_dot = s.cross(w, n)
    turning = s.angular_acceleration(body1).dot(s.cross(n, r))
    return a.dot(n) + turning + 2.0 * (n_dot @ v) + s.cross(w, n_dot) @ r
