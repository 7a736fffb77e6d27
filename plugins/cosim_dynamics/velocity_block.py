"""Velocity stage: velocities of the bodies, and the accelerations they would have if u_dot were zero.

Row 0 of the block is the header; a row for each body follows, parents before children.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.spatial import cross, minus, plus, put6, rotate, scaled

#: Header: where the joint origins, the rotations R_GF, the subspace, and 6 per body of velocities and of bias
#: accelerations lie in the cache.
ORIGINS, ROTATIONS, SUBSPACE, VELOCITIES, BIASES = range(5)
#: Body: index of the parent (negative under Ground), slots, degrees of freedom.
PARENT, REFERENCE, X_GB, V_GB, U, HDOT_U, FIRST_DOF, DOFS = range(8)
WIDTH = 8


def velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """V_GB about the body origin, and for the solver V and the bias of A about the tree's reference point.

    With S u the joint's motion, V_B = V_P + S u. The bias is the derivative of that sum at u_dot = 0; a
    spatial acceleration here is the derivative of a spatial velocity about a point at rest.
    """
    origins = ints[first + ORIGINS]
    rotations = ints[first + ROTATIONS]
    subspace = ints[first + SUBSPACE]
    velocities = ints[first + VELOCITIES]
    biases = ints[first + BIASES]
    for body in range(count - 1):
        row = first + (body + 1) * WIDTH
        w = (0.0, 0.0, 0.0)
        v = (0.0, 0.0, 0.0)
        at = subspace + 6 * ints[row + FIRST_DOF]
        speed = ints[row + U]
        for _ in range(ints[row + DOFS]):
            u = y[speed]
            w = plus(w, scaled(u, c[at : at + 3]))
            v = plus(v, scaled(u, c[at + 3 : at + 6]))
            at += 6
            speed += 1
        at = origins + 3 * body
        origin = c[at : at + 3]
        # In the joint: velocity of M's origin relative to the parent.
        slip = plus(v, cross(w, origin))
        bias_w = (0.0, 0.0, 0.0)
        bias_v = (0.0, 0.0, 0.0)
        at = ints[row + HDOT_U]
        bias = c[at : at + 6]
        if is_there(bias):
            at = rotations + 9 * body
            R_GF = c[at : at + 9]
            bias_w = rotate(R_GF, bias)
            bias_v = rotate(R_GF, bias[3:6])
        parent = ints[row + PARENT]
        if parent >= 0:
            at = velocities + 6 * parent
            w_P = c[at : at + 3]
            v_M = plus(plus(c[at + 3 : at + 6], cross(w_P, origin)), slip)
            bias_w = plus(bias_w, cross(w_P, w))
            bias_v = plus(plus(bias_v, cross(w_P, slip)), plus(cross(v_M, w), cross(origin, bias_w)))
            w = plus(w, w_P)
            v = plus(v, c[at + 3 : at + 6])
            at = biases + 6 * parent
            bias_w = plus(bias_w, c[at : at + 3])
            bias_v = plus(bias_v, c[at + 3 : at + 6])
        else:
            bias_v = plus(bias_v, plus(cross(slip, w), cross(origin, bias_w)))
        at = velocities + 6 * body
        put6(c[at : at + 6], w, v)
        at = biases + 6 * body
        put6(c[at : at + 6], bias_w, bias_v)
        at = ints[row + X_GB]
        reference = ints[row + REFERENCE]
        arm = minus(c[at + 9 : at + 12], c[reference : reference + 3])
        at = ints[row + V_GB]
        put6(c[at : at + 6], w, plus(v, cross(w, arm)))


def is_there(V: Any) -> bool:
    """Whether a spatial vector is anything but zero: for most joints (dH_FM/dt) u is not."""
    return not (V[0] == 0.0 and V[1] == 0.0 and V[2] == 0.0 and V[3] == 0.0 and V[4] == 0.0 and V[5] == 0.0)
