"""The inverse of a matrix, with the integrators' own elimination: a kernel function."""

from __future__ import annotations

from cosim_integrators.kit import lu_factor, lu_solve


def invert_matrix(matrix, pivots, inverse, n):
    """Write the transposed inverse of a matrix; 0, or 1 + the column without a pivot.

    Parameters
    ----------
    matrix : ndarray, shape (n * n,)
        Row after row; its factors afterwards.
    pivots : ndarray, shape (n,)
        Room.
    inverse : ndarray, shape (n * n,)
        Column after column.
    n : int
    """
    missing = lu_factor(matrix, pivots, n)
    if missing == 0:
        for j in range(n):
            column = inverse[j * n : j * n + n]
            for k in range(n):
                column[k] = 0.0
            column[j] = 1.0
            lu_solve(matrix, pivots, n, column)
    return missing
