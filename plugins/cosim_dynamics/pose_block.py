"""Position stage: where every body of the tree is, and how it may move.

One call treats the whole tree, parents before children. Row 0 of the block is the header; a row for each body
follows.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.frames_block import F_TURNED, M_TURNED, PLAIN, composed
from cosim_dynamics.offsets import nine, offset, three, twelve, write3, write6, write9, write12
from cosim_mechanics.spatial import compose, cross, minus, plus, position, rotate, station

#: Header: where the joint origins (3 per body), the rotations R_GF (9) and the motion subspace (6 per degree
#: of freedom) lie in the cache.
ORIGINS, ROTATIONS, SUBSPACE = range(3)
#: Body: offsets of the slots, the index of the first degree of freedom, their number, the axes of F that
#: they move along, as `packed` has them, and whether the joint only turns about z. PARENT is negative under
#: Ground.
PARENT, REFERENCE, X_PF, FRAMES, X_FM, H_FM, X_GB, FIRST_DOF, DOFS, AXES, ONLY_TURNS = range(11)
WIDTH = 11
#: In place of packed axes, where a joint says nothing of them.
ANY = -1


def packed(axes: tuple[int, ...] | None) -> int:
    """A joint's `axes` as one integer, three bits for each, the first lowest."""
    return ANY if axes is None else sum(axis << 3 * i for i, axis in enumerate(axes))


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
        parent = ints[row + PARENT]
        frames = offset(ints[row + FRAMES])
        inner = offset(ints[row + X_PF])
        across = offset(ints[row + X_FM])
        outer = offset(ints[row + X_GB])
        rotation = offset(rotations + 9 * body)
        if parent >= 0 and ints[row + ONLY_TURNS] != 0 and c[frames + PLAIN] != 0.0:
            X_GP = twelve(c, offset(parent))
            p_M = station(X_GP, three(p, inner + 9))
            rotation = offset(parent)  # which begins with the rotation of F, too
            write12(c, outer, turned_about_z(X_GP, c[across], c[across + 3], p_M))
        else:
            frame = twelve(p, inner)
            X_GF = composed(twelve(c, offset(parent)), frame, c[frames + F_TURNED]) if parent >= 0 else frame
            X_GM = compose(X_GF, twelve(c, across))
            p_M = position(X_GM)
            write9(c, rotation, X_GF)
            write12(c, outer, composed(X_GM, twelve(c, frames), c[frames + M_TURNED]))
        reference = offset(ints[row + REFERENCE])
        if parent < 0:
            write3(c, reference, p_M)
        origin = minus(p_M, three(c, reference))
        write3(c, offset(origins + 3 * body), origin)
        dofs = ints[row + DOFS]
        target = offset(subspace + 6 * ints[row + FIRST_DOF])
        axes = ints[row + AXES]
        if axes >= 0:
            for _ in range(dofs):
                write_axis(c, target, rotation, axes & 7, origin)
                axes >>= 3
                target = offset(target + 6)
        else:
            R_GF = nine(c, rotation)
            column = offset(ints[row + H_FM])
            for _ in range(dofs):
                w = rotate(R_GF, three(c, column))
                v = rotate(R_GF, three(c, column + 3))
                write6(c, target, w, plus(v, cross(origin, w)))
                column = offset(column + 6)
                target = offset(target + 6)


def write_axis(c: Any, at: int, rotation: int, axis: int, origin: Any) -> None:
    """The motion about the reference point along a joint's axis: 0 to 2 turn about one of F, 3 to 5 shift."""
    if axis < 3:
        x = offset(rotation + axis)
        w = (c[x], c[x + 3], c[x + 6])
        write6(c, at, w, cross(origin, w))
    else:
        x = offset(rotation + axis - 3)
        write6(c, at, (0.0, 0.0, 0.0), (c[x], c[x + 3], c[x + 6]))


def turned_about_z(X: Any, cosine: float, sine: float, p: Any) -> Any:
    """The pose with its rotation turned about its own z axis, at another position."""
    return (
        X[0] * cosine + X[1] * sine, X[1] * cosine - X[0] * sine, X[2],
        X[3] * cosine + X[4] * sine, X[4] * cosine - X[3] * sine, X[5],
        X[6] * cosine + X[7] * sine, X[7] * cosine - X[6] * sine, X[8],
        p[0], p[1], p[2],
    )  # fmt: skip
