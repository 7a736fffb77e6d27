"""A sphere that rolls on a plane."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.constraints.rolling import Rolling, rolling
from cosim_mechanics.spatial import minus, point_parameter, rotate, station


class RollingBall(Rolling):
    """Lets a sphere roll on a plane without slipping and without leaving it.

    Law: n·(p2 - p1) = radius, and the point of the sphere that touches has no velocity along the plane. The
    first holds positions; the other two hold speeds and are non-holonomic. Multipliers: along the normal n,
    then along two directions of the plane.

    Limits
    ------
    The contact pulls as well as it pushes.

    Parameters
    ----------
    body1, body2 : body
        The one with the plane, and the sphere.
    normal : array_like, shape (3,), default (0, 0, 1)
        Of the plane, toward the sphere, in the frame of body1.
    point1, point2 : array_like, shape (3,), m, default the bodies' origins
        A point of the plane; the centre of the sphere.
    radius : float, m

    References
    ----------
    A.M. Bloch, Nonholonomic Mechanics and Control.

    Examples
    --------
    >>> RollingBall(body1="ground", body2="ball", radius=0.1).equations
    3
    """

    body2 = contracts.body(description="carries the sphere")
    point2 = point_parameter("centre of the sphere, on body2")
    radius = cosim.parameter(unit="m", above=0.0, description="of the sphere")

    def create_constraint_equations(self, s):
        n = s.rotation(self.body1) @ self.normal
        return rolling(self, s, n, n, s.cross(s.angular_velocity(self.body1), n))

    @cosim.kernel
    def position_error(X_GB1, X_GB2, normal, point1, point2, radius, position_error):
        r = minus(station(X_GB2, point2), station(X_GB1, point1))
        n = rotate(X_GB1, normal)
        position_error[0] = n[0] * r[0] + n[1] * r[1] + n[2] * r[2] - radius
        position_error[1] = 0.0
        position_error[2] = 0.0
