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
        A rigid motion of everything, turning included, changes nothing but the directions.
    PASSIVE
        Its power never exceeds what it has stored: dissipation >= 0.
    ZERO_AT_REST_POSE
        In the pose that `ForceElement.rest_pose` names, without motion, it exerts no force.
    SYMMETRIC
        Exchanging the bodies, with everything that is fixed on them, exchanges the forces.

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
