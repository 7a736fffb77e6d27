"""Free joint: six degrees of freedom."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import (
    ABOUT_AND_ALONG,
    clear,
    pose_from_quaternion,
    put12,
    quaternion_rates,
)


class Free(contracts.Joint):
    """Lets the child move freely: three rotations and three translations.

    Law: q = (w, x, y, z, p_FM) with a quaternion for R_FM; u = (w_FM, v_FM) in F, so V_FM = u. The
    quaternion's derivative is half its product with w_FM; that of p_FM is v_FM.

    Limits
    ------
    No singular pose. The quaternion is used divided by its length, which an integrator lets drift by
    its own error only; a quaternion that is zero is refused.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.
    q : array_like, shape (7,), start value
        Quaternion, default (1, 0, 0, 0), then the position of M's origin in F, m.
    u : array_like, shape (6,), start value
        Angular velocity, rad/s, then velocity of M's origin, m/s, both in F.

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Free`` in quaternion mode.

    Examples
    --------
    >>> Free(parent="ground", child="engine").q.tolist()
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    known_as = ("floating", "sixdof")

    q = cosim.position(
        unit=["1"] * 4 + ["m"] * 3,
        shape=7,
        start=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        description="quaternion (w, x, y, z) of M in F, then the position of M's origin in F",
        elements=("w", "x", "y", "z", "position along x", "position along y", "position along z"),
    )
    u = cosim.speed(
        unit=["rad/s"] * 3 + ["m/s"] * 3,
        shape=6,
        description="angular velocity of M in F, then that of its origin, in F",
        elements=ABOUT_AND_ALONG,
    )

    quaternions = (0,)
    axes = (0, 1, 2, 3, 4, 5)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_quaternion(q, (q[4], q[5], q[6])))
        clear(H_FM, 36)
        for i in range(6):
            H_FM[7 * i] = 1.0

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        r = quaternion_rates(q, u)
        for i in range(4):
            q_dot[i] = r[i]
        for i in range(3):
            q_dot[4 + i] = u[3 + i]
        clear(HDotU_FM, 6)
