"""Solving equations of constraints for their multipliers, in kernel functions.

The factor of the mass matrix is there, by rows of L and D or by body: see `constraint_block`.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import put_spatial, spatial_at
from cosim_dynamics.mass_matrix_rows import factor_row
from cosim_dynamics.mechanism import dofs_of
from cosim_dynamics.pivoted_cholesky import factorize, least_squares, weigh
from cosim_dynamics.spatial_vectors import dot6, plus6, scaled6


def solve_for_multipliers(arrays: Any) -> tuple[int, float]:
    """The multipliers of A multipliers = values, which are overwritten.

    Returns
    -------
    int
        The rank of A.
    float
        The shortest column of its factor that counts, in parts of what is usual; or 1.
    """
    rank = factorize(arrays.cholesky)
    rank, shortest = weigh(arrays.cholesky, rank, arrays.errors.angle)
    least_squares(arrays.cholesky, rank, arrays.values, arrays.multipliers)
    return rank, shortest


def eliminate(c: Any, mechanism: Any, arrays: Any) -> None:
    """Z = G L^-1."""
    for r in range(len(mechanism.equations)):
        row = arrays.jacobian[r]
        eliminated = arrays.eliminated[r]
        for i in range(len(row)):
            eliminated[i] = row[i]
        if mechanism.whole.is_by_body != 0:
            eliminate_by_body(c, mechanism, eliminated)
        else:
            eliminate_by_row(c, mechanism, eliminated)


def eliminate_by_row(c: Any, mechanism: Any, row: Any) -> None:
    """A row of G becomes one of Z by the rows of L, from the tips to Ground."""
    for i in range(len(row) - 1, -1, -1):
        x = row[i]
        if x != 0.0:
            dof = mechanism.dofs[i]
            L = factor_row(c, mechanism, dof)
            column = dof.depth - 1
            j = dof.parent
            while j >= 0:
                column -= 1
                row[j] -= L[column] * x
                j = mechanism.dofs[j].parent


def eliminate_by_body(c: Any, mechanism: Any, row: Any) -> None:
    """A row of G becomes one of Z: what is missing at each speed when those further out gave way."""
    for link in mechanism.links:
        put_spatial(c, link.body.correction, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for i in range(len(mechanism.links) - 1, -1, -1):
        link = mechanism.links[i]
        wrench = spatial_at(c, link.body.correction)
        dofs = dofs_of(mechanism, link)
        for j in range(len(dofs) - 1, -1, -1):
            dof = dofs[j]
            missing = row[dof.number] - dot6(spatial_at(c, dof.S), wrench)
            row[dof.number] = missing
            wrench = plus6(wrench, scaled6(missing, spatial_at(c, dof.gain)))
        if link.has_parent != 0:
            put_spatial(c, link.parent.correction, plus6(wrench, spatial_at(c, link.parent.correction)))


def set_up_products(c: Any, mechanism: Any, arrays: Any) -> None:
    """A = Z D^-1 Z^T = G M^-1 G^T."""
    A = arrays.cholesky.A
    for r in range(len(mechanism.equations)):
        row = arrays.eliminated[r]
        for s in range(r + 1):
            other = arrays.eliminated[s]
            x = 0.0
            for i, dof in enumerate(mechanism.dofs):
                x += row[i] * other[i] / c[dof.D]
            A[r, s] = x
            A[s, r] = x


def correct_speeds(c: Any, mechanism: Any, arrays: Any) -> None:
    """The correction -M^-1 G^T multipliers of u_dot, or of what else stands in its place."""
    correction = arrays.correction
    for i, dof in enumerate(mechanism.dofs):
        x = 0.0
        for r in range(len(mechanism.equations)):
            x -= arrays.multipliers[r] * arrays.eliminated[r, i]
        correction[i] = x / c[dof.D]
    if mechanism.whole.is_by_body != 0:
        correct_by_body(c, mechanism, correction)
    else:
        correct_by_row(c, mechanism, correction)


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
    """What is missing at each degree of freedom, divided, becomes the correction: from Ground to the tips."""
    for link in mechanism.links:
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if link.has_parent != 0:
            change = spatial_at(c, link.parent.correction)
        for dof in dofs_of(mechanism, link):
            correction[dof.number] -= dot6(spatial_at(c, dof.gain), change)
            change = plus6(change, scaled6(correction[dof.number], spatial_at(c, dof.S)))
        put_spatial(c, link.body.correction, change)
