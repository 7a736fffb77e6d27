"""Angles at which bushings fail, for the kernel functions of both bushings."""

from __future__ import annotations

import math

from cosim_mechanics.spatial import SINGULAR_COSINE, Reals

#: Cosine of the middle angle below which the state is reported: 6 degrees from the singular one.
NEARLY_SINGULAR = 0.1

NOTICE = (
    "the middle rotation angle is within 6 degrees of +-90 degrees, where the moments grow without bound: "
    "turn the frames so that the y rotation stays small"
)


def require_regular(q: Reals) -> None:
    """Refuse the very angle at which moments are not defined.

    >>> require_regular((0.0, 1.5, 0.0))
    """
    if abs(math.cos(q[1])) <= SINGULAR_COSINE:
        raise ValueError(
            "the middle rotation angle of the bushing is +-90 degrees, where its moments are not defined: "
            "turn its frames so that the y rotation stays small, or use a joint for large rotations"
        )


def require_no_flip(before: Reals, after: Reals) -> None:
    """Refuse two successive sets of angles, rad, between which the middle one has passed ±90 degrees.

    Beyond it the same pose has the first and the last angle turned by 180 degrees. A body that passes beside
    the singular position turns them quickly, in many steps; in one step it has leapt over it.

    >>> require_no_flip((0.0, 1.5, 0.0), (0.3, 1.5, 0.3))
    >>> require_no_flip((0.0, 1.56, 0.0), (3.1, 1.56, 3.1))
    Traceback (most recent call last):
    ...
    ValueError: the middle rotation angle of the bushing has passed +-90 degrees within a step. ...
    """
    if abs(after[0] - before[0]) > 0.5 * math.pi and abs(after[2] - before[2]) > 0.5 * math.pi:
        raise ValueError(
            "the middle rotation angle of the bushing has passed +-90 degrees within a step. There the other "
            "two angles jump by 180 degrees, and with them moments and energy: turn its frames so that the y "
            "rotation stays small, or use a joint for large rotations"
        )


def require_no_turn(before: float, after: float) -> None:
    """Refuse two successive values of an angle, rad, between which it has jumped from one end to the other.

    >>> require_no_turn(3.0, 3.1)
    >>> require_no_turn(3.1, -3.1)
    Traceback (most recent call last):
    ...
    ValueError: a rotation angle of the bushing has jumped by 360 degrees within a step, ...
    """
    if abs(after - before) > math.pi:
        raise ValueError(
            "a rotation angle of the bushing has jumped by 360 degrees within a step, and its moment too: "
            "keep rotations below half a turn, or use a bushing joint, whose angles count full turns"
        )
