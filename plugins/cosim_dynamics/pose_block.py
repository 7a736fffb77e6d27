"""Position stage: where every body of the tree is, and how it may move.

One call treats the whole tree, parents before children. Row 0 of the block is the header; a row for each body
follows.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.frames_block import F_TURNED, M_TURNED, composed
from cosim_dynamics.offsets import offset, three, twelve, write3, write6, write9, write12
from cosim_mechanics.spatial import compose, cross, minus, plus, position, rotate, station

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
    first = offset(first)
    origins = offset(ints[first + ORIGINS])
    rotations = offset(ints[first + ROTATIONS])
    subspace = offset(ints[first + SUBSPACE])
    for body in range(count - 1):
        row = offset(first + (body + 1) * WIDTH)
        frame = twelve(p, offset(ints[row + X_PF]))
        parent = ints[row + PARENT]
        frames = offset(ints[row + FRAMES])
        X_GF = composed(twelve(c, offset(parent)), frame, c[frames + F_TURNED]) if parent >= 0 else frame
        X_GM = crossed(X_GF, twelve(c, offset(ints[row + X_FM])))
        write12(c, offset(ints[row + X_GB]), composed(X_GM, twelve(c, frames), c[frames + M_TURNED]))
        write9(c, offset(rotations + 9 * body), X_GF)
        reference = offset(ints[row + REFERENCE])
        if parent < 0:
            write3(c, reference, position(X_GM))
        origin = minus(position(X_GM), three(c, reference))
        write3(c, offset(origins + 3 * body), origin)
        column = offset(ints[row + H_FM])
        target = offset(subspace + 6 * ints[row + FIRST_DOF])
        for _ in range(ints[row + DOFS]):
            w = rotate(X_GF, three(c, column))
            v = rotate(X_GF, three(c, column + 3))
            write6(c, target, w, plus(v, cross(origin, w)))
            column = offset(column + 6)
            target = offset(target + 6)


def crossed(X_GF: Any, X_FM: Any) -> Any:
    """X_GF X_FM, with less work for a rotation about the common z axis: what most joints are."""
    if X_FM[8] != 1.0 or X_FM[2] != 0.0 or X_FM[5] != 0.0 or X_FM[6] != 0.0 or X_FM[7] != 0.0:
        return compose(X_GF, X_FM)
    p = station(X_GF, (X_FM[9], X_FM[10], X_FM[11]))
    return (
        X_GF[0] * X_FM[0] + X_GF[1] * X_FM[3], X_GF[0] * X_FM[1] + X_GF[1] * X_FM[4], X_GF[2],
        X_GF[3] * X_FM[0] + X_GF[4] * X_FM[3], X_GF[3] * X_FM[1] + X_GF[4] * X_FM[4], X_GF[5],
        X_GF[6] * X_FM[0] + X_GF[7] * X_FM[3], X_GF[6] * X_FM[1] + X_GF[7] * X_FM[4], X_GF[8],
        p[0], p[1], p[2],
    )  # fmt: skip
