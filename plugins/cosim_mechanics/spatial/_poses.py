"""Poses as twelve reals: X_AB = (R_AB by rows, p_AB), the pose of frame B in frame A."""

from __future__ import annotations

from cosim_mechanics.spatial._types import Pose, Reals, Rotation, Vector
from cosim_mechanics.spatial._vectors import cross, dot, minus, plus

#: Frame B coincides with frame A.
IDENTITY: Pose = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def rotation_of(X_AB: Reals) -> Rotation:
    """R_AB, nine reals row by row.

    >>> rotation_of(IDENTITY)
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    """
    return (X_AB[0], X_AB[1], X_AB[2], X_AB[3], X_AB[4], X_AB[5], X_AB[6], X_AB[7], X_AB[8])


def position(X_AB: Reals) -> Vector:
    """p_AB, from A's origin to B's origin, expressed in A, m.

    >>> position(IDENTITY)
    (0.0, 0.0, 0.0)
    """
    return (X_AB[9], X_AB[10], X_AB[11])


def rotate(X_AB: Reals, v_B: Reals) -> Vector:
    """A vector expressed in B, expressed in A instead: R_AB v_B.

    Parameters
    ----------
    X_AB : twelve reals, or nine: the position is not used
    v_B : three reals

    Examples
    --------
    A quarter turn about z takes B's x axis to A's y axis:

    >>> rotate((0, -1, 0, 1, 0, 0, 0, 0, 1), (1, 0, 0))
    (0, 1, 0)
    """
    return (
        X_AB[0] * v_B[0] + X_AB[1] * v_B[1] + X_AB[2] * v_B[2],
        X_AB[3] * v_B[0] + X_AB[4] * v_B[1] + X_AB[5] * v_B[2],
        X_AB[6] * v_B[0] + X_AB[7] * v_B[1] + X_AB[8] * v_B[2],
    )


def rotate_inverse(X_AB: Reals, v_A: Reals) -> Vector:
    """A vector expressed in A, expressed in B instead: R_AB^T v_A.

    >>> rotate_inverse((0, -1, 0, 1, 0, 0, 0, 0, 1), (0, 1, 0))
    (1, 0, 0)
    """
    return (
        X_AB[0] * v_A[0] + X_AB[3] * v_A[1] + X_AB[6] * v_A[2],
        X_AB[1] * v_A[0] + X_AB[4] * v_A[1] + X_AB[7] * v_A[2],
        X_AB[2] * v_A[0] + X_AB[5] * v_A[1] + X_AB[8] * v_A[2],
    )


def station(X_AB: Reals, p_BS: Reals) -> Vector:
    """p_AS of a station S fixed in B, measured from A's origin and expressed in A, m.

    >>> station((0, -1, 0, 1, 0, 0, 0, 0, 1, 5, 0, 0), (1, 0, 0))
    (5, 1, 0)
    """
    return plus(rotate(X_AB, p_BS), position(X_AB))


def compose(X_AB: Reals, X_BC: Reals) -> Pose:
    """X_AC = X_AB X_BC.

    >>> compose(IDENTITY, IDENTITY) == IDENTITY
    True
    """
    x = rotate(X_AB, (X_BC[0], X_BC[3], X_BC[6]))
    y = rotate(X_AB, (X_BC[1], X_BC[4], X_BC[7]))
    z = rotate(X_AB, (X_BC[2], X_BC[5], X_BC[8]))
    p = station(X_AB, position(X_BC))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], p[0], p[1], p[2])


def is_turned(X_AB: Reals) -> bool:
    """Whether the axes of B are not exactly those of A.

    >>> is_turned(IDENTITY), is_turned((0, -1, 0, 1, 0, 0, 0, 0, 1, 5, 0, 0))
    (False, True)
    """
    return not (
        X_AB[0] == 1.0
        and X_AB[4] == 1.0
        and X_AB[8] == 1.0
        and X_AB[1] == 0.0
        and X_AB[2] == 0.0
        and X_AB[3] == 0.0
        and X_AB[5] == 0.0
        and X_AB[6] == 0.0
        and X_AB[7] == 0.0
    )


def compose_shift(X_AB: Reals, X_BC: Reals) -> Pose:
    """X_AC = X_AB X_BC where C is not turned against B (`is_turned`), with less work.

    >>> compose_shift(IDENTITY, IDENTITY) == IDENTITY
    True
    """
    p = station(X_AB, position(X_BC))
    return (X_AB[0], X_AB[1], X_AB[2], X_AB[3], X_AB[4], X_AB[5], X_AB[6], X_AB[7], X_AB[8], p[0], p[1], p[2])


def compose_inverse(X_AB: Reals, X_AC: Reals) -> Pose:
    """X_BC from two poses in the same frame: X_AB^-1 X_AC.

    >>> compose_inverse(IDENTITY, IDENTITY) == IDENTITY
    True
    """
    x = rotate_inverse(X_AB, (X_AC[0], X_AC[3], X_AC[6]))
    y = rotate_inverse(X_AB, (X_AC[1], X_AC[4], X_AC[7]))
    z = rotate_inverse(X_AB, (X_AC[2], X_AC[5], X_AC[8]))
    p = rotate_inverse(X_AB, minus(position(X_AC), position(X_AB)))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], p[0], p[1], p[2])


def inverse(X_AB: Reals) -> Pose:
    """X_BA.

    >>> inverse((1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3))
    (1, 0, 0, 0, 1, 0, 0, 0, 1, -1, -2, -3)
    """
    p = rotate_inverse(X_AB, position(X_AB))
    return (
        X_AB[0], X_AB[3], X_AB[6],
        X_AB[1], X_AB[4], X_AB[7],
        X_AB[2], X_AB[5], X_AB[8],
        -p[0], -p[1], -p[2],
    )  # fmt: skip


NO_POSE = "the rotation matrix of a frame is not orthonormal and right-handed: write all its elements"


def is_pose(X_AB: Reals) -> bool:
    """Whether the first nine of twelve reals are a rotation.

    R_AB^T R_AB is the identity within 1e-6, and R_AB is not left-handed.
    For checks of parameters that may be written one element at a time, where only the whole can be judged.

    Examples
    --------
    >>> is_pose(IDENTITY), is_pose((2.0, *IDENTITY[1:]))
    (True, False)
    """
    x = (X_AB[0], X_AB[3], X_AB[6])
    y = (X_AB[1], X_AB[4], X_AB[7])
    z = (X_AB[2], X_AB[5], X_AB[8])
    error = abs(dot(x, x) - 1.0) + abs(dot(y, y) - 1.0) + abs(dot(z, z) - 1.0)
    error += abs(dot(x, y)) + abs(dot(y, z)) + abs(dot(z, x))
    # NaN is not a pose either
    return error <= 6e-6 and dot(cross(x, y), z) > 0.0
