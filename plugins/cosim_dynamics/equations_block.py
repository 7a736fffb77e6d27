"""Acceleration stage: the equations of motion, M u_dot = T - V."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_motion import bias_force
from cosim_dynamics.cached_vectors import (
    column_at,
    put_rigid_inertia,
    put_spatial,
    real_at,
    reals_at,
    rigid_inertia_at,
    spatial_at,
)
from cosim_dynamics.inertias import momentum_of, plus10
from cosim_dynamics.mass_matrix_rows import mass_row
from cosim_dynamics.mechanism import dofs_of, mechanism_at
from cosim_dynamics.spatial_vectors import dot6, plus6


def equations_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Rows of M from composite inertias, and T - V from the forces that are missing or left over.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 5.3 and 6.
    """
    mechanism = mechanism_at(ints, first)
    right_side = reals_at(c, mechanism.header.right_side, mechanism.header.dofs)
    for i in range(len(mechanism.links) - 1, -1, -1):
        link = mechanism.links[i]
        composite, force = bias_force(c, p, link)
        if link.carries != 0:
            composite = plus10(composite, rigid_inertia_at(c, link.body.carried_inertia))
            force = plus6(force, spatial_at(c, link.body.force))
        for j, dof in enumerate(dofs_of(mechanism, link)):
            S = spatial_at(c, dof.S)
            missing = real_at(c, dof.tau) - dot6(S, force)
            put_row(c, mechanism, dof, momentum_of(composite, S))
            if dof.own_row >= 0:
                missing -= real_at(c, dof.own_constant)
                add_own_row(c, mechanism, dof, j + 1)
            right_side[dof.number] = missing
        if link.has_parent != 0:
            if link.is_last_child == 0:  # others arrived there before
                composite = plus10(composite, rigid_inertia_at(c, link.parent.carried_inertia))
                force = plus6(force, spatial_at(c, link.parent.force))
            put_rigid_inertia(c, link.parent.carried_inertia, composite)
            put_spatial(c, link.parent.force, force)


def put_row(c: Any, mechanism: Any, dof: Any, momentum: Any) -> None:
    """A row of M from the momentum that a unit of its speed gives: run by run toward Ground."""
    row = mass_row(c, mechanism, dof)
    column = dof.depth
    last = dof.number
    while last >= 0:
        first = mechanism.dofs[mechanism.dofs[last].run]
        length = last - first.number + 1
        column -= length
        entries = reals_at(row, column, length)
        for i in range(length):
            entries[i] = dot6(column_at(c, first.S, i), momentum)
        last = first.parent


def add_own_row(c: Any, mechanism: Any, dof: Any, count: int) -> None:
    """Add a row of the joint's own equation to M: the coefficients of its first `count` speeds."""
    entries = reals_at(mass_row(c, mechanism, dof), dof.depth - count, count)
    coefficients = reals_at(c, dof.own_row, count)
    for i in range(count):
        entries[i] += coefficients[i]
