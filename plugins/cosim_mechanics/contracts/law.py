"""Claims of an element about its forces, which the contract kit tests."""

from __future__ import annotations

from enum import Flag, auto


class Law(Flag):
    """Laws that a force element declares; combine them with ``|``.

    Attributes
    ----------
    INTERNAL
        The forces on the two bodies are equal and opposite about any common point.
    FRAME_INDIFFERENT
        A rigid motion of both bodies, with rotation, changes only the directions of the forces.
    PASSIVE
        It supplies no more energy than it has stored: dissipation >= 0.
    ZERO_AT_REST_POSE
        It exerts no force in the pose `ForceElement.rest_pose` without motion.
    SYMMETRIC
        If the bodies are exchanged, with everything that is fixed on them, the forces are exchanged.

    Examples
    --------
    >>> Law.PASSIVE in (Law.INTERNAL | Law.PASSIVE)
    True
    """

    NONE = 0
    INTERNAL = auto()
    FRAME_INDIFFERENT = auto()
    PASSIVE = auto()
    ZERO_AT_REST_POSE = auto()
    SYMMETRIC = auto()
