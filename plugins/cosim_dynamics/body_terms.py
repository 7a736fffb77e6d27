"""What both ways of solving need of each body, in kernel functions."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import Three, times, turned_inertia
from cosim_mechanics.spatial import cross, minus, plus, put6, rotate, scaled

#: Columns of a body's row that the blocks of the acceleration stage begin with: index of the parent (negative
#: under Ground), slots, degrees of freedom.
PARENT, REFERENCE, X_GB, F_GB, MASS, CENTER, INERTIA, FIRST_DOF, DOFS = range(9)

Ten = tuple[float, float, float, float, float, float, float, float, float, float]


def put_missing_force(c: Any, p: Any, ints: Any, row: int, velocity: int, bias: int, force: int) -> Ten:
    """Write the spatial force that the body's motion at u_dot = 0 takes, less the force applied to it.

    Parameters
    ----------
    row : int
        Where the body's row starts in `ints`.
    velocity, bias, force : int
        Where its velocity, its bias acceleration and the result (all about the tree's reference point) lie in
        the cache.

    Returns
    -------
    tuple of ten reals
        Mass, centre of mass from the reference point, inertia (Ixx Iyy Izz Ixy Ixz Iyz) about it, in Ground's
        axes.
    """
    pose = ints[row + X_GB]
    R = c[pose : pose + 9]
    reference = ints[row + REFERENCE]
    arm = minus(c[pose + 9 : pose + 12], c[reference : reference + 3])
    at = ints[row + CENTER]
    center = plus(arm, rotate(R, p[at : at + 3]))
    mass = p[ints[row + MASS]]
    at = ints[row + INERTIA]
    I = turned_inertia(R, p[at : at + 6])
    w = c[velocity : velocity + 3]
    v_C = plus(c[velocity + 3 : velocity + 6], cross(w, center))
    b = c[bias : bias + 3]
    a_C = plus(plus(c[bias + 3 : bias + 6], cross(b, center)), cross(w, v_C))
    needed = scaled(mass, a_C)
    moment = plus(times(I, b), plus(cross(w, times(I, w)), cross(center, needed)))
    at = ints[row + F_GB]
    applied = c[at + 3 : at + 6]
    moment = minus(minus(moment, c[at : at + 3]), cross(arm, applied))
    put6(c[force : force + 6], moment, minus(needed, applied))
    return (mass, center[0], center[1], center[2], I[0], I[1], I[2], I[3], I[4], I[5])


def put_acceleration(
    c: Any, w: Three, v: Three, bias: int, reference: int, pose: int, velocity: int, acceleration: int
) -> None:
    """Write A_GB from what u_dot adds (w, v) and the bias: from a point at rest to the moving body origin."""
    alpha = plus(w, c[bias : bias + 3])
    a = plus(v, c[bias + 3 : bias + 6])
    arm = minus(c[pose + 9 : pose + 12], c[reference : reference + 3])
    a = plus(plus(a, cross(alpha, arm)), cross(c[velocity : velocity + 3], c[velocity + 3 : velocity + 6]))
    put6(c[acceleration : acceleration + 6], alpha, a)
