"""Spatial velocities and forces: six reals, the angular part first, about a point that the name says."""

from __future__ import annotations

from cosim_mechanics.spatial._poses import position
from cosim_mechanics.spatial._types import Reals, Slot, Spatial, Vector
from cosim_mechanics.spatial._vectors import cross, minus, plus


def angular(V: Reals) -> Vector:
    """The angular part: angular velocity w, rad/s, or moment, N.m.

    >>> angular((1, 2, 3, 4, 5, 6))
    (1, 2, 3)
    """
    return (V[0], V[1], V[2])


def linear(V: Reals) -> Vector:
    """The linear part: velocity of the point, m/s, or force, N.

    >>> linear((1, 2, 3, 4, 5, 6))
    (4, 5, 6)
    """
    return (V[3], V[4], V[5])


def point_velocity(V_GB: Reals, X_GB: Reals, p_GS: Reals) -> Vector:
    """Velocity in Ground of the point of body B that is now at p_GS.

    v_GS = v_GB + w_GB x (p_GS - p_GB), expressed in Ground, m/s.

    Parameters
    ----------
    V_GB : six reals
        Spatial velocity of B about its origin, in Ground.
    X_GB : twelve reals
    p_GS : three reals
        The point, from Ground's origin, in Ground, m.

    Examples
    --------
    >>> point_velocity((0, 0, 1, 0, 0, 0), (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0), (2, 0, 0))
    (0, 2, 0)
    """
    return plus(linear(V_GB), cross(angular(V_GB), minus(p_GS, position(X_GB))))


def moved(V: Reals, r: Reals) -> Spatial:
    """The velocity of the same rigid body about another point: (w, v + w x r).

    Parameters
    ----------
    V : six reals
    r : three reals
        From the old point to the new one, in the frame in which V is expressed.

    Examples
    --------
    >>> moved((0, 0, 1, 0, 0, 0), (2, 0, 0))
    (0, 0, 1, 0, 2, 0)
    """
    w = angular(V)
    v = plus(linear(V), cross(w, r))
    return (w[0], w[1], w[2], v[0], v[1], v[2])


def add_force_at(F_GB: Slot, X_GB: Reals, p_GS: Reals, f_G: Reals) -> None:
    """Add a force on body B with its line of action through p_GS to the body's accumulator.

    Parameters
    ----------
    F_GB : six reals, added to
        Moment about B's origin, then force, in Ground.
    X_GB : twelve reals
    p_GS : three reals
        A point on the line of action, from Ground's origin, in Ground, m.
    f_G : three reals
        The force, in Ground, N.
    """
    m = cross(minus(p_GS, position(X_GB)), f_G)
    F_GB[0] += m[0]
    F_GB[1] += m[1]
    F_GB[2] += m[2]
    F_GB[3] += f_G[0]
    F_GB[4] += f_G[1]
    F_GB[5] += f_G[2]


def add_torque(F_GB: Slot, m_G: Reals) -> None:
    """Add a free moment, in Ground, N.m, to a body's accumulator."""
    F_GB[0] += m_G[0]
    F_GB[1] += m_G[1]
    F_GB[2] += m_G[2]


def add_spatial_force(F_GB: Slot, X_GB: Reals, p_GS: Reals, F_GS: Reals) -> None:
    """Add a spatial force that acts about the point p_GS to the accumulator of body B.

    Parameters
    ----------
    F_GB : six reals, added to
    X_GB : twelve reals
    p_GS : three reals
        From Ground's origin, in Ground, m.
    F_GS : six reals
        Moment about p_GS, N.m, then force, N, in Ground.
    """
    add_torque(F_GB, angular(F_GS))
    add_force_at(F_GB, X_GB, p_GS, linear(F_GS))
