"""What both ways of solving need of each body, in kernel functions."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import Ten, Three, times, turned_inertia
from cosim_dynamics.offsets import nine, offset, six, three, write6
from cosim_mechanics.spatial import cross, minus, plus, rotate, scaled

#: Columns of a body's row that the blocks of the acceleration stage begin with: index of the parent (negative
#: under Ground), slots, degrees of freedom.
PARENT, REFERENCE, X_GB, F_GB, MASS, CENTER, INERTIA, FIRST_DOF, DOFS = range(9)


def missing_force(c: Any, p: Any, ints: Any, row: int, velocity: int, bias: int) -> tuple[Ten, Three, Three]:
    """The spatial force that the body's motion at u_dot = 0 takes, less the force applied to it.

    Parameters
    ----------
    row : int
        Where the body's row starts in `ints`.
    velocity, bias : int
        Where its velocity and its bias acceleration (about the tree's reference point) lie in the cache.

    Returns
    -------
    tuple of ten reals
        Mass, centre of mass from the reference point, inertia (Ixx Iyy Izz Ixy Ixz Iyz) about it, in Ground's
        axes.
    moment, force : tuples of three reals
        About the reference point.
    """
    pose = offset(ints[row + X_GB])
    R = nine(c, pose)
    arm = minus(three(c, pose + 9), three(c, offset(ints[row + REFERENCE])))
    center = plus(arm, rotate(R, three(p, offset(ints[row + CENTER]))))
    mass = p[offset(ints[row + MASS])]
    I = turned_inertia(R, six(p, offset(ints[row + INERTIA])))
    w = three(c, velocity)
    v_C = plus(three(c, velocity + 3), cross(w, center))
    b = three(c, bias)
    a_C = plus(plus(three(c, bias + 3), cross(b, center)), cross(w, v_C))
    needed = scaled(mass, a_C)
    moment = plus(times(I, b), plus(cross(w, times(I, w)), cross(center, needed)))
    at = offset(ints[row + F_GB])
    applied = three(c, at + 3)
    moment = minus(minus(moment, three(c, at)), cross(arm, applied))
    terms = (mass, center[0], center[1], center[2], I[0], I[1], I[2], I[3], I[4], I[5])
    return terms, moment, minus(needed, applied)


def put_acceleration(
    c: Any, w: Three, v: Three, bias: int, reference: int, pose: int, velocity: int, acceleration: int
) -> None:
    """Write A_GB from what u_dot adds (w, v) and the bias: from a point at rest to the moving body origin."""
    alpha = plus(w, three(c, bias))
    a = plus(v, three(c, bias + 3))
    arm = minus(three(c, pose + 9), three(c, reference))
    a = plus(plus(a, cross(alpha, arm)), cross(three(c, velocity), three(c, velocity + 3)))
    write6(c, acceleration, alpha, a)
