"""Acceleration stage: the equations of motion, M u_dot = T - V.

M is symmetric; of row i only the columns of the degrees of freedom between Ground and i can differ from zero.
Row i keeps just these, Ground's side first and the diagonal last. A row of an ancestor is as long as the
ancestor is deep, so the same position means the same column in both: factorization and solution need no
look-up.

Row 0 of the block is the header; rows for the bodies follow (columns: `body_terms`), parents first, then rows
for the degrees of freedom.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_terms import DOFS, FIRST_DOF, PARENT, missing_force
from cosim_dynamics.inertias import add, dot6, momentum_of, put_inertia
from cosim_dynamics.offsets import offset, write6

#: Header: number of bodies and of degrees of freedom, and where the solver's arrays lie in the cache.
BODIES, SIZE, SUBSPACE, VELOCITIES, BIASES, INERTIAS, FORCES, RIGHT_SIDE = range(8)
#: Degree of freedom: the one before it toward Ground (or -1), the first of the unbroken run of such numbers
#: that it belongs to, where its row ends (the diagonal), its generalized force, and what the joint's own
#: equation adds: a row of coefficients (or -1) and a constant.
BEFORE, RUN, DIAGONAL, TAU, OWN, OWN_CONSTANT = range(6)
WIDTH = 9


def equations_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Rows of M from composite inertias, and T - V from the forces that are missing or left over.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 5.3 and 6.
    """
    bodies = ints[first + BODIES]
    inertias = ints[first + INERTIAS]
    forces = ints[first + FORCES]
    velocities = ints[first + VELOCITIES]
    biases = ints[first + BIASES]
    for body in range(bodies):
        row = offset(first + (body + 1) * WIDTH)
        terms, moment, force = missing_force(
            c, p, ints, row, offset(velocities + 6 * body), offset(biases + 6 * body)
        )
        write6(c, offset(forces + 6 * body), moment, force)
        put_inertia(c[inertias + 10 * body : inertias + 10 * body + 10], terms)
    subspace = ints[first + SUBSPACE]
    right_side = ints[first + RIGHT_SIDE]
    table = first + (bodies + 1) * WIDTH
    for body in range(bodies - 1, -1, -1):
        row = first + (body + 1) * WIDTH
        composite = c[inertias + 10 * body : inertias + 10 * body + 10]
        wrench = c[forces + 6 * body : forces + 6 * body + 6]
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof, first_dof + ints[row + DOFS]):
            entry = table + dof * WIDTH
            S = c[subspace + 6 * dof : subspace + 6 * dof + 6]
            c[right_side + dof] = c[ints[entry + TAU]] - dot6(S, wrench)
            momentum = momentum_of(composite, S)
            diagonal = ints[entry + DIAGONAL]
            end = diagonal
            other = dof
            while other >= 0:
                run = ints[table + other * WIDTH + RUN]
                shift = end - other
                for i in range(run, other + 1):
                    at = subspace + 6 * i
                    c[shift + i] = dot6(c[at : at + 6], momentum)
                end = shift + run - 1
                other = ints[table + run * WIDTH + BEFORE]
            own = ints[entry + OWN]
            if own >= 0:
                c[right_side + dof] -= c[ints[entry + OWN_CONSTANT]]
                shift = diagonal - dof + first_dof
                for i in range(dof - first_dof + 1):
                    c[shift + i] += c[own + i]
        parent = ints[row + PARENT]
        if parent >= 0:
            add(c[inertias + 10 * parent : inertias + 10 * parent + 10], composite, 10)
            add(c[forces + 6 * parent : forces + 6 * parent + 6], wrench, 6)
