"""Cylinder joint: rotation about an axis and translation along it."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import clear, pose_parameter, put12


class Cylinder(contracts.Joint):
    """Lets the child turn about the common z axis of F and M and slide along it.

    Law: q = (angle about z, position along z); q_dot = u; V_FM = (0, 0, u0; 0, 0, u1).

    Limits
    ------
    None: there are no stops.

    Parameters
    ----------
    parent, child : body
    frame_on_parent, frame_on_child : pose, default identity
        X_PF and X_BM; z is the axis.
    q : array_like, shape (2,), [rad, m], start values
    u : array_like, shape (2,), [rad/s, m/s], start values

    References
    ----------
    Simbody 3.7, ``MobilizedBody::Cylinder``.

    Examples
    --------
    >>> Cylinder.nq, Cylinder.nu
    (2, 2)
    """

    known_as = ("cylindrical",)

    frame_on_parent = pose_parameter("X_PF, pose of F on the parent; z is the axis")
    q = cosim.position(unit=["rad", "m"], shape=2, description="angle about z, then position along z")
    u = cosim.speed(unit=["rad/s", "m/s"], shape=2, description="rates of q")

    axes = (2, 5)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        s = math.sin(q[0])
        c = math.cos(q[0])
        put12(X_FM, (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, q[1]))
        clear(H_FM, 12)
        H_FM[2] = 1.0
        H_FM[11] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        q_dot[1] = u[1]
        clear(HDotU_FM, 6)
