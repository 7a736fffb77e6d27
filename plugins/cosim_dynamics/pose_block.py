"""Position stage: where every body of the tree is, and how it may move.

One call treats the whole tree, parents before children. Row 0 of the block is the header; a row for each body
follows.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.spatial import compose, cross, inverse, minus, plus, position, put3, put6, put12, rotate

#: Header: where the joint origins (3 per body) and the motion subspace (6 per degree of freedom) lie in the
#: cache.
ORIGINS, SUBSPACE = range(2)
#: Body: offsets of the slots, the index of the first degree of freedom and their number. PARENT is negative
#: under Ground.
PARENT, REFERENCE, X_PF, X_BM, X_FM, H_FM, X_GB, FIRST_DOF, DOFS = range(9)
WIDTH = 9


def pose_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """X_GB = X_GP X_PF X_FM X_BM^-1, and each joint's H_FM as motions of the child in Ground.

    A tree under Ground has a reference point of its own, the place where the first joint's M is now: motions
    and forces are taken about it, so that nothing cancels in a mechanism that is far from Ground's origin.
    """
    origins = ints[first + ORIGINS]
    subspace = ints[first + SUBSPACE]
    for body in range(count - 1):
        row = first + (body + 1) * WIDTH
        at = ints[row + X_PF]
        frame = p[at : at + 12]
        parent = ints[row + PARENT]
        X_GF = compose(c[parent : parent + 12], frame) if parent >= 0 else compose(GROUND, frame)
        at = ints[row + X_FM]
        X_GM = compose(X_GF, c[at : at + 12])
        at = ints[row + X_BM]
        X_MB = inverse(p[at : at + 12])
        at = ints[row + X_GB]
        put12(c[at : at + 12], compose(X_GM, X_MB))
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


GROUND = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
