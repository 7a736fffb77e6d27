"""Articulated inertias in kernel functions: what a body and all that hangs on it put up against a motion.

A symmetric 6 by 6 matrix [[A, B], [B^T, C]] about a point, as 21 reals: A (xx yy zz xy xz yz), B by rows, C
(likewise xx yy zz xy xz yz). Times a spatial acceleration it gives (moment, force). Two more reals behind it,
the sum of the moments of inertia and the mass of all that hangs on the body, say how much there was before
joints gave way.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import Six

Articulated = tuple[float, ...]


def rigid(body: Any) -> Articulated:
    """A rigid body from its mass, centre of mass from the point, and inertia about that centre."""
    m = body[0]
    x = m * body[1]
    y = m * body[2]
    z = m * body[3]
    xx = body[4] + y * body[2] + z * body[3]
    yy = body[5] + x * body[1] + z * body[3]
    zz = body[6] + x * body[1] + y * body[2]
    xy = body[7] - x * body[2]
    xz = body[8] - x * body[3]
    yz = body[9] - y * body[3]
    return (
        xx, yy, zz, xy, xz, yz,
        0.0, -z, y, z, 0.0, -x, -y, x, 0.0,
        m, m, m, 0.0, 0.0, 0.0,
        xx + yy + zz, m,
    )  # fmt: skip


def carrying(I: Any, c: Any, at: int) -> Articulated:
    """`I` and what lies at `at` in the cache, together."""
    return (
        I[0] + c[at], I[1] + c[at + 1], I[2] + c[at + 2], I[3] + c[at + 3], I[4] + c[at + 4],
        I[5] + c[at + 5], I[6] + c[at + 6],
        I[7] + c[at + 7], I[8] + c[at + 8], I[9] + c[at + 9], I[10] + c[at + 10],
        I[11] + c[at + 11], I[12] + c[at + 12], I[13] + c[at + 13], I[14] + c[at + 14],
        I[15] + c[at + 15], I[16] + c[at + 16], I[17] + c[at + 17], I[18] + c[at + 18], I[19] + c[at + 19],
        I[20] + c[at + 20], I[21] + c[at + 21], I[22] + c[at + 22],
    )  # fmt: skip


def put_articulated(c: Any, at: int, I: Any) -> None:
    """Write an articulated inertia into the cache."""
    c[at] = I[0]
    c[at + 1] = I[1]
    c[at + 2] = I[2]
    c[at + 3] = I[3]
    c[at + 4] = I[4]
    c[at + 5] = I[5]
    c[at + 6] = I[6]
    c[at + 7] = I[7]
    c[at + 8] = I[8]
    c[at + 9] = I[9]
    c[at + 10] = I[10]
    c[at + 11] = I[11]
    c[at + 12] = I[12]
    c[at + 13] = I[13]
    c[at + 14] = I[14]
    c[at + 15] = I[15]
    c[at + 16] = I[16]
    c[at + 17] = I[17]
    c[at + 18] = I[18]
    c[at + 19] = I[19]
    c[at + 20] = I[20]
    c[at + 21] = I[21]
    c[at + 22] = I[22]


def resistance(I: Any, S: Any) -> Six:
    """The spatial force that gives the spatial acceleration S."""
    return (
        I[0] * S[0] + I[3] * S[1] + I[4] * S[2] + I[6] * S[3] + I[7] * S[4] + I[8] * S[5],
        I[3] * S[0] + I[1] * S[1] + I[5] * S[2] + I[9] * S[3] + I[10] * S[4] + I[11] * S[5],
        I[4] * S[0] + I[5] * S[1] + I[2] * S[2] + I[12] * S[3] + I[13] * S[4] + I[14] * S[5],
        I[6] * S[0] + I[9] * S[1] + I[12] * S[2] + I[15] * S[3] + I[18] * S[4] + I[19] * S[5],
        I[7] * S[0] + I[10] * S[1] + I[13] * S[2] + I[18] * S[3] + I[16] * S[4] + I[20] * S[5],
        I[8] * S[0] + I[11] * S[1] + I[14] * S[2] + I[19] * S[3] + I[20] * S[4] + I[17] * S[5],
    )


def released(I: Any, U: Any, V: Any) -> Articulated:
    """Without what a free motion gives way to: I - U V^T, with V parallel to U."""
    return (
        I[0] - U[0] * V[0], I[1] - U[1] * V[1], I[2] - U[2] * V[2],
        I[3] - U[0] * V[1], I[4] - U[0] * V[2], I[5] - U[1] * V[2],
        I[6] - U[0] * V[3], I[7] - U[0] * V[4], I[8] - U[0] * V[5],
        I[9] - U[1] * V[3], I[10] - U[1] * V[4], I[11] - U[1] * V[5],
        I[12] - U[2] * V[3], I[13] - U[2] * V[4], I[14] - U[2] * V[5],
        I[15] - U[3] * V[3], I[16] - U[4] * V[4], I[17] - U[5] * V[5],
        I[18] - U[3] * V[4], I[19] - U[3] * V[5], I[20] - U[4] * V[5],
        I[21], I[22],
    )  # fmt: skip


def whole(I: Any, S: Any) -> float:
    """A bound on what the motion S would meet if no joint further out gave way."""
    return I[21] * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2]) + I[22] * (
        S[3] * S[3] + S[4] * S[4] + S[5] * S[5]
    )
