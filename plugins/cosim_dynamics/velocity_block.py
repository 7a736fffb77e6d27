"""Velocity stage: velocities of the bodies, and the accelerations they would have if u_dot were zero.

Row 0 of the first block is the header; a row for each body follows, parents before children.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.offsets import nine, offset, six, three, write6
from cosim_mechanics.spatial import cross, minus, plus, rotate, scaled

#: Header: where the joint origins, the rotations R_GF, the subspace, and 6 per body of velocities and of bias
#: accelerations lie in the cache.
ORIGINS, ROTATIONS, SUBSPACE, VELOCITIES, BIASES = range(5)
#: Body: index of the parent (negative under Ground), slots, degrees of freedom, and what the joint's axes
#: say: nothing (ANY), that they stay in F (FIXED), or that M's origin does so too (PIVOT).
PARENT, U, HDOT_U, FIRST_DOF, DOFS, KIND = range(6)
WIDTH = 6
ANY, FIXED, PIVOT = range(3)
#: Of `body_velocity_block`: the velocity about the tree's reference point, that point, slots of the body.
VELOCITY, REFERENCE, X_GB, V_GB = range(4)
BODY_WIDTH = 4


def velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """For the solver V and the bias of A of each body, about the tree's reference point.

    With S u the joint's motion, V_B = V_P + S u. The bias is the derivative of that sum at u_dot = 0; a
    spatial acceleration here is the derivative of a spatial velocity about a point at rest.
    """
    first = offset(first)
    origins = offset(ints[first + ORIGINS])
    rotations = offset(ints[first + ROTATIONS])
    subspace = offset(ints[first + SUBSPACE])
    velocities = offset(ints[first + VELOCITIES])
    biases = offset(ints[first + BIASES])
    for body in range(count - 1):
        row = offset(first + (body + 1) * WIDTH)
        w = (0.0, 0.0, 0.0)
        v = (0.0, 0.0, 0.0)
        dofs = ints[row + DOFS]
        if dofs > 0:
            at = offset(subspace + 6 * ints[row + FIRST_DOF])
            speed = offset(ints[row + U])
            u = y[speed]
            w = scaled(u, three(c, at))
            v = scaled(u, three(c, at + 3))
            for _ in range(dofs - 1):
                at = offset(at + 6)
                speed = offset(speed + 1)
                u = y[speed]
                w = plus(w, scaled(u, three(c, at)))
                v = plus(v, scaled(u, three(c, at + 3)))
        bias_w = (0.0, 0.0, 0.0)
        bias_v = (0.0, 0.0, 0.0)
        kind = ints[row + KIND]
        if kind != PIVOT:
            # M's origin, about which the joint turns, moves in F.
            origin = three(c, offset(origins + 3 * body))
            bias_v = cross(plus(v, cross(w, origin)), w)
            bias = six(c, offset(ints[row + HDOT_U]))
            if kind == ANY and is_there(bias):
                R_GF = nine(c, offset(rotations + 9 * body))
                bias_w = rotate(R_GF, (bias[0], bias[1], bias[2]))
                remainder = rotate(R_GF, (bias[3], bias[4], bias[5]))
                bias_v = plus(plus(bias_v, remainder), cross(origin, bias_w))
        parent = ints[row + PARENT]
        if parent >= 0:
            at = offset(velocities + 6 * parent)
            w_P = three(c, at)
            v_P = three(c, at + 3)
            bias_w = plus(bias_w, cross(w_P, w))
            bias_v = plus(bias_v, plus(cross(w_P, v), cross(v_P, w)))
            w = plus(w, w_P)
            v = plus(v, v_P)
            at = offset(biases + 6 * parent)
            bias_w = plus(bias_w, three(c, at))
            bias_v = plus(bias_v, three(c, at + 3))
        write6(c, offset(velocities + 6 * body), w, v)
        write6(c, offset(biases + 6 * body), bias_w, bias_v)


def body_velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """V_GB, about the body origin: what elements and measures read, the solvers themselves do not."""
    for body in range(count):
        row = offset(first + BODY_WIDTH * body)
        velocity = offset(ints[row + VELOCITY])
        w = three(c, velocity)
        arm = minus(three(c, offset(ints[row + X_GB]) + 9), three(c, offset(ints[row + REFERENCE])))
        write6(c, offset(ints[row + V_GB]), w, plus(three(c, velocity + 3), cross(w, arm)))


body_velocity_block.__dict__["__row__"] = BODY_WIDTH


def kind_of(axes: tuple[int, ...] | None) -> int:
    """What the axes of a joint say: see KIND."""
    if axes is None:
        return ANY
    return PIVOT if all(axis < 3 for axis in axes) else FIXED


def is_there(V: Any) -> bool:
    """Whether a spatial vector is anything but zero: for most joints (dH_FM/dt) u is not."""
    return not (V[0] == 0.0 and V[1] == 0.0 and V[2] == 0.0 and V[3] == 0.0 and V[4] == 0.0 and V[5] == 0.0)
