"""Positions in which three body-fixed x-y-z angles fail as coordinates of a joint; for kernel functions."""

from __future__ import annotations

import math

from cosim_mechanics.spatial import Reals

#: Cosine of the middle angle below which a joint reports itself: 1 degree from gimbal lock.
NEARLY_LOCKED = 0.0174524064372835

NOTICE = (
    "gimbal lock: the middle angle is within 1 degree of +-90 degrees, where the first and the third axis "
    "coincide and the angles cannot follow every rotation. Use a ball or free joint, or turn the frames"
)


def gimbal_lock(angles: Reals) -> float:
    """1.0 near gimbal lock, else 0.0; at gimbal lock itself the mass matrix is singular.

    Examples
    --------
    >>> gimbal_lock((0.0, 1.5, 0.0)), gimbal_lock((0.0, 1.57, 0.0))
    (0.0, 1.0)
    """
    return 1.0 if abs(math.cos(angles[1])) < NEARLY_LOCKED else 0.0
