"""A thin disc that rolls on a plane."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.constraints.rolling import Rolling, rolling
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import minus, point_parameter, rotate, station


class RollingDisc(Rolling):
    """Lets a thin disc roll on a plane with its edge, without slipping and without leaving it.

    Law: with the disc's axis k, its lowest point lies by radius m below the centre, m = (n - (n·k) k) made a
    unit vector; it stays in the plane and has no velocity along it. The first equation holds positions; the
    other two hold speeds and are non-holonomic. Multipliers: along the normal n, then along two directions
    of the plane.

    Limits
    ------
    The contact pulls as well as it pushes. A disc that lies flat has no lowest point: the equations fail.

    Parameters
    ----------
    body1, body2 : body
        The one with the plane, and the disc.
    normal : array_like, shape (3,), default (0, 0, 1)
        Of the plane, toward the disc, in the frame of body1.
    axis : array_like, shape (3,)
        Of the disc, in the frame of body2.
    point1, point2 : array_like, shape (3,), m, default the bodies' origins
        A point of the plane; the centre of the disc.
    radius : float, m

    References
    ----------
    A.M. Bloch, Nonholonomic Mechanics and Control.

    Examples
    --------
    >>> RollingDisc(body1="ground", body2="coin", axis="y", radius=0.1).equations
    3
    """

    body2 = contracts.body(description="carries the disc")
    axis = direction_parameter("of the disc, in the frame of body2")
    point2 = point_parameter("centre of the disc, on body2")
    radius = cosim.parameter(unit="m", above=0.0, description="of the disc")

    def create_constraint_equations(self, s):
        n, k = s.rotation(self.body1) @ self.normal, s.rotation(self.body2) @ self.axis
        n_dot = s.cross(s.angular_velocity(self.body1), n)
        k_dot = s.cross(s.angular_velocity(self.body2), k)
        cosine = n @ k
        cosine_dot = n_dot @ k + n @ k_dot
        length = s.sqrt(1.0 - cosine * cosine)
        m = (n - cosine * k) / length
        m_dot = (n_dot - cosine_dot * k - cosine * k_dot) / length
        m_dot = m_dot + m * (cosine * cosine_dot / (length * length))
        return rolling(self, s, n, m, m_dot)

    @cosim.kernel
    def position_error(X_GB1, X_GB2, normal, axis, point1, point2, radius, position_error):
        r = minus(station(X_GB2, point2), station(X_GB1, point1))
        n = rotate(X_GB1, normal)
        k = rotate(X_GB2, axis)
        cosine = n[0] * k[0] + n[1] * k[1] + n[2] * k[2]
        lowest = radius * math.sqrt(1.0 - cosine * cosine)
        position_error[0] = n[0] * r[0] + n[1] * r[1] + n[2] * r[2] - lowest
        position_error[1] = 0.0
        position_error[2] = 0.0
