"""Surfaces from files, by trimesh."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim

MOST_TRIANGLES = 20_000
LARGEST_FILE = 256 * 2**20
"""Bytes."""
ENDINGS = (".stl", ".obj", ".ply", ".glb", ".gltf", ".dae")


class Mesh(NamedTuple):
    """Corners, shape (n, 3), and triangles of them, shape (m, 3)."""

    points: NDArray[np.float64]
    triangles: NDArray[np.int64]


def read_mesh(path: Path, user: str) -> Mesh:
    """The surface of a file with at most `MOST_TRIANGLES` triangles; the rest as of `read_surface`."""
    return thinned(read_surface(path, user), MOST_TRIANGLES)


def read_surface(path: Path, user: str) -> Mesh:
    """The surface of a file.

    Parameters
    ----------
    path : Path
    user : str
        The part that needs it: messages begin with its name.

    Raises
    ------
    CosimError
        trimesh is not installed, or the file cannot be read, has no triangles or numbers that are not finite.
    """
    if path.suffix.lower() not in ENDINGS:
        raise cosim.CosimError(f"{user}.file: {path} ends in none of {', '.join(ENDINGS)}")
    try:
        import trimesh
    except ImportError:
        text = f"{user}: surfaces from files need trimesh: pip install 'cosim-framework[meshes]'"
        raise cosim.CosimError(text) from None
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise cosim.CosimError(f"{user}.file: {path} is larger than {LARGEST_FILE // 2**20} MiB")
        loaded = trimesh.load_mesh(path, process=False)
        whole: Any = loaded.to_mesh() if isinstance(loaded, trimesh.Scene) else loaded
        points, triangles = np.array(whole.vertices, float), np.array(whole.faces, np.int64)
    except OSError as error:
        raise cosim.CosimError(f"{user}.file: {path}: {error.strerror or error}") from None
    except cosim.CosimError:
        raise
    except Exception as error:  # whatever a reader of files raises is a fault of the file
        raise cosim.CosimError(f"{user}.file: {path} cannot be read: {error}") from None
    if not len(triangles) or not np.isfinite(points).all() or triangles.max() >= len(points):
        raise cosim.CosimError(f"{user}.file: {path} has no triangles with finite corners")
    return Mesh(points, triangles)


def thinned(mesh: Mesh, most: int) -> Mesh:
    """A mesh of at most so many triangles.

    Corners in one cell of a grid are merged, and the cells grow until few enough triangles are left. Corners
    at the same place are always merged; triangles without area are left out.

    >>> corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    >>> square = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    >>> len(thinned(square, 2).triangles), len(thinned(square, 1).triangles) <= 1
    (2, True)
    """
    low, size = mesh.points.min(axis=0), float(np.ptp(mesh.points, axis=0).max()) or 1.0
    cells = 2.0**20
    while True:
        keys = np.rint((mesh.points - low) / size * cells).astype(np.int64)
        _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        triangles = np.asarray(number).reshape(-1)[mesh.triangles]
        a, b, c = triangles.T
        triangles = triangles[(a != b) & (b != c) & (a != c)]
        if len(triangles) <= most or cells < 2.0:
            return Mesh(mesh.points[first], triangles[:most])
        cells *= 0.5 if cells > 1024 else 0.8


def normals_of(mesh: Mesh) -> NDArray[np.float64]:
    """A unit normal for each triangle, shape (m, 3)."""
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.where(length > 0.0, length, 1.0)
