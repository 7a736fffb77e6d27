"""The force that the motion of a body takes, and its acceleration, for both ways of solving."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import (
    position_at,
    put_spatial,
    real_at,
    rotation_at,
    spatial_at,
    vector_at,
)
from cosim_dynamics.inertias import Ten, rigid_inertia, turned_inertia
from cosim_dynamics.spatial_vectors import Six, Three, joined, plus6
from cosim_mechanics.spatial import (
    angular,
    cross,
    inertia_times,
    linear,
    minus,
    moved,
    plus,
    rotate,
    scaled,
)


def bias_force(c: Any, p: Any, link: Any) -> tuple[Ten, Six]:
    """The spatial force that a body's motion at u_dot = 0 takes, less the force applied to it.

    Returns
    -------
    inertia : tuple of ten reals
        The body's spatial inertia about the tree's reference point, in Ground's axes.
    force : tuple of six reals
    """
    arm = minus(position_at(c, link.body.X_GB), vector_at(c, link.reference))
    mass, center, I = placed_inertia(c, p, link)
    V = spatial_at(c, link.body.V)
    w = angular(V)
    v_C = plus(linear(V), cross(w, center))
    bias = spatial_at(c, link.body.bias)
    b = angular(bias)
    a_C = plus(plus(linear(bias), cross(b, center)), cross(w, v_C))
    needed = scaled(mass, a_C)
    moment = plus(inertia_times(I, b), plus(cross(w, inertia_times(I, w)), cross(center, needed)))
    F_GB = spatial_at(c, link.F_GB)
    moment = minus(minus(moment, angular(F_GB)), cross(arm, linear(F_GB)))
    return rigid_inertia(mass, center, I), joined(moment, minus(needed, linear(F_GB)))


def placed_inertia(c: Any, p: Any, link: Any) -> tuple[float, Three, Six]:
    """A body's mass, centre of mass from the reference point, and inertia about that in Ground's axes."""
    R = rotation_at(c, link.body.X_GB)
    arm = minus(position_at(c, link.body.X_GB), vector_at(c, link.reference))
    center = plus(arm, rotate(R, vector_at(p, link.center_of_mass)))
    return real_at(p, link.mass), center, turned_inertia(R, spatial_at(p, link.inertia))


def write_acceleration(c: Any, link: Any, change: Any) -> None:
    """A_GB from what u_dot adds and the bias: from a point at rest to the moving body origin."""
    arm = minus(position_at(c, link.body.X_GB), vector_at(c, link.reference))
    A = moved(plus6(change, spatial_at(c, link.body.bias)), arm)
    V_GB = spatial_at(c, link.V_GB)
    put_spatial(c, link.free_A_GB, joined(angular(A), plus(linear(A), cross(angular(V_GB), linear(V_GB)))))
