"""Default shapes of bodies: a box of their inertia, and rods to their joints and elements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosim_animation.mechanism import Mechanism, name_of

Reals = NDArray[np.float64]

ROD = 0.12
"""Radius of a rod, in typical sizes of a body."""
FLAT = 0.15
"""Least side of a box, in its largest side."""
COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#eeca3b")


def body_color(number: int) -> list[float]:
    """Red, green and blue of a body, by its number."""
    text = COLORS[number % len(COLORS)]
    return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def shape(kind: str, size: Iterable[float], pose: Iterable[float], color: Iterable[float]) -> dict[str, Any]:
    """A shape as the page reads it."""
    return {
        "kind": kind,
        "size": [float(s) for s in size],
        "pose": [float(x) for x in pose],
        "color": [round(float(c), 4) for c in color],
    }


def box_of_inertia(mass: float, center: ArrayLike, inertia: Iterable[float]) -> tuple[Reals, Reals]:
    """Sides and pose of the box of even density with a mass, centre of mass and inertia.

    Sides are 0 where the mass is in a plane, on a line, in a point. They are those of the principal axes.

    >>> sides, pose = box_of_inertia(12.0, (0.0, 0.0, 1.0), (13.0, 10.0, 5.0, 0.0, 0.0, 0.0))
    >>> sorted(sides.round(12).tolist()), pose[9:].tolist()
    ([1.0, 2.0, 3.0], [0.0, 0.0, 1.0])
    """
    xx, yy, zz, xy, xz, yz = (float(element) for element in inertia)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    second, axes = np.linalg.eigh(0.5 * np.trace(matrix) * np.eye(3) - matrix)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    sides = np.sqrt(12.0 * np.maximum(second, 0.0) / mass)
    return sides, np.append(axes.ravel(), center)


def default_shapes(mechanism: Mechanism) -> dict[str, list[dict[str, Any]]]:
    """Default shapes, by the names of the bodies without a look."""
    model = mechanism.model
    dressed = {name_of(look.body) for look in mechanism.looks}
    attachment_points = points_on_bodies(mechanism)
    joint_points = points_on_bodies(mechanism, joints_alone=True)
    boxes = {
        name: box_of_inertia(model[name].mass, model[name].center_of_mass, model[name].inertia)  # type: ignore[attr-defined]
        for name in mechanism.bodies
        if "mass" in type(model[name]).declarations and name not in dressed
    }
    sizes = [float(sides.max()) for sides, _ in boxes.values() if sides.max() > 0.0]
    sizes += [float(np.linalg.norm(p)) for points in attachment_points.values() for p in points if np.any(p)]
    typical = float(np.median(sizes)) if sizes else 0.2
    return {
        name: _shapes_of_body(
            box, attachment_points[name], span(joint_points[name]), typical, body_color(number)
        )
        for number, (name, box) in enumerate(boxes.items())
    }


def _shapes_of_body(
    box: tuple[Reals, Reals], points: list[Reals], reach: float, typical: float, color: list[float]
) -> list[dict[str, Any]]:
    """A box, or a ball for a small one, and rods from its middle to points.

    Parameters
    ----------
    box : (sides, pose)
    points : list of arrays, m
        Where joints and elements are fixed on the body.
    reach : float, m
        The largest distance of its joints; a box that is longer shrinks to it.
    typical : float, m
        Typical size of a body.
    color : list of float
    """
    sides, pose = box
    largest = float(sides.max())
    if 0.0 < reach < largest:  # a link between joints: as slim as it is long
        sides, largest = sides * reach / largest, reach
    if largest < 0.05 * typical:
        shapes = [shape("sphere", [0.15 * typical], pose, color)]
    else:
        shapes = [shape("box", np.maximum(sides, FLAT * largest), pose, color)]
    radius = 0.25 * ROD * min(typical, largest or typical)
    rods = [rod_between(point, pose[9:], radius) for point in points]
    return shapes + [shape("capsule", *rod, color) for rod in rods if rod]


def span(points: list[Reals]) -> float:
    """The largest distance of two points; 0 of fewer."""
    return max((float(np.linalg.norm(a - b)) for a in points for b in points), default=0.0)


def points_on_bodies(mechanism: Mechanism, joints_alone: bool = False) -> dict[str, list[Reals]]:
    """By body the points where joints and elements are fixed on it."""
    model = mechanism.model
    points: dict[str, list[Reals]] = {name: [] for name in mechanism.bodies}
    for name in mechanism.joints:
        for end in ("parent", "child"):
            pose = np.array(getattr(model[name], f"frame_on_{end}"), dtype=float)
            points[name_of(getattr(model[name], end))].append(pose[9:])
    for name in () if joints_alone else mechanism.links:
        for body, pose in mechanism.ends(name):
            points[body].append(pose[9:])
    return points


def rod_between(start: ArrayLike, end: ArrayLike, radius: float) -> tuple[list[float], Reals] | None:
    """Radius, length and pose of a rod between two points; None if it would be too short."""
    along = np.subtract(end, start)
    length = float(np.linalg.norm(along))
    if length < 4.0 * radius:
        return None
    z = along / length
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    rotation = np.column_stack([x, np.cross(z, x), z])
    return [radius, length], np.append(rotation.ravel(), 0.5 * np.add(start, end))
