"""Two directions that keep their angle."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.constraints.weld_constraint import angle_equation
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import rotate


class ConstantAngle(contracts.Constraint):
    """Keeps the angle between a direction of one body and a direction of another.

    Law: e1·e2 = cos(angle).

    Limits
    ------
    Near 0 and pi the cosine hardly changes, so the equation holds the angle ever less; at these two it fails.

    Parameters
    ----------
    body1, body2 : body
    axis1, axis2 : array_like, shape (3,)
        The directions, in the frames of the bodies.
    angle : float, rad, 0 < angle < pi, default pi/2

    References
    ----------
    Simbody 3.7, ``Constraint::ConstantAngle``.

    Examples
    --------
    >>> ConstantAngle(body1="a", body2="b", axis1=(1, 0, 0), axis2=(0, 1, 0)).equations
    1
    """

    body1 = contracts.body(description="carries the first direction")
    body2 = contracts.body(description="carries the second direction")
    axis1 = direction_parameter("in the frame of body1")
    axis2 = direction_parameter("in the frame of body2")
    angle = cosim.parameter(
        unit="rad", default=math.pi / 2, minimum=1e-6, maximum=math.pi - 1e-6, description="between the two"
    )

    def create_constraint_equations(self, s):
        e1, e2 = s.rotation(self.body1) @ self.axis1, s.rotation(self.body2) @ self.axis2
        return [angle_equation(self, s, e1, e2)]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, axis1, axis2, angle, position_error):
        a = rotate(X_GB1, axis1)
        b = rotate(X_GB2, axis2)
        position_error[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - math.cos(angle)
