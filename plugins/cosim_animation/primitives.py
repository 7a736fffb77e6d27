"""Boxes, spheres, cylinders and cones of size 1 as triangles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triangles = tuple[Array, Array]
"""Corners of triangles, three rows each, and their normals."""
Surface = Callable[[Array, Array], Array]
ROUND = 24
"""Flat sides of a round surface; more of them make no visible difference."""


def _grid(place: Surface, normal: Surface, rows: int) -> Triangles:
    """Triangles of a surface over the unit square; `place` and `normal` are functions of u and v in it."""
    u, v = (k.reshape(-1) for k in np.meshgrid(np.arange(ROUND), np.arange(rows), indexing="ij"))
    corners = ((0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1))
    a = np.stack([(u + du) / ROUND for du, _ in corners], axis=1).reshape(-1)
    b = np.stack([(v + dv) / rows for _, dv in corners], axis=1).reshape(-1)
    return place(a, b), normal(a, b)


def box() -> Triangles:
    """A cube with sides of 1."""
    corners, normals = [], []
    for k in range(3):
        for side in (-1.0, 1.0):
            n = side * np.eye(3)[k]
            a, b = np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)):
                corners.append(0.5 * (n + side * s * a + t * b))
                normals.append(n)
    return np.array(corners), np.array(normals)


def sphere() -> Triangles:
    """A sphere of radius 1."""

    def place(u: Array, v: Array) -> Array:
        turn, lift = 2.0 * np.pi * u, np.pi * (v - 0.5)
        return np.column_stack([np.cos(turn) * np.cos(lift), np.sin(turn) * np.cos(lift), np.sin(lift)])

    return _grid(place, place, ROUND // 2)


def around_axis(taper: float) -> Triangles:
    """A cylinder (`taper` 0) or cone (1) of length and radius 1 along z, with its ends."""

    def wall(u: Array, v: Array) -> Array:
        r, turn = 1.0 - taper * v, 2.0 * np.pi * u
        return np.column_stack([r * np.cos(turn), r * np.sin(turn), v - 0.5])

    def outward(u: Array, v: Array) -> Array:
        turn, rise = 2.0 * np.pi * u, np.full_like(u, taper)
        return np.column_stack([np.cos(turn), np.sin(turn), rise]) / np.sqrt(1.0 + taper * taper)

    parts = [_grid(wall, outward, 1)]
    for z in (-0.5,) if taper else (-0.5, 0.5):

        def disc(u: Array, v: Array, z: float = z) -> Array:
            r = v if z > 0.0 else 1.0 - v
            return np.column_stack([r * np.cos(2 * np.pi * u), r * np.sin(2 * np.pi * u), np.full_like(u, z)])

        def level(u: Array, v: Array, z: float = z) -> Array:
            return np.column_stack([0.0 * u, 0.0 * u, np.full_like(u, np.sign(z))])

        parts.append(_grid(disc, level, 1))
    return np.vstack([p for p, _ in parts]), np.vstack([n for _, n in parts])


PRIMITIVES: dict[str, Callable[[], Triangles]] = {
    "box": box,
    "sphere": sphere,
    "cylinder": lambda: around_axis(0.0),
    "cone": lambda: around_axis(1.0),
}
"""Functions that make the surfaces that shapes consist of: size 1, radius 1, along z."""
