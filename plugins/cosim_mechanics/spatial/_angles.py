"""Body-fixed x-y-z Euler angles (Simbody's 1-2-3): R_FM = Rx(a0) Ry(a1) Rz(a2)."""

from __future__ import annotations

import math

from cosim_mechanics.spatial._types import Angles, Pose, Reals, Rotation, Vector

#: Below this cosine of the middle angle the other two angles cannot be told apart (four machine epsilons).
SINGULAR_COSINE = 4 * 2.220446049250313e-16


def pose_from_angles(angles: Reals, p_FM: Reals) -> Pose:
    """X_FM from body-fixed x-y-z angles, rad, and the position of M's origin in F, m.

    >>> pose_from_angles((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    (1.0, -0.0, 0.0, 0.0, 1.0, -0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
    """
    s0 = math.sin(angles[0])
    c0 = math.cos(angles[0])
    s1 = math.sin(angles[1])
    c1 = math.cos(angles[1])
    s2 = math.sin(angles[2])
    c2 = math.cos(angles[2])
    return (
        c1 * c2, -c1 * s2, s1,
        c0 * s2 + s0 * s1 * c2, c0 * c2 - s0 * s1 * s2, -s0 * c1,
        s0 * s2 - c0 * s1 * c2, s0 * c2 + c0 * s1 * s2, c0 * c1,
        p_FM[0], p_FM[1], p_FM[2],
    )  # fmt: skip


def angles_123(X_FM: Reals) -> Angles:
    """Body-fixed x-y-z Euler angles of a rotation, rad.

    Limits
    ------
    The ranges are [-pi, pi], [-pi/2, pi/2], [-pi, pi]; angles do not wrap on. Where the middle angle is
    +-pi/2 (its cosine at most four machine epsilons) only the sum or the difference of the others is
    defined: the third one is set to zero.

    Parameters
    ----------
    X_FM : twelve reals, or nine: the position is not used

    References
    ----------
    Simbody 3.7, ``Rotation::convertThreeAxesBodyFixedRotationToThreeAngles``.

    Examples
    --------
    >>> [round(a, 12) for a in angles_123(pose_from_angles((0.1, -0.2, 3.0), (0.0, 0.0, 0.0)))]
    [0.1, -0.2, 3.0]
    """
    x2 = X_FM[2]
    # From all four elements that carry it, so that no single rounding error decides near the singularity.
    c1 = math.sqrt(0.5 * (X_FM[0] * X_FM[0] + X_FM[1] * X_FM[1] + X_FM[5] * X_FM[5] + X_FM[8] * X_FM[8]))
    a1 = math.atan2(x2, c1)
    if c1 > SINGULAR_COSINE:
        return (math.atan2(-X_FM[5], X_FM[8]), a1, math.atan2(-X_FM[1], X_FM[0]))
    if x2 > 0.0:
        return (math.atan2(X_FM[3] + X_FM[7], X_FM[4] - X_FM[6]), a1, 0.0)
    return (math.atan2(X_FM[7] - X_FM[3], X_FM[4] + X_FM[6]), a1, 0.0)


def angle_rates_123(angles: Reals, w_FM: Reals) -> Vector:
    """Time derivatives of the body-fixed x-y-z angles, rad/s.

    Limits
    ------
    Grows without bound like 1/cos(a1) as the middle angle nears +-pi/2; nothing is cut off.

    Parameters
    ----------
    angles : three reals, rad
    w_FM : three reals
        Angular velocity of M in F, expressed in F, rad/s.

    Examples
    --------
    >>> angle_rates_123((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    (1.0, 2.0, 3.0)
    """
    s0 = math.sin(angles[0])
    c0 = math.cos(angles[0])
    r2 = (w_FM[2] * c0 - w_FM[1] * s0) / math.cos(angles[1])
    return (w_FM[0] - r2 * math.sin(angles[1]), w_FM[1] * c0 + w_FM[2] * s0, r2)


def angular_velocity_123(angles: Reals, rates: Reals) -> Vector:
    """w_FM, expressed in F, rad/s, from the angles and their rates: the inverse of `angle_rates_123`.

    >>> angular_velocity_123((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    (1.0, 2.0, 3.0)
    """
    s0 = math.sin(angles[0])
    c0 = math.cos(angles[0])
    b = math.cos(angles[1]) * rates[2]
    return (rates[0] + math.sin(angles[1]) * rates[2], c0 * rates[1] - s0 * b, s0 * rates[1] + c0 * b)


def moment_123(angles: Reals, f: Reals) -> Vector:
    """The moment on M, expressed in F, N.m, that does the same work as forces on the three angles.

    The moments f act about three axes that are not orthogonal, so they are no vector. The vector m has
    m . w_FM = f . rates for every motion.

    Limits
    ------
    Grows without bound like 1/cos(a1) as the middle angle nears +-pi/2.

    Parameters
    ----------
    angles : three reals, rad
    f : three reals, N.m
        Generalized forces on the angles.

    Examples
    --------
    >>> moment_123((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    (1.0, 2.0, 3.0)
    """
    s0 = math.sin(angles[0])
    c0 = math.cos(angles[0])
    g = (f[2] - math.sin(angles[1]) * f[0]) / math.cos(angles[1])
    return (f[0], c0 * f[1] - s0 * g, s0 * f[1] + c0 * g)


def angle_axes_123(angles: Reals) -> Rotation:
    """The three axes, in F, about which the body-fixed x-y-z angles turn: w_FM = sum of axis_i rate_i.

    Nine reals, one axis after the other.

    >>> angle_axes_123((0.0, 0.0, 0.0))
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -0.0, 1.0)
    """
    s0 = math.sin(angles[0])
    c0 = math.cos(angles[0])
    c1 = math.cos(angles[1])
    return (1.0, 0.0, 0.0, 0.0, c0, s0, math.sin(angles[1]), -s0 * c1, c0 * c1)


def angle_axes_rate_123(angles: Reals, rates: Reals) -> Vector:
    """The angular acceleration of M in F that comes from axes that turn.

    Sum of d(axis_i)/dt rate_i, the derivative taken in F; expressed in F, rad/s2.

    >>> angle_axes_rate_123((0.0, 0.0, 0.0), (2.0, 3.0, 0.0))
    (0.0, -0.0, 6.0)
    """
    s0 = math.sin(angles[0])
    c0 = math.cos(angles[0])
    s1 = math.sin(angles[1])
    c1 = math.cos(angles[1])
    r0 = rates[0]
    r1 = rates[1]
    r2 = rates[2]
    return (
        r2 * c1 * r1,
        -r1 * s0 * r0 + r2 * (s0 * s1 * r1 - c0 * c1 * r0),
        r1 * c0 * r0 - r2 * (s0 * c1 * r0 + c0 * s1 * r1),
    )
