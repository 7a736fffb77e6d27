"""Vectors of three as tuples. Plain Python: the framework compiles these with the kernel that calls them."""

from __future__ import annotations

import math

from cosim_mechanics.spatial._types import Reals, Vector


def plus(a: Reals, b: Reals) -> Vector:
    """Sum of two vectors in the same frame.

    >>> plus((1, 2, 3), (10, 20, 30))
    (11, 22, 33)
    """
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Reals, b: Reals) -> Vector:
    """Difference a - b of two vectors in the same frame.

    >>> minus((1, 2, 3), (1, 1, 1))
    (0, 1, 2)
    """
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scaled(factor: float, a: Reals) -> Vector:
    """The vector multiplied by a number; the number comes first.

    >>> scaled(2.0, (1, 2, 3))
    (2.0, 4.0, 6.0)
    """
    return (factor * a[0], factor * a[1], factor * a[2])


def dot(a: Reals, b: Reals) -> float:
    """Scalar product of two vectors in the same frame.

    >>> dot((1, 2, 3), (4, 5, 6))
    32
    """
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Reals, b: Reals) -> Vector:
    """Vector product a x b of two vectors in the same, right-handed frame.

    >>> cross((1, 0, 0), (0, 1, 0))
    (0, 0, 1)
    """
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(a: Reals) -> float:
    """Length of a vector, >= 0.

    >>> norm((2, 3, 6))
    7.0
    """
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def inertia_times(inertia: Reals, w: Reals) -> Vector:
    """The six elements (Ixx Iyy Izz Ixy Ixz Iyz) of an inertia matrix times a vector in the same axes.

    >>> inertia_times((1, 2, 3, 0, 0, 0), (1, 1, 1))
    (1, 2, 3)
    """
    return (
        inertia[0] * w[0] + inertia[3] * w[1] + inertia[4] * w[2],
        inertia[3] * w[0] + inertia[1] * w[1] + inertia[5] * w[2],
        inertia[4] * w[0] + inertia[5] * w[1] + inertia[2] * w[2],
    )


def perpendicular(z: Reals) -> Vector:
    """A unit vector across z, which is one: the product with the axis that z is farthest from.

    >>> perpendicular((0.0, 0.0, 1.0))
    (0.0, 1.0, 0.0)
    """
    a = abs(z[0])
    b = abs(z[1])
    c = abs(z[2])
    if a <= b and a <= c:
        x = cross(z, (1.0, 0.0, 0.0))
    elif b <= c:
        x = cross(z, (0.0, 1.0, 0.0))
    else:
        x = cross(z, (0.0, 0.0, 1.0))
    return scaled(1.0 / norm(x), x)
