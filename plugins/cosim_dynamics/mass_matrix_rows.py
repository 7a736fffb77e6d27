"""Rows of the mass matrix M and of its factor in the cache.

M is symmetric; of row i only the columns of the degrees of freedom between Ground and i can differ from zero.
Row i keeps just these, Ground's side first and the diagonal last. A row of an ancestor is as long as the
ancestor is deep, so the same position means the same column in both: factorization and solution need no
look-up. The factor L, with D on the diagonal, of M = L^T D L has the same layout.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import reals_at


def mass_row(c: Any, mechanism: Any, dof: Any) -> Any:
    """The row of M of a degree of freedom."""
    return reals_at(c, mechanism.header.M + dof.row, dof.depth)


def factor_row(c: Any, mechanism: Any, dof: Any) -> Any:
    """The row of the factor of a degree of freedom."""
    return reals_at(c, mechanism.header.factor + dof.row, dof.depth)
