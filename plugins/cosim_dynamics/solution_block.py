"""Acceleration stage: u_dot from the equations of motion, and the acceleration of every body.

M = L^T D L with L as sparse as the tree: eliminating from the tips toward Ground makes no new entries.
Rows as in `equations_block`: row 0 is the header, then the bodies, then the degrees of freedom.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_terms import put_acceleration
from cosim_dynamics.inertias import plus6, scaled6
from cosim_dynamics.offsets import offset, put_six, six

#: Header: sizes, and where the solver's arrays lie in the cache. M and its factor have the same layout.
BODIES, SIZE, SUBSPACE, BIASES, RIGHT_SIDE, M, FACTOR, ENTRIES, SOLUTION, CHANGES = range(10)
#: Body: index of the parent (negative under Ground), slots, degrees of freedom.
PARENT, REFERENCE, X_GB, V_GB, A_GB, FIRST_DOF, DOFS = range(7)
#: Degree of freedom: the one before it toward Ground (or -1), the first of its unbroken run, where its row of
#: the factor starts and ends, and the slot of its u_dot.
BEFORE, RUN, START, DIAGONAL, U_DOT = range(5)
WIDTH = 10

#: Less than this part of a diagonal entry left after elimination is rounding error: the matrix is singular.
SINGULAR = 1e-15


def solution_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Solve M u_dot = T - V and write u_dot and A_GB (of the body origin, in Ground).

    Raises
    ------
    ValueError
        When M is singular.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 6.5.
    """
    first = offset(first)
    bodies = ints[first + BODIES]
    size = ints[first + SIZE]
    table = offset(first + (bodies + 1) * WIDTH)
    M_at = offset(ints[first + M])
    factor = offset(ints[first + FACTOR])
    solution = offset(ints[first + SOLUTION])
    right_side = offset(ints[first + RIGHT_SIDE])
    for i in range(ints[first + ENTRIES]):
        c[factor + i] = c[M_at + i]
    for i in range(size):
        c[solution + i] = c[right_side + i]
    # L^T D L in place of M, and on the way L^-T applied to the right side.
    for n in range(size - 1, -1, -1):
        entry = offset(table + n * WIDTH)
        diagonal = offset(ints[entry + DIAGONAL])
        pivot = c[diagonal]
        if pivot <= SINGULAR * c[offset(diagonal - factor + M_at)]:
            raise ValueError("the mass matrix is singular: some joint moves nothing that has mass or inertia")
        one_over = 1.0 / pivot
        start = offset(ints[entry + START])
        x = c[offset(solution + n)]
        at = diagonal
        i = ints[entry + BEFORE]
        while i >= 0:
            at = offset(at - 1)
            part = c[at] * one_over
            above = offset(table + i * WIDTH)
            target = offset(ints[above + START])
            for b in range(at + 1 - start):
                c[offset(target + b)] -= part * c[offset(start + b)]
            c[at] = part
            c[offset(solution + i)] -= part * x
            i = ints[above + BEFORE]
        c[offset(solution + n)] = x * one_over
    for n in range(size):
        entry = offset(table + n * WIDTH)
        x = c[offset(solution + n)]
        end = ints[entry + DIAGONAL]
        i = n
        while i >= 0:
            run = ints[offset(table + i * WIDTH) + RUN]
            shift = end - i
            # The nearest ancestor of a run was solved for last and comes last here: the sums need not wait
            # for it.
            for j in range(run, min(i + 1, n)):
                x -= c[offset(shift + j)] * c[offset(solution + j)]
            end = shift + run - 1
            i = ints[offset(table + run * WIDTH) + BEFORE]
        c[offset(solution + n)] = x
        c[offset(ints[entry + U_DOT])] = x
    subspace = offset(ints[first + SUBSPACE])
    biases = offset(ints[first + BIASES])
    changes = offset(ints[first + CHANGES])
    for body in range(bodies):
        row = offset(first + (body + 1) * WIDTH)
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        parent = ints[row + PARENT]
        if parent >= 0:
            change = six(c, offset(changes + 6 * parent))
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof, first_dof + ints[row + DOFS]):
            S = six(c, offset(subspace + 6 * dof))
            change = plus6(change, scaled6(c[offset(solution + dof)], S))
        put_six(c, offset(changes + 6 * body), change)
        put_acceleration(
            c,
            (change[0], change[1], change[2]),
            (change[3], change[4], change[5]),
            offset(biases + 6 * body),
            offset(ints[row + REFERENCE]),
            offset(ints[row + X_GB]),
            offset(ints[row + V_GB]),
            offset(ints[row + A_GB]),
        )
