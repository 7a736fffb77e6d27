"""Two frames that coincide."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import NO_POSE, is_pose, minus, pose_parameter, station


def axes_product(X1, frame1, i, X2, frame2, j):
    """The scalar product of axis i of a frame on the one body and axis j of one on the other."""
    result = 0.0
    for row in range(3):
        a = X1[3 * row] * frame1[i] + X1[3 * row + 1] * frame1[3 + i] + X1[3 * row + 2] * frame1[6 + i]
        b = X2[3 * row] * frame2[j] + X2[3 * row + 1] * frame2[3 + j] + X2[3 * row + 2] * frame2[6 + j]
        result += a * b
    return result


class WeldConstraint(contracts.Constraint):
    """Holds a frame of one body at a frame of another; closes loops where a weld is meant.

    Law: with the axes x1 … z1 and x2 … z2 of the two frames, y2·z1 = z2·x1 = x2·y1 = 0, and the origins
    coincide.

    Limits
    ------
    The three angles say which way the axes are perpendicular, not which way they point: frames that are half
    a turn apart meet them as well. Assembly starts where the model does, so start it nearer than that.

    Parameters
    ----------
    body1, body2 : body
    frame1, frame2 : pose, default the bodies' own frames

    References
    ----------
    Simbody 3.7, ``Constraint::Weld``.

    Examples
    --------
    >>> WeldConstraint(body1="ground", body2="frame").equations
    6
    """

    equations = 6

    body1 = contracts.body(description="carries the first frame")
    body2 = contracts.body(description="carries the second frame")
    frame1 = pose_parameter("pose of the first frame on body1")
    frame2 = pose_parameter("pose of the second frame on body2")

    def create_constraint_equations(self, s):
        R1 = s.rotation(self.body1) @ self.frame1[:9].reshape(3, 3)
        R2 = s.rotation(self.body2) @ self.frame2[:9].reshape(3, 3)
        equations = [angle_equation(self, s, R1[:, 2 - i], R2[:, j]) for i, j in ((0, 1), (2, 2), (1, 0))]
        a = s.point_acceleration(self.body2, self.frame2[9:])
        a = a - s.point_acceleration(self.body1, self.frame1[9:])
        return [*equations, a.x, a.y, a.z]

    @cosim.kernel(refuses=[NO_POSE])
    def frames(frame1, frame2):
        return 0.0 if is_pose(frame1) and is_pose(frame2) else 1.0

    @cosim.kernel
    def position_error(X_GB1, X_GB2, frame1, frame2, position_error):
        position_error[0] = axes_product(X_GB1, frame1, 2, X_GB2, frame2, 1)
        position_error[1] = axes_product(X_GB1, frame1, 0, X_GB2, frame2, 2)
        position_error[2] = axes_product(X_GB1, frame1, 1, X_GB2, frame2, 0)
        p1 = station(X_GB1, (frame1[9], frame1[10], frame1[11]))
        p2 = station(X_GB2, (frame2[9], frame2[10], frame2[11]))
        r = minus(p2, p1)
        for i in range(3):
            position_error[3 + i] = r[i]


def angle_equation(constraint, s, e1, e2):
    """The second derivative of e1·e2, for vectors fixed on body1 and body2, in Ground."""
    w1, w2 = s.angular_velocity(constraint.body1), s.angular_velocity(constraint.body2)
    alpha = s.angular_acceleration(constraint.body2) - s.angular_acceleration(constraint.body1)
    v1, v2 = s.cross(w1, e1), s.cross(w2, e2)
    bias = s.cross(w1, v1) @ e2 + 2.0 * (v1 @ v2) + e1 @ s.cross(w2, v2)
    return alpha.dot(s.cross(e2, e1)) + bias
