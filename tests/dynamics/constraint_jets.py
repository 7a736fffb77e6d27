"""Conditions of all constraints along a motion, as Taylor polynomials in time, by numpy.

A body moves with pose (R, p), velocity (w, v) and acceleration (alpha, a) of its origin in Ground. From these
alone come R(t) and p(t) to second order; a condition on them is computed with polynomials instead of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Jet:
    """c[0] + c[1] t + c[2] t^2."""

    c: list[Any]

    def __add__(self, other: Any) -> Jet:
        return Jet([a + b for a, b in zip(self.c, jet(other).c, strict=True)])

    def __sub__(self, other: Any) -> Jet:
        return self + -1.0 * jet(other)

    def __rmul__(self, number: float) -> Jet:
        return Jet([number * a for a in self.c])


def jet(value: Any) -> Jet:
    """Return a number or an array as a constant polynomial; a `Jet` as it is."""
    zero = 0.0 * np.asarray(value.c[0] if isinstance(value, Jet) else value)
    return value if isinstance(value, Jet) else Jet([np.asarray(value, dtype=float), zero, zero])


def product(rule: Callable[[Any, Any], Any], a: Any, b: Any) -> Jet:
    """Return a bilinear product of two polynomials, up to t^2."""
    a, b = jet(a).c, jet(b).c
    return Jet(
        [
            rule(a[0], b[0]),
            rule(a[0], b[1]) + rule(a[1], b[0]),
            rule(a[0], b[2]) + rule(a[1], b[1]) + rule(a[2], b[0]),
        ]
    )


def dot(a: Any, b: Any) -> Jet:
    return product(np.matmul, a, b)


def cross(a: Any, b: Any) -> Jet:
    return product(np.cross, a, b)


def times(a: Any, b: Any) -> Jet:
    return product(np.multiply, a, b)


def power(a: Jet, exponent: float) -> Jet:
    """Return a^exponent, a being a positive number."""
    x, y, z = a.c
    first = exponent * x ** (exponent - 1.0)
    return Jet([x**exponent, first * y, first * z + 0.5 * (exponent - 1.0) * first / x * y * y])


def skew(w: np.ndarray) -> np.ndarray:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


class Moving:
    """The pose and the velocity of a body as polynomials in time."""

    def __init__(self, X: np.ndarray, V: np.ndarray, A: np.ndarray) -> None:
        R, W = X[:9].reshape(3, 3), skew(V[:3])
        self.R = Jet([R, W @ R, 0.5 * (skew(A[:3]) + W @ W) @ R])
        self.p = Jet([X[9:], V[3:], 0.5 * A[3:]])
        self.w = Jet([V[:3], A[:3], 0.0 * A[:3]])
        self.v = Jet([V[3:], A[3:], 0.0 * A[3:]])

    def point(self, station: Any) -> Jet:
        return self.p + dot(self.R, station)

    def direction(self, direction: Any) -> Jet:
        return dot(self.R, np.array(direction) / np.linalg.norm(direction))

    def velocity(self, point: Jet) -> Jet:
        return self.v + cross(self.w, point - self.p)


def across(normal: Any) -> list[np.ndarray]:
    """Return two perpendicular directions in the plane across a normal."""
    n = np.array(normal) / np.linalg.norm(normal)
    x = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    return [x / np.linalg.norm(x), np.cross(n, x / np.linalg.norm(x))]


def conditions(
    kind: str, first_body: Moving, second_body: Moving, values: dict[str, Any]
) -> list[tuple[Jet, int]]:
    """Return the conditions between two bodies, each with the number of its differentiations."""
    if kind == "weld_constraint":
        frames = [np.array(values[f"frame{i}"], dtype=float) for i in (1, 2)]
        axes = [
            [dot(b.R, f[:9].reshape(3, 3)[:, j]) for j in range(3)]
            for b, f in zip((first_body, second_body), frames, strict=True)
        ]
        distance = second_body.point(frames[1][9:]) - first_body.point(frames[0][9:])
        angles = [(dot(axes[0][i], axes[1][j]), 2) for i, j in ((2, 1), (0, 2), (1, 0))]
        return [*angles, *((dot(e, distance), 2) for e in np.eye(3))]
    if kind == "constant_angle":
        return [(dot(first_body.direction(values["axis1"]), second_body.direction(values["axis2"])), 2)]
    p2 = second_body.point(values["point2"])
    r = p2 - first_body.point(values["point1"])
    if kind == "rod":
        return [(dot(r, r), 2)]
    if kind == "ball_constraint":
        return [(dot(e, r), 2) for e in np.eye(3)]
    if kind == "point_in_plane":
        return [(dot(first_body.direction(values["normal"]), r), 2)]
    if kind == "point_on_line":
        return [(dot(first_body.direction(e), r), 2) for e in across(values["axis"])]
    n = first_body.direction(values["normal"])
    m, height = n, jet(1.0)
    if kind == "rolling_disc":
        k = second_body.direction(values["axis"])
        height = power(jet(1.0) - times(dot(n, k), dot(n, k)), 0.5)
        m = times(n - times(dot(n, k), k), power(height, -1.0))
    contact = p2 - values["radius"] * m
    slip = second_body.velocity(contact) - first_body.velocity(contact)
    distance = dot(n, r) - values["radius"] * height
    return [(distance, 2), *((dot(first_body.direction(e), slip), 1) for e in across(values["normal"]))]
