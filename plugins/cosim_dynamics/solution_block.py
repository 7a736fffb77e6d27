"""Acceleration stage: u_dot from the equations of motion, and the acceleration of every body.

M = L^T D L with L as sparse as the tree: eliminating from the tips toward Ground makes no new entries.
Rows as in `equations_block`: row 0 is the header, then the bodies, then the degrees of freedom.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_terms import put_acceleration
from cosim_mechanics.spatial import plus, put6, scaled

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
    bodies = ints[first + BODIES]
    size = ints[first + SIZE]
    table = first + (bodies + 1) * WIDTH
    M_at = ints[first + M]
    factor = ints[first + FACTOR]
    solution = ints[first + SOLUTION]
    right_side = ints[first + RIGHT_SIDE]
    for i in range(ints[first + ENTRIES]):
        c[factor + i] = c[M_at + i]
    for i in range(size):
        c[solution + i] = c[right_side + i]
    # L^T D L in place of M, and on the way L^-T applied to the right side.
    for n in range(size - 1, -1, -1):
        entry = table + n * WIDTH
        diagonal = ints[entry + DIAGONAL]
        pivot = c[diagonal]
        if pivot <= SINGULAR * c[diagonal - factor + M_at]:
            raise ValueError("the mass matrix is singular: some joint moves nothing that has mass or inertia")
        one_over = 1.0 / pivot
        start = ints[entry + START]
        x = c[solution + n]
        at = diagonal
        i = ints[entry + BEFORE]
        while i >= 0:
            at -= 1
            part = c[at] * one_over
            length = at + 1 - start
            target = ints[table + i * WIDTH + START]
            target_row = c[target : target + length]
            row = c[start : start + length]
            for b in range(length):
                target_row[b] -= part * row[b]
            c[at] = part
            c[solution + i] -= part * x
            i = ints[table + i * WIDTH + BEFORE]
        c[solution + n] = x * one_over
    for n in range(size):
        entry = table + n * WIDTH
        x = c[solution + n]
        end = ints[entry + DIAGONAL]
        i = n
        while i >= 0:
            run = ints[table + i * WIDTH + RUN]
            shift = end - i
            # The nearest ancestor of a run was solved for last and comes last here: the sums need not wait
            # for it.
            length = min(i + 1, n) - run
            row = c[shift + run : shift + run + length]
            solved = c[solution + run : solution + run + length]
            for j in range(length):
                x -= row[j] * solved[j]
            end = shift + run - 1
            i = ints[table + run * WIDTH + BEFORE]
        c[solution + n] = x
        c[ints[entry + U_DOT]] = x
    subspace = ints[first + SUBSPACE]
    biases = ints[first + BIASES]
    changes = ints[first + CHANGES]
    for body in range(bodies):
        row = first + (body + 1) * WIDTH
        w = (0.0, 0.0, 0.0)
        v = (0.0, 0.0, 0.0)
        parent = ints[row + PARENT]
        if parent >= 0:
            at = changes + 6 * parent
            w = plus(w, c[at : at + 3])
            v = plus(v, c[at + 3 : at + 6])
        first_dof = ints[row + FIRST_DOF]
        for dof in range(first_dof, first_dof + ints[row + DOFS]):
            x = c[solution + dof]
            at = subspace + 6 * dof
            w = plus(w, scaled(x, c[at : at + 3]))
            v = plus(v, scaled(x, c[at + 3 : at + 6]))
        at = changes + 6 * body
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
