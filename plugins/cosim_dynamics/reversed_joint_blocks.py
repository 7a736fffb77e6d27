"""Joints whose child is on the side of Ground: F and M are exchanged for the tree.

The joint says where M is in F; the tree asks where F is in M. With R = R_FM and p = p_FM: X_MF = X_FM^-1; a
motion (w, v) of M in F is one of F in M with the angular velocity -R^T w and the velocity R^T (w x p - v) of
F's origin; the time derivatives of these at constant u are the velocity terms.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, rows_of
from cosim_dynamics.cached_vectors import (
    column_at,
    pose_at,
    put_column,
    put_pose,
    put_spatial,
    real_at,
    spatial_at,
)
from cosim_dynamics.spatial_vectors import joined
from cosim_mechanics.spatial import (
    angular,
    cross,
    inverse,
    linear,
    minus,
    plus,
    position,
    rotate_inverse,
    scaled,
)


class ReversedJoint(Record):
    """A joint that the tree sees from its other end: slots in the cache, unless it says otherwise."""

    speeds: int  # how many
    u: int  # in y
    X_FM: int  # the joint's own
    H_FM: int
    HDotU_FM: int
    X_MF: int  # what the tree sees
    H_MF: int
    HDotU_MF: int


def reversed_pose_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Compute X_MF and H_MF of joints whose child is the inner body, from X_FM and H_FM."""
    for joint in rows_of(ReversedJoint, ints, first, count):
        X_FM = pose_at(c, joint.X_FM)
        put_pose(c, joint.X_MF, inverse(X_FM))
        for i in range(joint.speeds):
            H = column_at(c, joint.H_FM, i)
            w = scaled(-1.0, rotate_inverse(X_FM, angular(H)))
            v = rotate_inverse(X_FM, minus(cross(angular(H), position(X_FM)), linear(H)))
            put_column(c, joint.H_MF, i, joined(w, v))


def reversed_velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Compute (dH_MF/dt) u of joints whose child is the inner body."""
    for joint in rows_of(ReversedJoint, ints, first, count):
        X_FM = pose_at(c, joint.X_FM)
        w = (0.0, 0.0, 0.0)
        v = (0.0, 0.0, 0.0)
        for i in range(joint.speeds):
            u = real_at(y, joint.u + i)
            H = column_at(c, joint.H_FM, i)
            w = plus(w, scaled(u, angular(H)))
            v = plus(v, scaled(u, linear(H)))
        HDotU_FM = spatial_at(c, joint.HDotU_FM)
        moving = minus(scaled(2.0, v), cross(w, position(X_FM)))
        change = plus(minus(cross(angular(HDotU_FM), position(X_FM)), linear(HDotU_FM)), cross(w, moving))
        turned = scaled(-1.0, rotate_inverse(X_FM, angular(HDotU_FM)))
        put_spatial(c, joint.HDotU_MF, joined(turned, rotate_inverse(X_FM, change)))
