"""Acceleration stage: u_dot from the equations of motion, and the acceleration of every body.

M = L^T D L with L as sparse as the tree: eliminating from the tips toward Ground makes no new entries.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_motion import write_acceleration
from cosim_dynamics.cached_vectors import put_real, put_spatial, real_at, reals_at, spatial_at
from cosim_dynamics.mass_matrix_rows import factor_row, mass_row
from cosim_dynamics.mechanism import dofs_of, mechanism_at
from cosim_dynamics.pivots import check_pivot
from cosim_dynamics.spatial_vectors import plus6, scaled6


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
    mechanism = mechanism_at(ints, first)
    u_dot = reals_at(c, mechanism.header.solution, mechanism.header.dofs)
    factorize_mass_matrix(c, mechanism, u_dot)
    solve_toward_tips(c, mechanism, u_dot)
    for link in mechanism.links:
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if link.has_parent != 0:
            change = spatial_at(c, link.parent.change)
        for dof in dofs_of(mechanism, link):
            change = plus6(change, scaled6(u_dot[dof.number], spatial_at(c, dof.S)))
        put_spatial(c, link.body.change, change)
        write_acceleration(c, link, change)


def factorize_mass_matrix(c: Any, mechanism: Any, solution: Any) -> None:
    """L^T D L in place of M, and on the way D^-1 L^-T applied to the right side."""
    header = mechanism.header
    dofs = mechanism.dofs
    copy_reals(reals_at(c, header.M, header.entries), reals_at(c, header.factor, header.entries))
    copy_reals(reals_at(c, header.right_side, header.dofs), solution)
    for n in range(len(dofs) - 1, -1, -1):
        dof = dofs[n]
        pivot = real_at(c, dof.D)
        check_pivot(pivot, mass_row(c, mechanism, dof)[dof.depth - 1])
        one_over = 1.0 / pivot
        x = solution[n]
        row = factor_row(c, mechanism, dof)
        column = dof.depth - 1
        i = dof.parent
        while i >= 0:
            ancestor = dofs[i]
            above = factor_row(c, mechanism, ancestor)
            column -= 1
            part = row[column] * one_over
            for j in range(column + 1):
                above[j] -= part * row[j]
            row[column] = part
            solution[i] -= part * x
            i = ancestor.parent
        solution[n] = x * one_over


def solve_toward_tips(c: Any, mechanism: Any, solution: Any) -> None:
    """L^-1 applied to what `factorize_mass_matrix` left of the right side: u_dot."""
    dofs = mechanism.dofs
    for n in range(len(dofs)):
        dof = dofs[n]
        row = factor_row(c, mechanism, dof)
        x = solution[n]
        column = dof.depth - 1
        i = n
        while i >= 0:
            first = dofs[dofs[i].run]
            column -= i - first.number
            # The nearest ancestor of a run was solved for last and comes last here: the sums need not wait
            # for it.
            count = min(i + 1, n) - first.number
            entries = reals_at(row, column, count)
            solved = reals_at(solution, first.number, count)
            for j in range(count):
                x -= entries[j] * solved[j]
            column -= 1
            i = first.parent
        solution[n] = x
        put_real(c, dof.free_u_dot, x)


def copy_reals(source: Any, target: Any) -> None:
    """Write what one view has into another that is as long."""
    for i in range(len(source)):
        target[i] = source[i]
