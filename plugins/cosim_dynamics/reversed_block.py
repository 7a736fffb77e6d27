"""Joints whose child is on the side of Ground: F and M are exchanged for the tree.

The joint says where M is in F; the tree asks where F is in M. With R = R_FM and p = p_FM: X_MF = X_FM^-1; a
motion (w, v) of M in F is one of F in M with the angular velocity -R^T w and the velocity R^T (w x p - v) of
F's origin; the time derivatives of these at constant u are the velocity terms.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.offsets import offset, six, three, twelve, write6, write12
from cosim_mechanics.spatial import cross, inverse, minus, plus, rotate_inverse, scaled

#: Poses: X_FM and H_FM of the joint, number of speeds, where X_MF and H_MF go.
X_FM, H_FM, DOFS, X_MF, H_MF = range(5)
POSE_WIDTH = 5
#: Velocity terms: as above, then u (in y), HDotU_FM, and where HDotU_MF goes.
U, TERMS_FM, TERMS_MF = range(3, 6)
TERMS_WIDTH = 6


def pose_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """X_MF and H_MF."""
    for joint in range(count):
        row = offset(first + joint * POSE_WIDTH)
        X = twelve(c, offset(ints[row + X_FM]))
        at = (X[9], X[10], X[11])
        write12(c, offset(ints[row + X_MF]), inverse(X))
        for i in range(ints[row + DOFS]):
            H = six(c, offset(ints[row + H_FM] + 6 * i))
            w = (H[0], H[1], H[2])
            v = (H[3], H[4], H[5])
            turned = scaled(-1.0, rotate_inverse(X, w))
            moved = rotate_inverse(X, minus(cross(w, at), v))
            write6(c, offset(ints[row + H_MF] + 6 * i), turned, moved)


def terms_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """(dH_MF/dt) u."""
    for joint in range(count):
        row = offset(first + joint * TERMS_WIDTH)
        X = twelve(c, offset(ints[row + X_FM]))
        at = (X[9], X[10], X[11])
        w = (0.0, 0.0, 0.0)
        v = (0.0, 0.0, 0.0)
        for i in range(ints[row + DOFS]):
            u = y[offset(ints[row + U] + i)]
            column = offset(ints[row + H_FM] + 6 * i)
            w = plus(w, scaled(u, three(c, column)))
            v = plus(v, scaled(u, three(c, offset(column + 3))))
        b = six(c, offset(ints[row + TERMS_FM]))
        b_w = (b[0], b[1], b[2])
        b_v = (b[3], b[4], b[5])
        moving = minus(scaled(2.0, v), cross(w, at))
        change = plus(minus(cross(b_w, at), b_v), cross(w, moving))
        write6(
            c,
            offset(ints[row + TERMS_MF]),
            scaled(-1.0, rotate_inverse(X, b_w)),
            rotate_inverse(X, change),
        )
