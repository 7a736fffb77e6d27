"""A rod without mass between two points."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import minus, point_parameter, station


class Rod(contracts.Constraint):
    """Keeps two points at a constant distance.

    Law: (p2 - p1)^T (p2 - p1) / 2 = length^2 / 2, divided by the length, so that the error is one of length.

    Limits
    ------
    The length is greater than 0; two points at one place are held by `mechanics.ball_constraint`.

    Parameters
    ----------
    body1, body2 : body
    point1, point2 : array_like, shape (3,), m, default the bodies' origins
    length : float, m

    References
    ----------
    Simbody 3.7, ``Constraint::Rod``.

    Examples
    --------
    >>> Rod(body1="a", body2="b", length=2.0).length
    2.0
    """

    known_as = ("distance", "rigid_link")
    body1 = contracts.body(description="carries the first point")
    body2 = contracts.body(description="carries the second point")
    point1 = point_parameter("in the frame of body1")
    point2 = point_parameter("in the frame of body2")
    length = cosim.parameter(unit="m", above=0.0, description="distance of the points")

    def create_constraint_equations(self, s):
        r = s.position(self.body2, self.point2) - s.position(self.body1, self.point1)
        v = s.velocity(self.body2, self.point2) - s.velocity(self.body1, self.point1)
        a = s.point_acceleration(self.body2, self.point2) - s.point_acceleration(self.body1, self.point1)
        return [(a.dot(r) + v @ v) / self.length]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, point1, point2, length, position_error):
        r = minus(station(X_GB2, point2), station(X_GB1, point1))
        r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        position_error[0] = 0.5 * (r2 - length * length) / length
