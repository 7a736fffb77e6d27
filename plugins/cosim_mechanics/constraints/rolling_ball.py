"""A sphere that rolls on a plane."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.constraints.rolling import rolling
from cosim_mechanics.direction import direction
from cosim_mechanics.spatial import cross, minus, perpendicular, rotate, station


class RollingBall(contracts.Constraint):
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

    equations = 3
    level = ("position", "velocity", "velocity")

    body1 = contracts.body(description="carries the plane")
    body2 = contracts.body(description="carries the sphere")
    normal = cosim.parameter(
        shape=3, default=(0, 0, 1), convert=direction, description="on body1", elements="xyz"
    )
    point1 = cosim.parameter(
        unit="m", shape=3, default=(0, 0, 0), description="of the plane, on body1", elements="xyz"
    )
    point2 = cosim.parameter(
        unit="m", shape=3, default=(0, 0, 0), description="centre of the sphere, on body2", elements="xyz"
    )
    radius = cosim.parameter(unit="m", above=0.0, description="of the sphere")
    across = cosim.cache_slot(shape=6, description="two directions of the plane, in the frame of body1")

    @cosim.kernel
    def directions(normal, across):
        x = perpendicular(normal)
        y = cross((normal[0], normal[1], normal[2]), x)
        for i in range(3):
            across[i] = x[i]
            across[3 + i] = y[i]

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
