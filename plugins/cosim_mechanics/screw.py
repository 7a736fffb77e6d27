"""Screw joint: rotation and translation tied by a pitch."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_parameter, put6, put12


class Screw(contracts.Joint):
    """Lets the child turn about the common z axis of F and M, moving along it in proportion to the angle.

    Law: q is the angle about z; M's origin is at pitch q on F's z axis; q_dot = u; V_FM = (0, 0, u; 0, 0,
    pitch u).

    Limits
    ------
    None. A pitch of zero is a pin.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM; z is the axis.
    pitch : float, m/rad
        Positive for a right-handed thread.
    q : float, rad, start value of the angle
    u : float, rad/s, start value of its rate

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Screw``.

    Examples
    --------
    >>> Screw(parent="ground", child="nut", pitch="2 mm/rad").pitch
    0.002
    """

    frame_on_parent = pose_parameter("X_PF, pose of F on the parent; z is the axis")
    pitch = cosim.parameter(unit="m/rad", description="advance along z per angle about z")
    q = cosim.position(unit="rad", shape=1, description="angle about z")
    u = cosim.speed(unit="rad/s", shape=1, description="rate of the angle")

    signals = {
        "angle": ("q", 0, "rad", "angle that {part} is turned by"),
        "rate": ("u", 0, "rad/s", "rate of {part}'s angle"),
    }

    @cosim.kernel
    def across(q, pitch, X_FM, H_FM):
        s = math.sin(q[0])
        c = math.cos(q[0])
        put12(X_FM, (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, pitch * q[0]))
        put6(H_FM, (0.0, 0.0, 1.0), (0.0, 0.0, pitch))

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        clear(HDotU_FM, 6)
