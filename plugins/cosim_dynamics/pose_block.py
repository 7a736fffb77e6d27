"""Position stage: where every body of the tree is, and how it may move.

One call treats the whole tree, parents before children. Row 0 of the block is the header; a row for each body
follows.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.frames_block import F_TURNED, M_TURNED, composed
from cosim_mechanics.spatial import compose, cross, minus, plus, position, put3, put6, put12, rotate

#: Header: where the joint origins (3 per body), the rotations R_GF (9) and the motion subspace (6 per degree
#: of freedom) lie in the cache.
ORIGINS, ROTATIONS, SUBSPACE = range(3)
#: Body: offsets of the slots, the index of the first degree of freedom and their number. PARENT is negative
#: under Ground.
PARENT, REFERENCE, X_PF, FRAMES, X_FM, H_FM, X_GB, FIRST_DOF, DOFS = range(9)
WIDTH = 9


def pose_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """X_GB = X_GP X_PF X_FM X_BM^-1, and each joint's H_FM as motions of the child in Ground.

    A tree under Ground has a reference point of its own, the place where the first joint's M is now: motions
    and forces are taken about it, so that nothing cancels in a mechanism that is far from Ground's origin.
    """
    origins = ints[first + ORIGINS]
    rotations = ints[first + ROTATIONS]
    subspace = ints[first + SUBSPACE]
    for body in range(count - 1):
        row = first + (body + 1) * WIDTH
        at = ints[row + X_PF]
        frame = p[at : at + 12]
        parent = ints[row + PARENT]
        frames = ints[row + FRAMES]
        X_GF = (
            composed(c[parent : parent + 12], frame, c[frames + F_TURNED]) if parent >= 0 else copied(frame)
        )
        at = ints[row + X_FM]
        X_GM = compose(X_GF, c[at : at + 12])
        at = ints[row + X_GB]
        put12(c[at : at + 12], composed(X_GM, c[frames : frames + 12], c[frames + M_TURNED]))
        at = rotations + 9 * body
        put9(c[at : at + 9], X_GF)
        at = ints[row + REFERENCE]
        reference = c[at : at + 3]
        if parent < 0:
            put3(reference, position(X_GM))
        origin = minus(position(X_GM), reference)
        at = origins + 3 * body
        put3(c[at : at + 3], origin)
        column = ints[row + H_FM]
        target = subspace + 6 * ints[row + FIRST_DOF]
        for _ in range(ints[row + DOFS]):
            w = rotate(X_GF, c[column : column + 3])
            v = rotate(X_GF, c[column + 3 : column + 6])
            put6(c[target : target + 6], w, plus(v, cross(origin, w)))
            column += 6
            target += 6


def copied(X: Any) -> Any:
    """A pose as a tuple."""
    return (X[0], X[1], X[2], X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11])


def put9(slot: Any, X: Any) -> None:
    """Write the rotation of a pose."""
    for i in range(9):
        slot[i] = X[i]
