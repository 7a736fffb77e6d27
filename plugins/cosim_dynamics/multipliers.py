"""Solving equations of constraints for their multipliers, in kernel functions.

With the mass matrix M = L^T D L and the Jacobian G of a group, the multipliers solve A multipliers = values,
where A = G M^-1 G^T = Z D^-1 Z^T and Z = G L^-1. The factor L, D was computed before, by rows of the mass
matrix or by bodies (`Header.is_by_body`). A group whose equations are independent is solved along the tree
instead, without A.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import put_spatial, real_at, reals_at, spatial_at
from cosim_dynamics.constraint_arrays import constraint_arrays
from cosim_dynamics.equation_setup import set_up_jacobian
from cosim_dynamics.front_factorization import factorize_along_tree
from cosim_dynamics.front_solution import apply_corrections, solve_along_tree
from cosim_dynamics.group_records import group_links_of
from cosim_dynamics.mass_matrix_rows import factor_row
from cosim_dynamics.mechanism import dofs_of
from cosim_dynamics.pivoted_cholesky import factorize, least_squares, weigh
from cosim_dynamics.spatial_vectors import dot6, plus6, scaled6


def set_up_group(p: Any, c: Any, mechanism: Any, group: Any, arrays: Any, level: int) -> None:
    """Factorize a group along the tree, or set up the dense matrices of all its equations.

    Parameters
    ----------
    level : int
        Along the tree only equations of this level or a higher one are factorized (`EquationSlots.level`).
    """
    if group.fronts > 0 and factorize_along_tree(p, c, mechanism, group, arrays, level):
        arrays.state.is_along_tree = 1.0
    else:
        arrays.state.is_along_tree = 0.0
        set_up_jacobian(p, c, mechanism, arrays)
        divide_by_factor(c, mechanism, group, arrays)
        set_up_products(c, mechanism, arrays)


def solve_group(c: Any, mechanism: Any, group: Any, arrays: Any) -> tuple[int, float]:
    """The multipliers that make the values of a group zero; these are overwritten.

    Returns
    -------
    int
        The rank of A; 0 if the group was solved along the tree: there is no A, and nothing to report.
    float
        The shortest column of its factor that counts, in parts of what is usual; or 1.
    """
    if arrays.state.is_along_tree != 0.0:
        solve_along_tree(c, mechanism, group, arrays)
        return 0, 1.0
    rank = factorize(arrays.cholesky)
    rank, shortest = weigh(arrays.cholesky, rank, arrays.state.angle)
    least_squares(arrays.cholesky, rank, arrays.values, arrays.multipliers)
    return rank, shortest


def divide_by_factor(c: Any, mechanism: Any, group: Any, arrays: Any) -> None:
    """Z = G L^-1, with the factor L of the mass matrix."""
    for r in range(len(arrays.equations)):
        row = arrays.jacobian[r]
        eliminated = arrays.eliminated[r]
        for i in range(len(row)):
            eliminated[i] = row[i]
        if mechanism.header.is_by_body != 0:
            divide_by_bodies(c, mechanism, group, arrays.members, eliminated)
        else:
            divide_by_rows(c, mechanism, arrays.members, eliminated)


def divide_by_rows(c: Any, mechanism: Any, members: Any, row: Any) -> None:
    """A row of G becomes one of Z by the rows of L, from the tips to Ground."""
    for i in range(len(row) - 1, -1, -1):
        x = row[i]
        if x != 0.0:
            member = members[i]
            dof = mechanism.dofs[member.number]
            L = factor_row(c, mechanism, dof)
            column = dof.depth - 1
            j = member.parent
            while j >= 0:
                column -= 1
                row[j] -= L[column] * x
                j = members[j].parent


def divide_by_bodies(c: Any, mechanism: Any, group: Any, members: Any, row: Any) -> None:
    """A row of G becomes one of Z: what is missing at each speed when those further out gave way."""
    links = group_links_of(mechanism, group)
    for place in links:
        put_spatial(c, mechanism.links[place.number].body.correction, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    m = len(row) - 1
    for i in range(len(links) - 1, -1, -1):
        link = mechanism.links[links[i].number]
        wrench = spatial_at(c, link.body.correction)
        dofs = dofs_of(mechanism, link)
        for j in range(len(dofs) - 1, -1, -1):
            dof = dofs[j]
            if m >= 0 and members[m].number == dof.number:
                missing = row[m] - dot6(spatial_at(c, dof.S), wrench)
                row[m] = missing
                wrench = plus6(wrench, scaled6(missing, spatial_at(c, dof.gain)))
                m -= 1
        if link.has_parent != 0:
            put_spatial(c, link.parent.correction, plus6(wrench, spatial_at(c, link.parent.correction)))


def set_up_products(c: Any, mechanism: Any, arrays: Any) -> None:
    """A = Z D^-1 Z^T = G M^-1 G^T."""
    A = arrays.cholesky.A
    for r in range(len(arrays.equations)):
        row = arrays.eliminated[r]
        for s in range(r + 1):
            other = arrays.eliminated[s]
            x = 0.0
            for i, member in enumerate(arrays.members):
                x += row[i] * other[i] / real_at(c, mechanism.dofs[member.number].D)
            A[r, s] = x
            A[s, r] = x


def apply_multipliers(c: Any, mechanism: Any) -> None:
    """Compute -M^-1 G^T multipliers: the correction of u_dot, or of the speeds or positions solved for."""
    header = mechanism.header
    correction = reals_at(c, header.correction, header.dofs)
    for i in range(len(correction)):
        correction[i] = 0.0
    is_any_dense = False
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        if arrays.state.is_along_tree == 0.0:
            is_any_dense = True
            for i, member in enumerate(arrays.members):
                x = 0.0
                for r in range(len(arrays.multipliers)):
                    x -= arrays.multipliers[r] * arrays.eliminated[r, i]
                correction[member.number] = x / real_at(c, mechanism.dofs[member.number].D)
    if is_any_dense:
        if header.is_by_body != 0:
            correct_by_body(c, mechanism, correction)
        else:
            correct_by_row(c, mechanism, correction)
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        if arrays.state.is_along_tree != 0.0:
            apply_corrections(c, mechanism, group, correction)


def correct_by_row(c: Any, mechanism: Any, correction: Any) -> None:
    """L^-1 applied to the correction, from Ground to the tips."""
    for i, dof in enumerate(mechanism.dofs):
        x = correction[i]
        L = factor_row(c, mechanism, dof)
        column = dof.depth - 1
        j = dof.parent
        while j >= 0:
            column -= 1
            x -= L[column] * correction[j]
            j = mechanism.dofs[j].parent
        correction[i] = x


def correct_by_body(c: Any, mechanism: Any, correction: Any) -> None:
    """Compute the correction of each degree of freedom from what is missing, from Ground to the tips."""
    for link in mechanism.links:
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if link.has_parent != 0:
            change = spatial_at(c, link.parent.correction)
        for dof in dofs_of(mechanism, link):
            correction[dof.number] -= dot6(spatial_at(c, dof.gain), change)
            change = plus6(change, scaled6(correction[dof.number], spatial_at(c, dof.S)))
        put_spatial(c, link.body.correction, change)
