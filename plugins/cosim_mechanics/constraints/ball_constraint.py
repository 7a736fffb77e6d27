"""Two points that coincide."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import minus, point_parameter, station


class BallConstraint(contracts.Constraint):
    """Holds a point of one body at a point of another; closes loops where a ball joint is meant.

    Law: p2 - p1 = 0, in Ground.

    Parameters
    ----------
    body1, body2 : body
    point1, point2 : array_like, shape (3,), m, default the bodies' origins

    References
    ----------
    Simbody 3.7, ``Constraint::Ball``.

    Examples
    --------
    >>> BallConstraint(body1="ground", body2="coupler", point1=(1, 0, 0)).point1.tolist()
    [1.0, 0.0, 0.0]
    """

    equations = 3

    body1 = contracts.body(description="carries the first point")
    body2 = contracts.body(description="carries the second point")
    point1 = point_parameter("in the frame of body1")
    point2 = point_parameter("in the frame of body2")

    def create_constraint_equations(self, s):
        a = s.point_acceleration(self.body2, self.point2) - s.point_acceleration(self.body1, self.point1)
        return [a.x, a.y, a.z]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, point1, point2, position_error):
        r = minus(station(X_GB2, point2), station(X_GB1, point1))
        for i in range(3):
            position_error[i] = r[i]
