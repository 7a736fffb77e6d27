"""Gimbal joint: three rotations as Euler angles."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.gimbal_lock import NOTICE, gimbal_lock
from cosim_mechanics.spatial import (
    angle_axes_123,
    angle_axes_rate_123,
    clear,
    pose_from_angles,
    put3,
    put12,
)


class Gimbal(contracts.Joint):
    """Lets the child turn freely about the common origin of F and M, with three angles as coordinates.

    Law: R_FM = Rx(q0) Ry(q1) Rz(q2), body-fixed x-y-z angles; q_dot = u.

    Limits
    ------
    Singular where the middle angle is +-pi/2: the first and the third axis coincide there and the mass matrix
    is singular. Use a ball joint for rotations through that angle. The angles go on past a full turn.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.
    q : array_like, shape (3,), rad, start values of the angles
    u : array_like, shape (3,), rad/s, start values of their rates

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Gimbal``.

    Examples
    --------
    >>> Gimbal.nq, Gimbal.nu
    (3, 3)
    """

    q = cosim.position(unit="rad", shape=3, description="body-fixed x-y-z angles of M in F", elements="xyz")
    u = cosim.speed(unit="rad/s", shape=3, description="rates of the angles", elements="xyz")

    locked = cosim.cache_slot(notice=NOTICE, description="1 near gimbal lock")

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles(q, (0.0, 0.0, 0.0)))
        clear(H_FM, 18)
        axes = angle_axes_123(q)
        for j in range(3):
            for i in range(3):
                H_FM[6 * j + i] = axes[3 * j + i]

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        for i in range(3):
            q_dot[i] = u[i]
        clear(HDotU_FM, 6)
        put3(HDotU_FM, angle_axes_rate_123(q, u))

    @cosim.kernel
    def watch(q, locked):
        locked[0] = gimbal_lock(q)
