"""Instance stage: joint frames as the position stage wants them.

Most frames are placed without being turned; a flag for that spares matrix products in every evaluation.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, rows_of
from cosim_dynamics.cached_vectors import pose_at, put_pose
from cosim_dynamics.mechanism import mechanism_at
from cosim_mechanics.spatial import compose, compose_shift, inverse, is_turned


class JointFrames(Record):
    """Properties of the frames of a joint, in the cache; 1.0 means yes."""

    is_F_turned: float  # against its body
    is_M_turned: float
    are_plain: float  # F is not turned, and M is the outer body's own frame


def joint_frames_at(c: Any, slot: int) -> JointFrames:
    """The properties of joint frames at a slot."""
    return rows_of(JointFrames, c, slot, 1)[0]


def frames_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """X_MB = X_BM^-1, and which of the frames are turned against their bodies."""
    for link in mechanism_at(ints, first).links:
        X_MB = inverse(pose_at(p, link.X_BM))
        put_pose(c, link.X_MB, X_MB)
        frames = joint_frames_at(c, link.frames)
        frames.is_F_turned = 1.0 if is_turned(pose_at(p, link.X_PF)) else 0.0
        frames.is_M_turned = 1.0 if is_turned(X_MB) else 0.0
        is_own = frames.is_M_turned == 0.0 and X_MB[9] == 0.0 and X_MB[10] == 0.0 and X_MB[11] == 0.0
        frames.are_plain = 1.0 if is_own and frames.is_F_turned == 0.0 else 0.0


def composed(X_AB: Any, X_BC: Any, turned: float) -> Any:
    """X_AB X_BC; `turned` says whether C is turned against B."""
    return compose(X_AB, X_BC) if turned != 0.0 else compose_shift(X_AB, X_BC)
