"""Universal joint: two rotations about crossing axes."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_from_angles, put3, put12


class Universal(contracts.Joint):
    """Lets the child turn about F's x axis, then about the y axis that has turned with it.

    Law: R_FM = Rx(q0) Ry(q1); q_dot = u.

    Limits
    ------
    No singular pose. A cardan joint of two shafts has its cross here: the shafts are F's x axis and M's y
    axis.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.
    q : array_like, shape (2,), rad, start values of the angles
    u : array_like, shape (2,), rad/s, start values of their rates

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Universal``.

    Examples
    --------
    >>> Universal.nq, Universal.nu
    (2, 2)
    """

    known_as = ("cardan",)

    q = cosim.position(unit="rad", shape=2, description="angle about F's x axis, then about the new y axis")
    u = cosim.speed(unit="rad/s", shape=2, description="rates of the angles")

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles((q[0], q[1], 0.0), (0.0, 0.0, 0.0)))
        clear(H_FM, 12)
        H_FM[0] = 1.0
        H_FM[7] = math.cos(q[0])
        H_FM[8] = math.sin(q[0])

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        q_dot[1] = u[1]
        clear(HDotU_FM, 6)
        put3(HDotU_FM, (0.0, -u[0] * u[1] * math.sin(q[0]), u[0] * u[1] * math.cos(q[0])))
