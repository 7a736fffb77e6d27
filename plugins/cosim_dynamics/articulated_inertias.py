"""Articulated inertias in the cache: what a body and all that hangs on it put up against a motion.

A symmetric 6 by 6 matrix about a point; times a spatial acceleration it gives (moment, force). Pairs of a
row lie beside each other, which a processor takes two at a time, then what is left of the diagonal:

    00 01  02 03  04 05    12 13  14 15    22 23  24 25    34 35    44 45    11 33 55

Two more reals behind them, the sum of the moments of inertia and the mass of all that hangs on the body, say
how much there was before joints gave way.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import Six

SIZE = 23
SUM_OF_MOMENTS, MASS = 21, 22


def put_rigid(c: Any, at: int, body: Any) -> None:
    """Write a rigid body from its mass, centre of mass from the point, and inertia about that centre."""
    m = body[0]
    x = m * body[1]
    y = m * body[2]
    z = m * body[3]
    xx = body[4] + y * body[2] + z * body[3]
    yy = body[5] + x * body[1] + z * body[3]
    zz = body[6] + x * body[1] + y * body[2]
    put2(c, at, xx, body[7] - x * body[2])
    put2(c, at + 2, body[8] - x * body[3], 0.0)
    put2(c, at + 4, -z, y)
    put2(c, at + 6, body[9] - y * body[3], z)
    put2(c, at + 8, 0.0, -x)
    put2(c, at + 10, zz, -y)
    put2(c, at + 12, x, 0.0)
    put2(c, at + 14, 0.0, 0.0)
    put2(c, at + 16, m, 0.0)
    put2(c, at + 18, yy, m)
    put2(c, at + 20, m, xx + yy + zz)
    c[at + 22] = m


def put2(c: Any, at: int, a: float, b: float) -> None:
    """Write two reals."""
    c[at] = a
    c[at + 1] = b


def add2(c: Any, at: int, a: float, b: float) -> None:
    """Add two reals."""
    put2(c, at, c[at] + a, c[at + 1] + b)


def resistance(c: Any, at: int, S: Any) -> Six:
    """The spatial force that gives the spatial acceleration S to what lies at `at`."""
    i01 = c[at + 1]
    i02 = c[at + 2]
    i03 = c[at + 3]
    i04 = c[at + 4]
    i05 = c[at + 5]
    i12 = c[at + 6]
    i13 = c[at + 7]
    i14 = c[at + 8]
    i15 = c[at + 9]
    i23 = c[at + 11]
    i24 = c[at + 12]
    i25 = c[at + 13]
    i34 = c[at + 14]
    i35 = c[at + 15]
    i45 = c[at + 17]
    # pairs of terms: a sum that waits for all terms before takes longer
    return (
        (c[at] * S[0] + i01 * S[1]) + (i02 * S[2] + i03 * S[3]) + (i04 * S[4] + i05 * S[5]),
        (i01 * S[0] + c[at + 18] * S[1]) + (i12 * S[2] + i13 * S[3]) + (i14 * S[4] + i15 * S[5]),
        (i02 * S[0] + i12 * S[1]) + (c[at + 10] * S[2] + i23 * S[3]) + (i24 * S[4] + i25 * S[5]),
        (i03 * S[0] + i13 * S[1]) + (i23 * S[2] + c[at + 19] * S[3]) + (i34 * S[4] + i35 * S[5]),
        (i04 * S[0] + i14 * S[1]) + (i24 * S[2] + i34 * S[3]) + (c[at + 16] * S[4] + i45 * S[5]),
        (i05 * S[0] + i15 * S[1]) + (i25 * S[2] + i35 * S[3]) + (i45 * S[4] + c[at + 20] * S[5]),
    )


def release(c: Any, at: int, U: Any, V: Any) -> None:
    """Take away what a free motion gives way to: I - U V^T, with V parallel to U."""
    put2(c, at, c[at] - U[0] * V[0], c[at + 1] - U[0] * V[1])
    put2(c, at + 2, c[at + 2] - U[0] * V[2], c[at + 3] - U[0] * V[3])
    put2(c, at + 4, c[at + 4] - U[0] * V[4], c[at + 5] - U[0] * V[5])
    put2(c, at + 6, c[at + 6] - U[1] * V[2], c[at + 7] - U[1] * V[3])
    put2(c, at + 8, c[at + 8] - U[1] * V[4], c[at + 9] - U[1] * V[5])
    put2(c, at + 10, c[at + 10] - U[2] * V[2], c[at + 11] - U[2] * V[3])
    put2(c, at + 12, c[at + 12] - U[2] * V[4], c[at + 13] - U[2] * V[5])
    put2(c, at + 14, c[at + 14] - U[3] * V[4], c[at + 15] - U[3] * V[5])
    put2(c, at + 16, c[at + 16] - U[4] * V[4], c[at + 17] - U[4] * V[5])
    put2(c, at + 18, c[at + 18] - U[1] * V[1], c[at + 19] - U[3] * V[3])
    c[at + 20] -= U[5] * V[5]


def hand_over(c: Any, at: int, to: int, U: Any, V: Any) -> None:
    """Add I - U V^T, of what lies at `at`, to what lies at `to`."""
    add2(c, to, c[at] - U[0] * V[0], c[at + 1] - U[0] * V[1])
    add2(c, to + 2, c[at + 2] - U[0] * V[2], c[at + 3] - U[0] * V[3])
    add2(c, to + 4, c[at + 4] - U[0] * V[4], c[at + 5] - U[0] * V[5])
    add2(c, to + 6, c[at + 6] - U[1] * V[2], c[at + 7] - U[1] * V[3])
    add2(c, to + 8, c[at + 8] - U[1] * V[4], c[at + 9] - U[1] * V[5])
    add2(c, to + 10, c[at + 10] - U[2] * V[2], c[at + 11] - U[2] * V[3])
    add2(c, to + 12, c[at + 12] - U[2] * V[4], c[at + 13] - U[2] * V[5])
    add2(c, to + 14, c[at + 14] - U[3] * V[4], c[at + 15] - U[3] * V[5])
    add2(c, to + 16, c[at + 16] - U[4] * V[4], c[at + 17] - U[4] * V[5])
    add2(c, to + 18, c[at + 18] - U[1] * V[1], c[at + 19] - U[3] * V[3])
    add2(c, to + 20, c[at + 20] - U[5] * V[5], c[at + 21])
    c[to + 22] += c[at + 22]


def whole(c: Any, at: int, S: Any) -> float:
    """A bound on what the motion S would meet if no joint further out gave way."""
    moments = c[at + SUM_OF_MOMENTS] * (S[0] * S[0] + S[1] * S[1] + S[2] * S[2])
    return moments + c[at + MASS] * (S[3] * S[3] + S[4] * S[4] + S[5] * S[5])
