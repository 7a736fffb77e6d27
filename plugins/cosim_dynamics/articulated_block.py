"""Acceleration stage for deep trees: the same equations of motion, solved body by body without M.

From the tips toward Ground each degree of freedom is eliminated from the equations of what it carries; from
Ground to the tips the accelerations follow. The effort grows like the number of bodies.

Row 0 of the block is the header; rows for the bodies follow, parents first, then rows for the degrees of
freedom.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.articulated_inertias import put_articulated, release, resistance, whole
from cosim_dynamics.body_terms import (
    DOFS,
    FIRST_DOF,
    PARENT,
    REFERENCE,
    X_GB,
    put_acceleration,
    put_missing_force,
)
from cosim_dynamics.inertias import add, dot6
from cosim_mechanics.spatial import put6

#: Header: number of bodies, and where the solver's arrays lie in the cache: per body 23 for the articulated
#: inertia, 6 forces, 6 accelerations from u_dot; per degree of freedom 7 that the elimination leaves behind.
BODIES, SUBSPACE, VELOCITIES, BIASES, INERTIAS, FORCES, ELIMINATED, CHANGES = range(8)
#: Body: the columns of `body_terms`, then these slots.
V_GB, A_GB = range(9, 11)
#: Degree of freedom: its generalized force, its u_dot, and what the joint's own equation adds: a coefficient
#: (or -1) and a constant.
TAU, U_DOT, OWN, OWN_CONSTANT = range(4)
WIDTH = 11

#: Less than this part of the inertia left after elimination is rounding error.
SINGULAR = 1e-15


def articulated_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Solve M u_dot = T - V by recursion and write u_dot and A_GB (of the body origin, in Ground).

    Raises
    ------
    ValueError
        When M is singular.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7 (here in Ground's axes, about one point
    for a tree, where nothing has to be moved from body to body, and one degree of freedom at a time).
    """
    bodies = ints[first + BODIES]
    inertias = ints[first + INERTIAS]
    forces = ints[first + FORCES]
    velocities = ints[first + VELOCITIES]
    biases = ints[first + BIASES]
    for body in range(bodies):
        row = first + (body + 1) * WIDTH
        terms = put_missing_force(
            c, p, ints, row, velocities + 6 * body, biases + 6 * body, forces + 6 * body
        )
        put_articulated(c[inertias + 23 * body : inertias + 23 * body + 23], terms)
    subspace = ints[first + SUBSPACE]
    eliminated = ints[first + ELIMINATED]
    table = first + (bodies + 1) * WIDTH
    for body in range(bodies - 1, -1, -1):
        row = first + (body + 1) * WIDTH
        inertia = c[inertias + 23 * body : inertias + 23 * body + 23]
        wrench = c[forces + 6 * body : forces + 6 * body + 6]
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof + ints[row + DOFS] - 1, first_dof - 1, -1):
            entry = table + dof * WIDTH
            S = c[subspace + 6 * dof : subspace + 6 * dof + 6]
            U = resistance(inertia, S)
            pivot = dot6(S, U)
            missing = c[ints[entry + TAU]] - dot6(S, wrench)
            own = ints[entry + OWN]
            if own >= 0:
                pivot += c[own]
                missing -= c[ints[entry + OWN_CONSTANT]]
            if pivot <= SINGULAR * whole(inertia, S):
                raise ValueError(
                    "the mass matrix is singular: some joint moves nothing that has mass or inertia"
                )
            one_over = 1.0 / pivot
            at = eliminated + 7 * dof
            V = c[at : at + 6]
            V[0] = one_over * U[0]
            V[1] = one_over * U[1]
            V[2] = one_over * U[2]
            V[3] = one_over * U[3]
            V[4] = one_over * U[4]
            V[5] = one_over * U[5]
            c[at + 6] = one_over * missing
            release(inertia, U, V)
            wrench[0] += V[0] * missing
            wrench[1] += V[1] * missing
            wrench[2] += V[2] * missing
            wrench[3] += V[3] * missing
            wrench[4] += V[4] * missing
            wrench[5] += V[5] * missing
        parent = ints[row + PARENT]
        if parent >= 0:
            add(c[inertias + 23 * parent : inertias + 23 * parent + 23], inertia, 23)
            add(c[forces + 6 * parent : forces + 6 * parent + 6], wrench, 6)
    changes = ints[first + CHANGES]
    for body in range(bodies):
        row = first + (body + 1) * WIDTH
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        parent = ints[row + PARENT]
        if parent >= 0:
            at = changes + 6 * parent
            change = (c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4], c[at + 5])
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof, first_dof + ints[row + DOFS]):
            at = eliminated + 7 * dof
            x = c[at + 6] - dot6(c[at : at + 6], change)
            c[ints[table + dof * WIDTH + U_DOT]] = x
            at = subspace + 6 * dof
            S = c[at : at + 6]
            change = (
                change[0] + x * S[0],
                change[1] + x * S[1],
                change[2] + x * S[2],
                change[3] + x * S[3],
                change[4] + x * S[4],
                change[5] + x * S[5],
            )
        at = changes + 6 * body
        w = (change[0], change[1], change[2])
        v = (change[3], change[4], change[5])
        put6(c[at : at + 6], w, v)
        put_acceleration(
            c,
            w,
            v,
            biases + 6 * body,
            ints[row + REFERENCE],
            ints[row + X_GB],
            ints[row + V_GB],
            ints[row + A_GB],
        )
