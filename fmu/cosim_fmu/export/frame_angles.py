"""Frames as people give them: position and body-fixed x-y-z angles, in place of a rotation matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def angle_of(pose: Sequence[float], index: int) -> float:
    """An angle of a frame, rad, from its twelve reals.

    Examples
    --------
    >>> angle_of((0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), 2)
    1.5707963267948966
    """
    from cosim_mechanics.spatial import angles_123

    return float(angles_123(pose)[index])


def turned(pose: Sequence[float], angles: Mapping[int, float]) -> list[float]:
    """A frame with some of its angles replaced, rad; the others and the position stay."""
    from cosim_mechanics.spatial import angles_123, pose_from_angles

    now = [angles.get(i, angle) for i, angle in enumerate(angles_123(pose))]
    return [*pose_from_angles(now, pose[9:])]
