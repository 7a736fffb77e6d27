"""Vectors, rotations, poses and inertias that lie in the cache or among the parameters, each at its slot.

Kernel functions read them into tuples, compute, and write: compiled code keeps tuples in registers. It does
not look whether a slot lies inside, nor whether it counts from the end, as it does for ``c[slot]``.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import rows_of
from cosim_dynamics.inertias import Ten
from cosim_dynamics.spatial_vectors import Six, Three


def reals_at(c: Any, slot: int, count: int) -> Any:
    """A view of so many reals."""
    return rows_of(float, c, slot, count)


def real_at(c: Any, slot: int) -> float:
    """The real at an offset of the cache."""
    return reals_at(c, slot, 1)[0]


def vector_at(c: Any, slot: int) -> Three:
    """A vector of three."""
    x = reals_at(c, slot, 3)
    return (x[0], x[1], x[2])


def spatial_at(c: Any, slot: int) -> Six:
    """The spatial vector that begins at an offset of the cache."""
    x = reals_at(c, slot, 6)
    return (x[0], x[1], x[2], x[3], x[4], x[5])


def column_at(c: Any, slot: int, number: int) -> Six:
    """One of the spatial vectors that lie one behind the other: a column of a joint's H_FM."""
    return spatial_at(c, slot + 6 * number)


def rotation_at(c: Any, slot: int) -> Any:
    """A rotation matrix by rows; of a pose the one that it begins with."""
    x = reals_at(c, slot, 9)
    return (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8])


def axis_at(c: Any, slot: int, axis: int) -> Three:
    """An axis of a rotation or of a pose, 0 to 2: a column of its matrix."""
    R = reals_at(c, slot + axis, 7)
    return (R[0], R[3], R[6])


def pose_at(c: Any, slot: int) -> Any:
    """A pose: the rotation by rows, then the position."""
    x = reals_at(c, slot, 12)
    return (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11])


def position_at(c: Any, slot: int) -> Three:
    """The position of a pose."""
    x = reals_at(c, slot, 12)
    return (x[9], x[10], x[11])


def rigid_inertia_at(c: Any, slot: int) -> Ten:
    """The spatial inertia of a rigid body."""
    x = reals_at(c, slot, 10)
    return (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9])


def put_real(c: Any, slot: int, x: float) -> None:
    """Write a real to an offset of the cache."""
    reals_at(c, slot, 1)[0] = x


def put_vector(c: Any, slot: int, v: Any) -> None:
    """Write a vector of three."""
    x = reals_at(c, slot, 3)
    for i in range(3):
        x[i] = v[i]


def put_spatial(c: Any, slot: int, V: Any) -> None:
    """Write a spatial vector."""
    x = reals_at(c, slot, 6)
    for i in range(6):
        x[i] = V[i]


def put_column(c: Any, slot: int, number: int, V: Any) -> None:
    """Write one of the spatial vectors that lie one behind the other."""
    put_spatial(c, slot + 6 * number, V)


def put_rotation(c: Any, slot: int, R: Any) -> None:
    """Write a rotation, or that of a pose."""
    x = reals_at(c, slot, 9)
    for i in range(9):
        x[i] = R[i]


def put_pose(c: Any, slot: int, X: Any) -> None:
    """Write a pose, twelve numbers, to an offset of the cache."""
    x = reals_at(c, slot, 12)
    for i in range(12):
        x[i] = X[i]


def put_rigid_inertia(c: Any, slot: int, I: Any) -> None:
    """Write the spatial inertia of a rigid body."""
    x = reals_at(c, slot, 10)
    for i in range(10):
        x[i] = I[i]
