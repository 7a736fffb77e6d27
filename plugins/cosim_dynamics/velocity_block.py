"""Velocity stage: velocities of the bodies, and the accelerations they would have if u_dot were zero."""

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
from cosim_dynamics.mechanism import ANY_MOTION, PIVOT, dofs_of, mechanism_at
from cosim_dynamics.spatial_vectors import Six, joined, plus6, scaled6
from cosim_mechanics.spatial import angular, cross, linear, minus, moved, plus, rotate


def velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """For the solver V and the bias of A of each body, about the tree's reference point.

    With S u the joint's motion, V = V_P + S u. The bias is the derivative of that sum at u_dot = 0; a spatial
    acceleration here is the derivative of a spatial velocity about a point at rest.
    """
    mechanism = mechanism_at(ints, first)
    V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # of the link before
    bias = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for link in mechanism.links:
        V_P = V
        bias_P = bias
        if link.has_parent != 0 and link.is_behind_parent == 0:  # else they are at hand
            V_P = spatial_at(c, link.parent.V)
            bias_P = spatial_at(c, link.parent.bias)
        V = joint_velocity(y, c, mechanism, link)
        bias = joint_bias(c, link, V)
        if link.has_parent != 0:
            bias = plus6(bias, change_of_motion(V_P, V))
            V = plus6(V, V_P)
            bias = plus6(bias, bias_P)
        put_spatial(c, link.body.V, V)
        put_spatial(c, link.body.bias, bias)


def joint_velocity(y: Any, c: Any, mechanism: Any, link: Any) -> Six:
    """S u of a joint."""
    dofs = dofs_of(mechanism, link)
    V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if len(dofs) > 0:
        V = scaled6(real_at(y, dofs[0].u), spatial_at(c, dofs[0].S))
        for i in range(1, len(dofs)):
            V = plus6(V, scaled6(real_at(y, dofs[i].u), spatial_at(c, dofs[i].S)))
    return V


def joint_bias(c: Any, link: Any, V: Any) -> Six:
    """(dS/dt) u of a joint with the velocity V = S u, as far as it comes from the motion in F."""
    bias_w = (0.0, 0.0, 0.0)
    bias_v = (0.0, 0.0, 0.0)
    if link.motion != PIVOT:
        # M's origin, about which the joint turns, moves in F.
        w = angular(V)
        origin = vector_at(c, link.origin)
        bias_v = cross(plus(linear(V), cross(w, origin)), w)
        HDotU_FM = spatial_at(c, link.HDotU_FM)
        if link.motion == ANY_MOTION and is_not_zero(HDotU_FM):
            R_GF = rotation_at(c, link.R_GF)
            bias_w = rotate(R_GF, angular(HDotU_FM))
            bias_v = plus(plus(bias_v, rotate(R_GF, linear(HDotU_FM))), cross(origin, bias_w))
    return joined(bias_w, bias_v)


def change_of_motion(V_P: Any, V: Any) -> Six:
    """The rate at which a motion V that is fixed in P changes, while P moves with V_P: V_P x V."""
    w_P = angular(V_P)
    w = angular(V)
    return joined(cross(w_P, w), plus(cross(w_P, linear(V)), cross(linear(V_P), w)))


def body_velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """V_GB, about the body origin: what elements and measures read, the solvers themselves do not."""
    for link in mechanism_at(ints, first).links:
        arm = minus(position_at(c, link.body.X_GB), vector_at(c, link.reference))
        put_spatial(c, link.V_GB, moved(spatial_at(c, link.body.V), arm))


def is_not_zero(V: Any) -> bool:
    """Whether a spatial vector is anything but zero: for most joints (dH_FM/dt) u is not."""
    return not (V[0] == 0.0 and V[1] == 0.0 and V[2] == 0.0 and V[3] == 0.0 and V[4] == 0.0 and V[5] == 0.0)
