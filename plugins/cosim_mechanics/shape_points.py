"""Points and triangles of shapes: corners of boxes, ends of capsules, hulls of meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_mechanics.spatial import pose


def box_corners(size: Any, radius: float, frame: Any = (0.0, 0.0, 0.0)) -> list[tuple[float, float, float]]:
    """Centres of the rounded corners of a box, in the frame of its body.

    Parameters
    ----------
    size : array_like, shape (3,), m
        Lengths of the edges, the rounding included.
    radius : float, m
        Of corners and edges, at most half the shortest edge.
    frame : pose
        Of the box on its body; its origin is the middle of the box.

    Examples
    --------
    >>> box_corners((2, 2, 2), 0.25)[0]
    (-0.75, -0.75, -0.75)
    """
    half = 0.5 * np.asarray(size, dtype=float) - radius
    if half.shape != (3,):
        raise cosim.ModelError.of(
            "size", f"size has shape {half.shape}, needs (3,): the lengths of three edges"
        )
    if not (radius > 0.0 and np.all(half >= 0.0)):
        raise cosim.ModelError.of(
            "radius", f"radius is {radius} m, needs more than 0 and at most half the shortest edge"
        )
    signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return _placed([half * sign for sign in signs], frame)


def capsule_ends(half_axis: Any, frame: Any = (0.0, 0.0, 0.0)) -> list[tuple[float, float, float]]:
    """The ends of the segment of a capsule, in the frame of its body.

    Examples
    --------
    >>> capsule_ends((0, 0, 0.5))
    [(0.0, 0.0, -0.5), (0.0, 0.0, 0.5)]
    """
    axis = np.asarray(half_axis, dtype=float)
    if axis.shape != (3,):
        raise cosim.ModelError.of("half_axis", f"half_axis has shape {axis.shape}, needs (3,)")
    return _placed([-axis, axis], frame)


def hull_vertices(vertices: Any, frame: Any = (0.0, 0.0, 0.0)) -> list[tuple[float, float, float]]:
    """The vertices of the convex hull of points, in the frame of the body.

    Inner points of a mesh touch no plane, so they are left out.

    Examples
    --------
    >>> len(hull_vertices([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)]))
    4
    """
    points, hull = _hull(vertices)
    return _placed(list(points[np.sort(hull.vertices)]), frame)


def hull_triangles(vertices: Any, frame: Any = (0.0, 0.0, 0.0)) -> NDArray[np.float64]:
    """The triangles of the convex hull of points, in the frame of the body, for ``mechanics.mesh_contact``.

    Shape (n, 9): three corners each, which go round against the clock as seen from outside.

    Examples
    --------
    >>> hull_triangles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).shape
    (4, 9)
    """
    points, hull = _hull(vertices)
    corners = points[hull.simplices]
    inward = np.einsum(
        "ij,ij->i",
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        hull.equations[:, :3],
    )
    corners[inward < 0.0] = corners[inward < 0.0][:, ::-1]
    return np.array(_placed(list(corners.reshape(-1, 3)), frame)).reshape(-1, 9)


def _hull(vertices: Any) -> tuple[NDArray[np.float64], Any]:
    """Points as an array, and their convex hull."""
    from scipy.spatial import ConvexHull, QhullError

    points = np.asarray(vertices, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise cosim.ModelError.of("vertices", f"vertices have shape {points.shape}, need (n, 3)")
    try:
        return points, ConvexHull(points)
    except QhullError:
        raise cosim.ModelError.of("vertices", "the vertices lie in a plane, or are fewer than 4") from None


def _placed(points: Sequence[Any], frame: Any) -> list[tuple[float, float, float]]:
    """Points of a frame on a body, in the body's frame."""
    placement = pose(frame)
    rotation, origin = np.reshape(placement[:9], (3, 3)), np.asarray(placement[9:])
    return [tuple((origin + rotation @ point).tolist()) for point in points]
