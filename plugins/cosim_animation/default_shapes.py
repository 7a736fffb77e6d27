"""Default shapes of bodies: a box of their inertia, and rods to their joints and elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosim_animation.mechanism import Mechanism, name_of

ROD = 0.12
"""Radius of a rod, in typical sizes of a body."""
FLAT = 0.15
"""Least side of a box, in its largest side."""
COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#eeca3b")


def body_color(number: int) -> list[float]:
    """Red, green and blue of a body, by its number."""
    text = COLORS[number % len(COLORS)]
    return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def shape(kind: str, size: Any, pose: Any, color: Any) -> dict[str, Any]:
    """A shape as the page reads it."""
    return {
        "kind": kind,
        "size": [float(s) for s in size],
        "pose": [float(x) for x in pose],
        "color": [round(float(c), 4) for c in color],
    }


def box_of_inertia(mass: float, center: Any, inertia: Any) -> tuple[Any, Any]:
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
    held, joined = held_points(mechanism), held_points(mechanism, joints_alone=True)
    boxes = {
        name: box_of_inertia(model[name].mass, model[name].center_of_mass, model[name].inertia)  # type: ignore[attr-defined]
        for name in mechanism.bodies
        if "mass" in type(model[name]).declarations and name not in dressed
    }
    sizes = [float(sides.max()) for sides, _ in boxes.values() if sides.max() > 0.0]
    sizes += [float(np.linalg.norm(p)) for points in held.values() for p in points if np.any(p)]
    typical = float(np.median(sizes)) if sizes else 0.2
    shapes: dict[str, list[dict[str, Any]]] = {}
    for number, (name, (sides, pose)) in enumerate(boxes.items()):
        tint, largest = body_color(number), float(sides.max())
        if (
            reach := span(joined[name])
        ) > 0.0 and largest > reach:  # a link between joints: as slim as it is long
            sides, largest = sides * reach / largest, reach
        if largest < 0.05 * typical:
            shapes[name] = [shape("sphere", [0.15 * typical], pose, tint)]
        else:
            shapes[name] = [shape("box", np.maximum(sides, FLAT * largest), pose, tint)]
        radius = 0.25 * ROD * min(typical, largest or typical)
        for point in held[name]:
            rod = rod_between(point, pose[9:], radius)
            shapes[name] += [shape("capsule", *rod, tint)] if rod else []
    return shapes


def span(points: list[Any]) -> float:
    """The largest distance of two points; 0 of fewer."""
    return max((float(np.linalg.norm(a - b)) for a in points for b in points), default=0.0)


def held_points(mechanism: Mechanism, joints_alone: bool = False) -> dict[str, list[Any]]:
    """By body the points where joints and elements are fixed on it."""
    model = mechanism.model
    points: dict[str, list[Any]] = {name: [] for name in mechanism.bodies}
    for name in mechanism.joints:
        for end in ("parent", "child"):
            pose = np.array(getattr(model[name], f"frame_on_{end}"), dtype=float)
            points[name_of(getattr(model[name], end))].append(pose[9:])
    for name in () if joints_alone else mechanism.links:
        for body, pose in mechanism.ends(name):
            points[body].append(pose[9:])
    return points


def rod_between(start: Any, end: Any, radius: float) -> tuple[list[float], Any] | None:
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
