"""Articulated inertias in kernel functions: what a body and all that hangs on it put up against a motion.

A symmetric 6 by 6 matrix [[A, B], [B^T, C]] about a point, as 21 reals: A (xx yy zz xy xz yz), B by rows, C
(likewise xx yy zz xy xz yz). Times a spatial acceleration it gives (moment, force). Two more reals behind it,
the sum of the moments of inertia and the mass of all that hangs on the body, say how much there was before
joints gave way.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import Six


def put_articulated(slot: Any, body: Any) -> None:
    """Write a rigid body: its mass, centre of mass from the point, and inertia about that centre."""
    x = body[0] * body[1]
    y = body[0] * body[2]
    z = body[0] * body[3]
    slot[0] = body[4] + y * body[2] + z * body[3]
    slot[1] = body[5] + x * body[1] + z * body[3]
    slot[2] = body[6] + x * body[1] + y * body[2]
    slot[3] = body[7] - x * body[2]
    slot[4] = body[8] - x * body[3]
    slot[5] = body[9] - y * body[3]
    slot[6] = 0.0
    slot[7] = -z
    slot[8] = y
    slot[9] = z
    slot[10] = 0.0
    slot[11] = -x
    slot[12] = -y
    slot[13] = x
    slot[14] = 0.0
    slot[15] = body[0]
    slot[16] = body[0]
    slot[17] = body[0]
    slot[18] = 0.0
    slot[19] = 0.0
    slot[20] = 0.0
    slot[21] = slot[0] + slot[1] + slot[2]
    slot[22] = body[0]


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


def release(I: Any, U: Any, V: Any) -> None:
    """Take out what a free motion gives way to: I - U V^T, with V parallel to U."""
    I[0] -= U[0] * V[0]
    I[1] -= U[1] * V[1]
    I[2] -= U[2] * V[2]
    I[3] -= U[0] * V[1]
    I[4] -= U[0] * V[2]
    I[5] -= U[1] * V[2]
    I[6] -= U[0] * V[3]
    I[7] -= U[0] * V[4]
    I[8] -= U[0] * V[5]
    I[9] -= U[1] * V[3]
    I[10] -= U[1] * V[4]
    I[11] -= U[1] * V[5]
    I[12] -= U[2] * V[3]
    I[13] -= U[2] * V[4]
    I[14] -= U[2] * V[5]
    I[15] -= U[3] * V[3]
    I[16] -= U[4] * V[4]
    I[17] -= U[5] * V[5]
    I[18] -= U[3] * V[4]
    I[19] -= U[3] * V[5]
    I[20] -= U[4] * V[5]


def whole(I: Any, S: Any) -> float:
    """A bound on what the motion S would meet if no joint further out gave way."""
    return I[21] * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2]) + I[22] * (
        S[3] * S[3] + S[4] * S[4] + S[5] * S[5]
    )
