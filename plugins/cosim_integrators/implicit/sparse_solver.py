"""Sparse linear algebra for large systems, by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import rows_of
from cosim_integrators.implicit.implicit_method import PATTERN_HEADER, Pattern
from cosim_integrators.implicit.matrices import MAKE, SOLVE_REAL


class SparseSolver:
    """Factors the matrices of Newton's method and solves with them.

    Kernels can call Python through one signature alone, that of a block of the schedule. So the arguments of
    `block` have other meanings here than their names say: its docstring lists them, and `call_sparse_solver`
    in `matrices` passes them.

    Parameters
    ----------
    pattern : ndarray of int64
        Structure of the Jacobian.
    shifts : (float, float, float)
        The real matrix is ``shifts[0] / step S - J`` with a diagonal S that comes with each request; the
        complex one has ``shifts[1] + i shifts[2]``, and is left out if the latter is 0.
    """

    def __init__(self, pattern: NDArray[np.int64], shifts: tuple[float, float, float]) -> None:
        from scipy.sparse import csc_array, diags_array

        shape = rows_of(Pattern, pattern, 0, 1)[0]
        n, entries = shape.size, shape.entries
        columns = pattern[PATTERN_HEADER + n :]
        self._starts = columns[: n + 1].copy()
        self._rows = columns[n + 1 :][:entries].copy()
        self._matrix: Any = csc_array
        self._diagonal: Any = diags_array
        self._size = n
        self._shifts = shifts
        self._solve_real: Any = None
        self._solve_complex: Any = None

    def block(
        self, t: Any, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
    ) -> None:
        """Perform the request `first`.

        ============= =============================== =============================================
        `first`       in                              out
        ============= =============================== =============================================
        MAKE          t: step, s; y: the entries of   factors, kept for the solutions that follow
                      the Jacobian; c: diagonal of S
        SOLVE_REAL    y: right-hand side              y: solution
        SOLVE_COMPLEX h, c: right-hand side, its      h, c: solution
                      real and imaginary parts
        ============= =============================== =============================================

        Raises
        ------
        RuntimeError
            The matrix is singular.
        """
        if first == MAKE:
            jacobian = self._matrix((np.array(y), self._rows, self._starts), shape=(self._size, self._size))
            diagonal = self._diagonal(np.array(c), format="csc")
            real, re, im = (shift / float(t) for shift in self._shifts)
            self._solve_real = self._factored(real * diagonal - jacobian)
            if im != 0.0:
                self._solve_complex = self._factored(complex(re, im) * diagonal - jacobian)
        elif first == SOLVE_REAL:
            y[:] = self._solve_real(np.array(y))
        else:  # SOLVE_COMPLEX
            solution = self._solve_complex(np.array(h) + 1j * np.array(c))
            h[:] = solution.real
            c[:] = solution.imag

    def _factored(self, matrix: Any) -> Any:
        """A function that solves with a matrix."""
        from scipy.sparse.linalg import splu

        return splu(matrix.tocsc()).solve
