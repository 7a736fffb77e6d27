"""Pin joint: rotation about one axis."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_parameter, put6, put12


class Pin(contracts.Joint):
    """Lets the child turn about the common z axis of F and M.

    Law: q is the angle from F's x axis to M's x axis, positive about +z; q_dot = u; V_FM = (0, 0, u; 0, 0,
    0).

    Limits
    ------
    None: the angle goes on past a full turn.

    Parameters
    ----------
    parent, child : body
    frame_on_parent : pose, default identity
        X_PF, the pose of F on the parent: its z axis is the hinge.
    frame_on_child : pose, default identity
        X_BM, the pose of M on the child.
    q : float, rad, start value of the angle
    u : float, rad/s, start value of its rate

    Signals
    -------
    ``angle`` (rad) and ``rate`` (rad/s).

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Pin``.

    Examples
    --------
    >>> Pin(parent="ground", child="arm", frame_on_parent=(0, 0, 1), q=0.3).q.tolist()
    [0.3]
    """

    known_as = ("revolute", "hinge")

    frame_on_parent = pose_parameter("X_PF, pose of F on the parent; z is the hinge")
    q = cosim.position(unit="rad", shape=1, description="angle from F's x axis to M's, about z")
    u = cosim.speed(unit="rad/s", shape=1, description="rate of the angle")

    signals = {
        "angle": ("q", 0, "rad", "angle that {part} is turned by"),
        "rate": ("u", 0, "rad/s", "rate of {part}'s angle"),
    }

    axes = (2,)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        s = math.sin(q[0])
        c = math.cos(q[0])
        put12(X_FM, (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
        put6(H_FM, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        clear(HDotU_FM, 6)
