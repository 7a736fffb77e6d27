"""Slider joint: translation along one axis."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_parameter, put6, put12


class Slider(contracts.Joint):
    """Lets the child slide along the common x axis of F and M, without turning.

    Law: q is the position of M's origin on F's x axis; q_dot = u; V_FM = (0, 0, 0; u, 0, 0).

    Limits
    ------
    None: there are no stops.

    Parameters
    ----------
    parent, child : body
    frame_on_parent : pose, default identity
        X_PF, the pose of F on the parent: its x axis is the direction of sliding.
    frame_on_child : pose, default identity
        X_BM, the pose of M on the child.
    q : float, m, start value of the position
    u : float, m/s, start value of the speed

    Signals
    -------
    ``position`` (m) and ``speed`` (m/s).

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Slider``.

    Examples
    --------
    >>> Slider(parent="ground", child="cart", q="5 cm").q.tolist()
    [0.05]
    """

    known_as = ("prismatic", "translational")

    frame_on_parent = pose_parameter("X_PF, pose of F on the parent; x is the direction of sliding")
    q = cosim.position(unit="m", shape=1, description="position of M's origin on F's x axis")
    u = cosim.speed(unit="m/s", shape=1, description="speed along F's x axis")

    signals = {
        "position": ("q", 0, "m", "how far {part} is displaced"),
        "speed": ("u", 0, "m/s", "rate of {part}'s displacement"),
    }

    axes = (3,)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], 0.0, 0.0))
        put6(H_FM, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        clear(HDotU_FM, 6)
