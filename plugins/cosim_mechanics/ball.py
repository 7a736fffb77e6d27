"""Ball joint: three rotations."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_from_quaternion, put12, quaternion_rates


class Ball(contracts.Joint):
    """Lets the child turn freely about the common origin of F and M.

    Law: q = (w, x, y, z) is a quaternion for R_FM, u = w_FM in F; the quaternion's derivative is half its
    product with w_FM.

    Limits
    ------
    No singular pose. The quaternion is used divided by its length; one that is zero is refused.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM.
    q : array_like, shape (4,), start value, default (1, 0, 0, 0)
    u : array_like, shape (3,), rad/s, start value
        Angular velocity of M in F, in F.

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Ball`` in quaternion mode.

    Examples
    --------
    >>> Ball(parent="ground", child="head").q.tolist()
    [1.0, 0.0, 0.0, 0.0]
    """

    known_as = ("spherical",)

    q = cosim.position(
        shape=4, start=(1.0, 0.0, 0.0, 0.0), description="quaternion (w, x, y, z) of M in F", elements="wxyz"
    )
    u = cosim.speed(unit="rad/s", shape=3, description="angular velocity of M in F, in F", elements="xyz")

    quaternions = (0,)
    axes = (0, 1, 2)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_quaternion(q, (0.0, 0.0, 0.0)))
        clear(H_FM, 18)
        for i in range(3):
            H_FM[7 * i] = 1.0

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        r = quaternion_rates(q, u)
        for i in range(4):
            q_dot[i] = r[i]
        clear(HDotU_FM, 6)
