"""Planar joint: motion in a plane."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_parameter, put12


class Planar(contracts.Joint):
    """Lets the child move in F's x-y plane and turn about z.

    Law: q = (angle about z, x, y), the position of M's origin in F; q_dot = u; V_FM = (0, 0, u0; u1, u2, 0).

    Limits
    ------
    None.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM; z is normal to the plane.
    q : array_like, shape (3,), [rad, m, m], start values
    u : array_like, shape (3,), [rad/s, m/s, m/s], start values

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Planar``.

    Examples
    --------
    >>> Planar.nq, Planar.nu
    (3, 3)
    """

    frame_on_parent = pose_parameter("X_PF, pose of F on the parent; z is normal to the plane")
    q = cosim.position(
        unit=["rad", "m", "m"],
        shape=3,
        description="angle about z, then x and y of M's origin in F",
        elements=("angle", "x", "y"),
    )
    u = cosim.speed(
        unit=["rad/s", "m/s", "m/s"], shape=3, description="rates of q", elements=("angle", "x", "y")
    )

    axes = (2, 3, 4)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        s = math.sin(q[0])
        c = math.cos(q[0])
        put12(X_FM, (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, q[1], q[2], 0.0))
        clear(H_FM, 18)
        H_FM[2] = 1.0
        H_FM[9] = 1.0
        H_FM[16] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        for i in range(3):
            q_dot[i] = u[i]
        clear(HDotU_FM, 6)
