"""Frames and their angles in machine code: the formulas of the mechanics plugin, lowered."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def frame_functions() -> dict[str, tuple[Callable[..., Any], str]]:
    """Plain functions and signatures by name, as `Program.functions` lists them.

    ``lowered_frame_angles(pose, angles, t)`` writes the body-fixed x-y-z angles (three, rad) of a frame
    (twelve reals), ``lowered_turned_frame`` the frame from them; its position stays. ``t`` is not used.

    Examples
    --------
    >>> frame_angles, _ = frame_functions()["lowered_frame_angles"]
    >>> angles = [0.0] * 3
    >>> frame_angles((0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), angles, 0.0), angles[2]
    (0, 1.5707963267948966)
    """
    spatial: Any = importlib.import_module("cosim_mechanics.spatial")  # which a model with frames brings
    angles_123, pose_from_angles = spatial.angles_123, spatial.pose_from_angles

    def frame_angles(pose, angles, t):
        computed = angles_123(pose)
        for i in range(3):
            angles[i] = computed[i]
        return 0

    def turned_frame(pose, angles, t):
        turned = pose_from_angles((angles[0], angles[1], angles[2]), (pose[9], pose[10], pose[11]))
        for i in range(12):
            pose[i] = turned[i]
        return 0

    signature = "FFf>i"
    return {
        "lowered_frame_angles": (frame_angles, signature),
        "lowered_turned_frame": (turned_frame, signature),
    }
