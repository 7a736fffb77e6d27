"""The angles of a frame, which an FMU shows in place of its rotation matrix."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

POSE_SIZE = 12
"""The numbers of a frame: a rotation matrix and a position."""


def angle_of(pose: Sequence[float], index: int) -> float:
    """An angle of a frame, rad, from its twelve reals.

    Examples
    --------
    >>> angle_of((0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), 2)
    1.5707963267948966
    """
    return float(_spatial().angles_123(pose)[index])


def with_angles(pose: Sequence[float], angles: Mapping[int, float]) -> list[float]:
    """A frame with some of its angles (rad) replaced; the other angles and the position stay."""
    spatial = _spatial()
    all_angles = [angles.get(i, angle) for i, angle in enumerate(spatial.angles_123(pose))]
    return [*spatial.pose_from_angles(all_angles, pose[9:])]


def _spatial() -> Any:
    """The module of frames, imported by name: so an FMU without frames does not contain mechanics."""
    return importlib.import_module("cosim_mechanics.spatial")
