"""The arrays in which equations of constraints are solved, as views of the cache.

m is the number of equations of a group, n that of degrees of freedom that move what they act on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosim.kit import Record, as_table, rows_of
from cosim_dynamics.cached_vectors import reals_at
from cosim_dynamics.group_records import GroupState, members_of
from cosim_dynamics.mechanism import equations_of
from cosim_dynamics.pivoted_cholesky import PivotedCholesky


class ConstraintErrors(Record):
    """The errors of the last evaluation, in the cache, for `cosim.contracts.constraints`."""

    changed: float  # whether something was corrected
    positions: float  # the largest position error that can be corrected
    velocities: float  # the largest velocity error that can be corrected
    allowed: float  # which part of the usual tolerance these errors may reach, 0 or 1


class ConstraintArrays(NamedTuple):
    """The arrays in which the equations of a group are set up and solved."""

    equations: Any  # rows of EquationSlots
    members: Any  # rows of GroupMember
    state: Any  # GroupState
    jacobian: Any  # G, m by n
    eliminated: Any  # Z = G L^-1 of M = L^T D L, m by n
    cholesky: PivotedCholesky  # of A = Z D^-1 Z^T = G M^-1 G^T
    values: Any  # m: G u_dot + b without constraints, or what else is to be made zero
    multipliers: Any  # m
    state_of_equations: Any  # m: `front_factorization`, as the next
    softness: Any  # m


def constraint_arrays(c: Any, mechanism: Any, group: Any) -> ConstraintArrays:
    """The arrays of a group."""
    m = group.equations
    n = group.members
    return ConstraintArrays(
        equations_of(mechanism, group),
        members_of(mechanism, group),
        rows_of(GroupState, c, group.state, 1)[0],
        as_table(reals_at(c, group.jacobian, m * n), m, n),
        as_table(reals_at(c, group.eliminated, m * n), m, n),
        PivotedCholesky(
            as_table(reals_at(c, group.products, m * m), m, m),
            as_table(reals_at(c, group.columns, m * m), m, m),
            as_table(reals_at(c, group.normal, m * m), m, m),
            reals_at(c, group.order, m),
            reals_at(c, group.left, m),
            reals_at(c, group.sizes, m),
            reals_at(c, group.trust, m),
            reals_at(c, group.lengths, m),
        ),
        reals_at(c, group.values, m),
        reals_at(c, group.multipliers, m),
        reals_at(c, group.state_of_equations, m),
        reals_at(c, group.softness, m),
    )


def constraint_errors(c: Any, header: Any) -> ConstraintErrors:
    """The errors of a mechanism's constraints."""
    return rows_of(ConstraintErrors, c, header.errors, 1)[0]
