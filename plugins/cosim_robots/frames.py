"""Frames as robot files write them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cosim_mechanics.spatial import cross, norm, scaled

Reals = tuple[float, ...]

ROUNDING = 1e-10
"""Of second moments, relative to the largest."""


def pose_from_rpy(position: Reals, rpy: Reals) -> Reals:
    """The pose of a frame turned by roll, pitch and yaw about the fixed axes x, y, z: R = Rz Ry Rx.

    >>> pose_from_rpy((1.0, 2.0, 3.0), (0.0, 0.0, 0.0))
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0)
    """
    (sr, sp, sy), (cr, cp, cy) = ([f(angle) for angle in rpy] for f in (math.sin, math.cos))
    rotation = (
        *(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        *(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        *(-sp, cp * sr, cp * cr),
    )
    return (*(x + 0.0 for x in rotation), *position)


def pose_along(axis: Reals, kind: str) -> Reals:
    """A pose at the origin whose z axis (of a slider: x axis) points along an axis.

    Axes along x, y, z give exact permutations.

    >>> pose_along((0.0, 0.0, 1.0), "pin") == pose_from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    True
    """
    unit = scaled(1.0 / norm(axis), axis)
    least = min(range(3), key=lambda i: abs(unit[i]))
    across = tuple(float(i == least) - unit[least] * unit[i] for i in range(3))
    first = scaled(1.0 / norm(across), across)
    second = cross(unit, first)
    columns = (unit, first, second) if kind == "slider" else (first, second, unit)
    return (*(columns[j][i] + 0.0 for i in range(3) for j in range(3)), 0.0, 0.0, 0.0)


def rotation_to(vector: NDArray[np.float64], scalar: float) -> Reals:
    """The rotation, by rows, of a quaternion of length 1.

    >>> rotation_to(np.array((0.0, 0.0, 1.0)), 0.0)
    (-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0)
    """
    x, y, z = map(float, vector)
    w = float(scalar)
    rows = (
        *(w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        *(2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)),
        *(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return tuple(value + 0.0 for value in rows)


def rotation_onto(direction: NDArray[np.float64]) -> Reals:
    """The least rotation, by rows, that brings the z axis into a direction; about x where that is -z.

    >>> rotation_onto(np.array((0.0, 0.0, 2.0)))
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    """
    unit = direction / np.linalg.norm(direction)
    axis = np.array((-unit[1], unit[0], 0.0))
    size = float(np.linalg.norm(axis))
    axis = axis / size if size > 1e-10 else np.array((1.0, 0.0, 0.0))
    half = 0.5 * math.atan2(size, float(unit[2]))
    return rotation_to(axis * math.sin(half), math.cos(half))


def matrix_of(inertia: Reals) -> NDArray[np.float64]:
    """The matrix of six elements xx yy zz xy xz yz."""
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def elements_of(matrix: NDArray[np.float64]) -> Reals:
    """The six elements xx yy zz xy xz yz of a matrix."""
    return tuple(float(matrix[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def turned_inertia(pose: Reals, inertia: Reals) -> Reals:
    """An inertia in the axes of a frame B, in those of A instead, X_AB given; as it is where they agree."""
    if pose[:9] == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0):
        return inertia
    rotation = np.array(pose[:9]).reshape(3, 3)
    return elements_of(rotation @ matrix_of(inertia) @ rotation.T)


def is_possible(inertia: Reals) -> bool:
    """Whether some body has this inertia: (tr I / 2) 1 - I has no negative eigenvalue.

    That matrix has the second moments of mass. Rounding is allowed.

    >>> is_possible((1.0, 1.0, 2.0, 0.0, 0.0, 0.0)), is_possible((1.0, 1.0, 2.1, 0.0, 0.0, 0.0))
    (True, False)
    """
    matrix = matrix_of(inertia)
    moments = np.linalg.eigvalsh(0.5 * np.trace(matrix) * np.eye(3) - matrix)
    return bool(moments[0] >= -ROUNDING * np.abs(moments).max())
