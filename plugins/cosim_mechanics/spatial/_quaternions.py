"""Quaternions (w, x, y, z), Hamilton's product, R_FM v = q v q*."""

from __future__ import annotations

from cosim_mechanics.spatial._types import Pose, Reals


def pose_from_quaternion(q: Reals, p_FM: Reals) -> Pose:
    """X_FM from a quaternion of any length but zero, and a position, m.

    The quaternion is used as if it were divided by its length, so an integrator may let the length drift.

    Raises
    ------
    ValueError
        When the quaternion is zero, which is not a rotation.

    Examples
    --------
    >>> pose_from_quaternion((2.0, 0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
    """
    w = q[0]
    x = q[1]
    y = q[2]
    z = q[3]
    square = w * w + x * x + y * y + z * z
    if square == 0.0:
        raise ValueError(
            "the quaternion is zero, which is not a rotation: set it to (1, 0, 0, 0) or any other direction"
        )
    n = 2.0 / square
    return (
        1.0 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y),
        n * (x * y + w * z), 1.0 - n * (x * x + z * z), n * (y * z - w * x),
        n * (x * z - w * y), n * (y * z + w * x), 1.0 - n * (x * x + y * y),
        p_FM[0], p_FM[1], p_FM[2],
    )  # fmt: skip


def quaternion_rates(q: Reals, w_FM: Reals) -> tuple[float, float, float, float]:
    """Time derivative of the quaternion for an angular velocity of M in F, expressed in F, rad/s.

    Linear in q, so a quaternion that is not of length one keeps its length.

    >>> quaternion_rates((1.0, 0.0, 0.0, 0.0), (2.0, 4.0, 6.0))
    (-0.0, 1.0, 2.0, 3.0)
    """
    return (
        -0.5 * (q[1] * w_FM[0] + q[2] * w_FM[1] + q[3] * w_FM[2]),
        0.5 * (q[0] * w_FM[0] + q[3] * w_FM[1] - q[2] * w_FM[2]),
        0.5 * (q[0] * w_FM[1] + q[1] * w_FM[2] - q[3] * w_FM[0]),
        0.5 * (q[0] * w_FM[2] + q[2] * w_FM[0] - q[1] * w_FM[1]),
    )
