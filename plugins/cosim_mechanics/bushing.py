"""Bushing joint: six degrees of freedom with Euler angles."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.gimbal_lock import NOTICE, gimbal_lock
from cosim_mechanics.spatial import (
    ABOUT_AND_ALONG,
    angle_axes_123,
    angle_axes_rate_123,
    clear,
    pose_from_angles,
    put3,
    put12,
)


class Bushing(contracts.Joint):
    """Lets the child move freely, with three angles and three positions as coordinates.

    Law: q = (qx, qy, qz, p_FM) with R_FM = Rx(qx) Ry(qy) Rz(qz), body-fixed x-y-z angles, and p_FM in F;
    q_dot = u. These are the coordinates of `LinearBushing`, which is a force element: here they are the
    state, so the angles can pass pi and go on.

    Limits
    ------
    Singular where the middle angle is +-pi/2. Use a free joint for rotations through that angle.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.
    q : array_like, shape (6,), ["rad"]*3 + ["m"]*3, start values
    u : array_like, shape (6,), ["rad/s"]*3 + ["m/s"]*3, start values

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Bushing``.

    Examples
    --------
    >>> Bushing.nq, Bushing.nu
    (6, 6)
    """

    q = cosim.position(
        unit=["rad"] * 3 + ["m"] * 3,
        shape=6,
        description="body-fixed x-y-z angles of M in F, then p_FM in F",
        elements=ABOUT_AND_ALONG,
    )
    u = cosim.speed(
        unit=["rad/s"] * 3 + ["m/s"] * 3, shape=6, description="rates of q", elements=ABOUT_AND_ALONG
    )

    locked = cosim.cache_slot(notice=NOTICE, description="1 near gimbal lock")

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles(q, (q[3], q[4], q[5])))
        clear(H_FM, 36)
        axes = angle_axes_123(q)
        for j in range(3):
            for i in range(3):
                H_FM[6 * j + i] = axes[3 * j + i]
            H_FM[7 * (3 + j)] = 1.0

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        for i in range(6):
            q_dot[i] = u[i]
        clear(HDotU_FM, 6)
        put3(HDotU_FM, angle_axes_rate_123(q, u))

    @cosim.kernel
    def watch(q, locked):
        locked[0] = gimbal_lock(q)
