"""The arrays in which equations of constraints are solved, as views of the cache.

m is the number of equations, n that of degrees of freedom.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosim.kit import Record, as_table, rows_of
from cosim_dynamics.cached_vectors import reals_at
from cosim_dynamics.pivoted_cholesky import PivotedCholesky


class ConstraintErrors(Record):
    """What `cosim.step.constraints` reads of the last evaluation, in the cache; and what only we do."""

    changed: float  # whether something was corrected
    positions: float  # the largest position error that can be corrected
    velocities: float  # the largest velocity error that can be corrected
    allowed: float  # which part of the usual tolerance these errors may reach, 0 or 1
    angle: float  # by which positions miss the constraints, rad


class ConstraintArrays(NamedTuple):
    """What the equations are set up and solved in."""

    errors: Any  # ConstraintErrors
    jacobian: Any  # G, m by n
    eliminated: Any  # Z = G L^-1 of M = L^T D L, m by n
    cholesky: PivotedCholesky  # of A = Z D^-1 Z^T = G M^-1 G^T
    values: Any  # m: G u_dot + b without constraints, or what else is to be made zero
    multipliers: Any  # m
    correction: Any  # n: of u_dot


def constraint_arrays(c: Any, mechanism: Any) -> ConstraintArrays:
    """The arrays of a mechanism."""
    whole = mechanism.whole
    m = whole.equations
    n = whole.dofs
    return ConstraintArrays(
        constraint_errors(c, whole),
        as_table(reals_at(c, whole.jacobian, m * n), m, n),
        as_table(reals_at(c, whole.eliminated, m * n), m, n),
        PivotedCholesky(
            as_table(reals_at(c, whole.products, m * m), m, m),
            as_table(reals_at(c, whole.columns, m * m), m, m),
            as_table(reals_at(c, whole.normal, m * m), m, m),
            reals_at(c, whole.order, m),
            reals_at(c, whole.left, m),
            reals_at(c, whole.sizes, m),
            reals_at(c, whole.trust, m),
            reals_at(c, whole.lengths, m),
        ),
        reals_at(c, whole.values, m),
        reals_at(c, whole.multipliers, m),
        reals_at(c, whole.correction, n),
    )


def constraint_errors(c: Any, whole: Any) -> ConstraintErrors:
    """The errors of a mechanism's constraints."""
    return rows_of(ConstraintErrors, c, whole.errors, 1)[0]
