"""The mass properties of a closed surface with even density."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Solid(NamedTuple):
    """Volume, m3, its middle, m, and its inertia about that for a density of 1, shape (3, 3), m5."""

    volume: float
    center: Array
    inertia: Array


def solid_of(points: Array, triangles: NDArray[np.int64], are_signed: bool) -> Solid | None:
    """The solid inside of triangles; None for one without volume.

    Law: it is made of pyramids over the triangles with a common tip, first in the middle of the surface, then
    in the middle of the volume. With `are_signed` a pyramid whose triangle looks toward the tip is taken
    away, which is exact for closed surfaces. Otherwise all are added, as MuJoCo does by default ("legacy"):
    exact for surfaces whose triangles all look away from the middle, too heavy for others.

    Parameters
    ----------
    points : ndarray, shape (n, 3), m
    triangles : ndarray, shape (m, 3)
    are_signed : bool

    Examples
    --------
    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> solid = solid_of(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]), True)
    >>> round(6 * solid.volume, 12), solid.center.round(12).tolist()
    (1.0, [0.25, 0.25, 0.25])
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    area = 0.5 * np.linalg.norm(across, axis=1)
    middles = (a + b + c) / 3.0
    if not area.sum() > 0.0:
        return None
    tip = area @ middles / area.sum()

    def volumes(tip: Array) -> Array:
        signed = np.einsum("ij,ij->i", middles - tip, across) / 6.0
        return signed if are_signed else np.abs(signed)

    first = volumes(tip)
    if first.sum() == 0.0:
        return None
    center = first @ (0.75 * middles + 0.25 * tip) / first.sum()
    parts = volumes(center)
    corners = [corner - center for corner in (a, b, c)]
    second = sum(np.einsum("i,ij,ik->jk", parts, x, x) for x in (*corners, sum(corners))) / 20.0
    total = float(parts.sum())
    inertia = np.trace(second) * np.eye(3) - second
    return Solid(abs(total), center, np.sign(total) * inertia)
