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
from cosim_dynamics.inertias import dot6, momentum_of, plus6, plus10, rigid_inertia
from cosim_dynamics.offsets import offset, put_six, put_ten, six, ten

#: Header: number of bodies and of degrees of freedom, and where the solver's arrays lie in the cache.
BODIES, SIZE, SUBSPACE, VELOCITIES, BIASES, INERTIAS, FORCES, RIGHT_SIDE = range(8)
#: Body: the columns of `body_terms`, and whether it carries others and is the last child of its parent (the
#: first on the way from the tips toward Ground).
CARRIES, LAST_CHILD = range(9, 11)
#: Degree of freedom: the one before it toward Ground (or -1), the first of the unbroken run of such numbers
#: that it belongs to, where its row ends (the diagonal), its generalized force, and what the joint's own
#: equation adds: a row of coefficients (or -1) and a constant.
BEFORE, RUN, DIAGONAL, TAU, OWN, OWN_CONSTANT = range(6)
WIDTH = 11


def equations_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Rows of M from composite inertias, and T - V from the forces that are missing or left over.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 5.3 and 6.
    """
    first = offset(first)
    bodies = ints[first + BODIES]
    subspace = offset(ints[first + SUBSPACE])
    velocities = offset(ints[first + VELOCITIES])
    biases = offset(ints[first + BIASES])
    inertias = offset(ints[first + INERTIAS])
    forces = offset(ints[first + FORCES])
    right_side = offset(ints[first + RIGHT_SIDE])
    table = offset(first + (bodies + 1) * WIDTH)
    for body in range(bodies - 1, -1, -1):
        row = offset(first + (body + 1) * WIDTH)
        terms, moment, force = missing_force(
            c, p, ints, row, offset(velocities + 6 * body), offset(biases + 6 * body)
        )
        composite = rigid_inertia(terms)
        wrench = (moment[0], moment[1], moment[2], force[0], force[1], force[2])
        if ints[row + CARRIES] != 0:
            composite = plus10(composite, ten(c, offset(inertias + 10 * body)))
            wrench = plus6(wrench, six(c, offset(forces + 6 * body)))
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof, first_dof + ints[row + DOFS]):
            entry = offset(table + dof * WIDTH)
            S = six(c, offset(subspace + 6 * dof))
            missing = c[offset(ints[entry + TAU])] - dot6(S, wrench)
            momentum = momentum_of(composite, S)
            diagonal = ints[entry + DIAGONAL]
            end = diagonal
            other = dof
            while other >= 0:
                run = ints[offset(table + other * WIDTH) + RUN]
                shift = end - other
                for i in range(run, other + 1):
                    c[offset(shift + i)] = dot6(six(c, offset(subspace + 6 * i)), momentum)
                end = shift + run - 1
                other = ints[offset(table + run * WIDTH) + BEFORE]
            own = ints[entry + OWN]
            if own >= 0:
                missing -= c[offset(ints[entry + OWN_CONSTANT])]
                shift = diagonal - dof + first_dof
                for i in range(dof - first_dof + 1):
                    c[offset(shift + i)] += c[offset(own + i)]
            c[offset(right_side + dof)] = missing
        parent = ints[row + PARENT]
        if parent >= 0:
            at = offset(inertias + 10 * parent)
            force_at = offset(forces + 6 * parent)
            if ints[row + LAST_CHILD] == 0:  # others arrived here before
                composite = plus10(composite, ten(c, at))
                wrench = plus6(wrench, six(c, force_at))
            put_ten(c, at, composite)
            put_six(c, force_at, wrench)
