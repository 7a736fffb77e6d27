"""Position stage: where every body of the tree is, and how it may move."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import (
    axis_at,
    column_at,
    pose_at,
    position_at,
    put_pose,
    put_rotation,
    put_spatial,
    put_vector,
    rotation_at,
    vector_at,
)
from cosim_dynamics.frames_block import composed, joint_frames_at
from cosim_dynamics.mechanism import dofs_of, mechanism_at
from cosim_dynamics.spatial_vectors import Six, joined
from cosim_mechanics.spatial import angular, compose, cross, linear, minus, plus, position, rotate, station


def pose_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """X_GB = X_GP X_PF X_FM X_BM^-1, and each joint's H_FM as motions S of the outer body in Ground.

    A tree under Ground has a reference point of its own, the place where the first joint's M is now: motions
    and forces are taken about it, so that nothing cancels in a mechanism that is far from Ground's origin.
    """
    mechanism = mechanism_at(ints, first)
    for link in mechanism.links:
        frames = joint_frames_at(c, link.frames)
        R_GF = link.R_GF
        if link.has_parent != 0 and link.only_turns != 0 and frames.are_plain != 0.0:
            R_GF = link.parent.X_GB  # which begins with the rotation of F, too
            X_GP = pose_at(c, R_GF)
            R_FM = rotation_at(c, link.X_FM)
            p_M = station(X_GP, position_at(p, link.X_PF))
            put_pose(c, link.body.X_GB, turned_about_z(X_GP, R_FM[0], R_FM[3], p_M))
        else:
            X_GF = pose_at(p, link.X_PF)
            if link.has_parent != 0:
                X_GF = composed(pose_at(c, link.parent.X_GB), X_GF, frames.is_F_turned)
            X_GM = compose(X_GF, pose_at(c, link.X_FM))
            p_M = position(X_GM)
            put_rotation(c, R_GF, X_GF)
            put_pose(c, link.body.X_GB, composed(X_GM, pose_at(c, link.X_MB), frames.is_M_turned))
        if link.has_parent == 0:
            put_vector(c, link.reference, p_M)
        origin = minus(p_M, vector_at(c, link.reference))
        put_vector(c, link.origin, origin)
        for i, dof in enumerate(dofs_of(mechanism, link)):
            if dof.axis >= 0:
                put_spatial(c, dof.S, motion_along_axis(c, R_GF, dof.axis, origin))
            else:
                H_FM = column_at(c, link.H_FM, i)
                put_spatial(c, dof.S, motion_of_column(rotation_at(c, R_GF), H_FM, origin))


def motion_along_axis(c: Any, R_GF: int, axis: int, origin: Any) -> Six:
    """The motion about the reference point along an axis of F: 0 to 2 turn about one, 3 to 5 shift."""
    if axis < 3:
        w = axis_at(c, R_GF, axis)
        return joined(w, cross(origin, w))
    return joined((0.0, 0.0, 0.0), axis_at(c, R_GF, axis - 3))


def motion_of_column(R_GF: Any, H_FM: Any, origin: Any) -> Six:
    """The motion about the reference point by a column of a joint's H_FM."""
    w = rotate(R_GF, angular(H_FM))
    return joined(w, plus(rotate(R_GF, linear(H_FM)), cross(origin, w)))


def turned_about_z(X: Any, cosine: float, sine: float, p: Any) -> Any:
    """The pose with its rotation turned about its own z axis, at another position."""
    return (
        X[0] * cosine + X[1] * sine, X[1] * cosine - X[0] * sine, X[2],
        X[3] * cosine + X[4] * sine, X[4] * cosine - X[3] * sine, X[5],
        X[6] * cosine + X[7] * sine, X[7] * cosine - X[6] * sine, X[8],
        p[0], p[1], p[2],
    )  # fmt: skip
