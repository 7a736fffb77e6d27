"""Inertias in kernel functions: plain functions on tuples and views.

A *rotational inertia* is six reals, Ixx Iyy Izz Ixy Ixz Iyz. A *spatial inertia* is ten: mass, mass times the
position of the centre of mass, then the rotational inertia about the same point (Ixx Iyy Izz Ixy Ixz Iyz).
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.spatial_vectors import Six

Ten = tuple[float, float, float, float, float, float, float, float, float, float]


def turned_inertia(R: Any, I: Any) -> Six:
    """R I R^T: a rotational inertia, kg.m2, in the axes that R (nine reals by rows) leads to."""
    if I[3] == 0.0 and I[4] == 0.0 and I[5] == 0.0:
        return turned_principal_inertia(R, I)
    a = (
        R[0] * I[0] + R[1] * I[3] + R[2] * I[4],
        R[0] * I[3] + R[1] * I[1] + R[2] * I[5],
        R[0] * I[4] + R[1] * I[5] + R[2] * I[2],
    )
    b = (
        R[3] * I[0] + R[4] * I[3] + R[5] * I[4],
        R[3] * I[3] + R[4] * I[1] + R[5] * I[5],
        R[3] * I[4] + R[4] * I[5] + R[5] * I[2],
    )
    e = (
        R[6] * I[0] + R[7] * I[3] + R[8] * I[4],
        R[6] * I[3] + R[7] * I[1] + R[8] * I[5],
        R[6] * I[4] + R[7] * I[5] + R[8] * I[2],
    )
    return (
        a[0] * R[0] + a[1] * R[1] + a[2] * R[2],
        b[0] * R[3] + b[1] * R[4] + b[2] * R[5],
        e[0] * R[6] + e[1] * R[7] + e[2] * R[8],
        a[0] * R[3] + a[1] * R[4] + a[2] * R[5],
        a[0] * R[6] + a[1] * R[7] + a[2] * R[8],
        b[0] * R[6] + b[1] * R[7] + b[2] * R[8],
    )


def turned_principal_inertia(R: Any, I: Any) -> Six:
    """R diag(I) R^T = Izz + (Ixx - Izz) x x^T + (Iyy - Izz) y y^T, with x and y the first columns of R."""
    a = I[0] - I[2]
    b = I[1] - I[2]
    x = (a * R[0], a * R[3], a * R[6])
    y = (b * R[1], b * R[4], b * R[7])
    return (
        I[2] + x[0] * R[0] + y[0] * R[1],
        I[2] + x[1] * R[3] + y[1] * R[4],
        I[2] + x[2] * R[6] + y[2] * R[7],
        x[0] * R[3] + y[0] * R[4],
        x[0] * R[6] + y[0] * R[7],
        x[1] * R[6] + y[1] * R[7],
    )


def rigid_inertia(mass: float, center: Any, I: Any) -> Ten:
    """A rigid body from its mass, centre of mass from the point, and inertia about that centre."""
    x = mass * center[0]
    y = mass * center[1]
    z = mass * center[2]
    return (
        mass,
        x,
        y,
        z,
        I[0] + y * center[1] + z * center[2],
        I[1] + x * center[0] + z * center[2],
        I[2] + x * center[0] + y * center[1],
        I[3] - x * center[1],
        I[4] - x * center[2],
        I[5] - y * center[2],
    )


def momentum_of(inertia: Any, V: Any) -> Six:
    """Spatial inertia times a spatial velocity: (angular momentum, momentum) about the same point."""
    return (
        inertia[4] * V[0] + inertia[7] * V[1] + inertia[8] * V[2] + inertia[2] * V[5] - inertia[3] * V[4],
        inertia[7] * V[0] + inertia[5] * V[1] + inertia[9] * V[2] + inertia[3] * V[3] - inertia[1] * V[5],
        inertia[8] * V[0] + inertia[9] * V[1] + inertia[6] * V[2] + inertia[1] * V[4] - inertia[2] * V[3],
        inertia[0] * V[3] + V[1] * inertia[3] - V[2] * inertia[2],
        inertia[0] * V[4] + V[2] * inertia[1] - V[0] * inertia[3],
        inertia[0] * V[5] + V[0] * inertia[2] - V[1] * inertia[1],
    )


def plus10(a: Any, b: Any) -> Ten:
    """Sum of two spatial inertias about the same point."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
    )
