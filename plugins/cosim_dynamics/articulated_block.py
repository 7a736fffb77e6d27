"""Acceleration stage for deep trees: the same equations of motion, solved body by body without M.

From the tips toward Ground each degree of freedom is eliminated from the equations of what it carries; from
Ground to the tips the accelerations follow. The effort grows like the number of bodies.

Row 0 of the block is the header; rows for the bodies follow, parents first, then rows for the degrees of
freedom.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.articulated_inertias import (
    SIZE,
    hand_over,
    put_rigid,
    release,
    resistance,
    whole,
)
from cosim_dynamics.body_terms import DOFS, FIRST_DOF, PARENT, missing_force
from cosim_dynamics.inertias import dot6, plus6, scaled6
from cosim_dynamics.offsets import offset, put_six, six, write6

#: Header: number of bodies, and where the solver's arrays lie in the cache: per body 23 for the articulated
#: inertia, 6 forces, 6 accelerations from u_dot; per degree of freedom 8 that the elimination leaves behind,
#: the last of which is what it divides by.
BODIES, SUBSPACE, VELOCITIES, BIASES, INERTIAS, FORCES, ELIMINATED, CHANGES = range(8)
#: Body: the columns of `body_terms`.
#: Degree of freedom: its generalized force, its u_dot, and what the joint's own equation adds: a coefficient
#: (or -1) and a constant.
TAU, U_DOT, OWN, OWN_CONSTANT = range(4)
WIDTH = 9

#: Less than this part of the inertia left after elimination is rounding error.
SINGULAR = 1e-15


def articulated_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Solve M u_dot = T - V by recursion and write u_dot, and what it adds to the bodies' accelerations.

    Raises
    ------
    ValueError
        When M is singular.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7 (here in Ground's axes, about one point
    for a tree, where nothing has to be moved from body to body, and one degree of freedom at a time).
    """
    first = offset(first)
    bodies = ints[first + BODIES]
    subspace = offset(ints[first + SUBSPACE])
    velocities = offset(ints[first + VELOCITIES])
    biases = offset(ints[first + BIASES])
    inertias = offset(ints[first + INERTIAS])
    forces = offset(ints[first + FORCES])
    eliminated = offset(ints[first + ELIMINATED])
    changes = offset(ints[first + CHANGES])
    table = offset(first + (bodies + 1) * WIDTH)
    for body in range(bodies):
        row = offset(first + (body + 1) * WIDTH)
        terms, moment, force = missing_force(
            c, p, ints, row, offset(velocities + 6 * body), offset(biases + 6 * body)
        )
        put_rigid(c, offset(inertias + SIZE * body), terms)
        write6(c, offset(forces + 6 * body), moment, force)
    for body in range(bodies - 1, -1, -1):
        row = offset(first + (body + 1) * WIDTH)
        inertia = offset(inertias + SIZE * body)
        wrench = offset(forces + 6 * body)
        parent = ints[row + PARENT]
        first_dof = ints[row + FIRST_DOF]
        U = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        missing = 0.0
        for dof in range(first_dof + ints[row + DOFS] - 1, first_dof - 1, -1):
            entry = offset(table + dof * WIDTH)
            S = six(c, offset(subspace + 6 * dof))
            U = resistance(c, inertia, S)
            pivot = dot6(S, U)
            missing = c[offset(ints[entry + TAU])] - dot6(S, six(c, wrench))
            own = ints[entry + OWN]
            if own >= 0:
                pivot += c[own]
                missing -= c[ints[entry + OWN_CONSTANT]]
            if pivot <= SINGULAR * whole(c, inertia, S):
                raise ValueError(
                    "the mass matrix is singular: some joint moves nothing that has mass or inertia"
                )
            one_over = 1.0 / pivot
            V = scaled6(one_over, U)
            at = offset(eliminated + 8 * dof)
            put_six(c, at, V)
            c[at + 6] = one_over * missing
            c[at + 7] = pivot
            if dof > first_dof:
                release(c, inertia, U, V)
                put_six(c, wrench, plus6(six(c, wrench), scaled6(missing, V)))
        if parent >= 0:
            hand_over(c, inertia, offset(inertias + SIZE * parent), U, V)
            at = offset(forces + 6 * parent)
            put_six(c, at, plus6(six(c, at), plus6(six(c, wrench), scaled6(missing, V))))
    change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for body in range(bodies):
        row = offset(first + (body + 1) * WIDTH)
        parent = ints[row + PARENT]
        if parent < 0:
            change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        elif parent != body - 1:  # whose change is at hand
            change = six(c, offset(changes + 6 * parent))
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof, first_dof + ints[row + DOFS]):
            at = offset(eliminated + 8 * dof)
            x = c[at + 6] - dot6(six(c, at), change)
            c[offset(ints[offset(table + dof * WIDTH) + U_DOT])] = x
            change = plus6(change, scaled6(x, six(c, offset(subspace + 6 * dof))))
        put_six(c, offset(changes + 6 * body), change)
