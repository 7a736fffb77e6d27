"""The solution of closed loops of tangents, which are linear in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def linear_fixed_point(respond: Callable[[Reals], Reals], directions: int, unknowns: int) -> Reals:
    """Solve ``x = A x + b`` for each direction, where `respond` returns ``A x + b``.

    `respond` is called with 0 and with unit vectors. A caller that needs its side effects for the solution
    calls it once more, with the array that this function returns.

    Parameters
    ----------
    respond : callable
        A function of an array, shape (directions, unknowns), with a result of this shape; row by row.
    directions : int
        The number of rows.
    unknowns : int
        The number of unknowns in each row.

    Returns
    -------
    ndarray, shape (directions, unknowns)
        NaN if ``I - A`` is singular.
    """
    start = respond(np.zeros((directions, unknowns)))
    matrix = np.zeros((unknowns, unknowns))
    for first in range(0, unknowns, directions):
        columns = range(first, min(first + directions, unknowns))
        units = np.zeros((directions, unknowns))
        units[range(len(columns)), columns] = 1.0
        matrix[:, columns] = (respond(units) - start)[: len(columns)].T
    with np.errstate(all="ignore"):
        try:
            return np.asarray(np.linalg.solve(np.eye(unknowns) - matrix, start.T).T, dtype=np.float64)
        except np.linalg.LinAlgError:
            return np.full((directions, unknowns), np.nan)
