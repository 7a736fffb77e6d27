"""Spatial vectors as tuples of six: rotation first, about a point that the caller chooses."""

from __future__ import annotations

from typing import Any

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]


def joined(w: Any, v: Any) -> Six:
    """The spatial vector with these halves: rotation and translation, or moment and force."""
    return (w[0], w[1], w[2], v[0], v[1], v[2])


def dot6(a: Any, b: Any) -> float:
    """Power of a spatial force on a spatial velocity, or what that is for other pairs."""
    # two sums, which a processor takes side by side
    even = a[0] * b[0] + a[2] * b[2] + a[4] * b[4]
    odd = a[1] * b[1] + a[3] * b[3] + a[5] * b[5]
    return even + odd


def plus6(a: Any, b: Any) -> Six:
    """Sum of two spatial vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


def scaled6(factor: float, a: Any) -> Six:
    """A spatial vector multiplied by a number."""
    return (factor * a[0], factor * a[1], factor * a[2], factor * a[3], factor * a[4], factor * a[5])
