"""Factors of dense matrices, real and complex: solutions, exchanges of rows, singular matrices."""

import numpy as np
import pytest
from scipy.linalg import lu

from cosim_integrators.implicit.complex_lu import factor_complex, solve_complex
from cosim_integrators.kit import lu_factor, lu_solve
from cosim_integrators.kit.dense_lu import lu_solve_two


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_dense_factors_solve(n) -> None:
    random = np.random.default_rng(n)
    a = random.normal(size=(n, n))
    a[0, 0] = 0.0 if n > 1 else 2.0  # needs an exchange of rows
    b = random.normal(size=n)
    flat, pivots, x = a.ravel().copy(), np.zeros(n), b.copy()
    assert lu_factor(flat, pivots, n) == 0
    upper = np.abs(np.triu(flat.reshape(n, n)))
    assert np.allclose(np.sort(np.diag(upper)), np.sort(np.abs(np.diag(lu(a)[2]))))
    lu_solve(flat, pivots, n, x)
    assert np.allclose(a @ x, b, atol=1e-10)
    # two right sides at once give the bytes of one after the other
    b2 = random.normal(size=n)
    x2, together, together2 = b2.copy(), b.copy(), b2.copy()
    lu_solve(flat, pivots, n, x2)
    lu_solve_two(flat, pivots, n, together, together2)
    assert together.tobytes() == x.tobytes() and together2.tobytes() == x2.tobytes()


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_dense_complex_factors_solve(n) -> None:
    random = np.random.default_rng(n)
    a = random.normal(size=(n, n)) + 1j * random.normal(size=(n, n))
    a[0, 0] = 0.0 if n > 1 else 2.0j
    b = random.normal(size=n) + 1j * random.normal(size=n)
    flat = np.stack([a.real, a.imag], axis=-1).ravel().copy()
    pivots, re, im = np.zeros(n), b.real.copy(), b.imag.copy()
    assert factor_complex(flat, pivots, n) == 0
    solve_complex(flat, pivots, n, re, im)
    assert np.allclose(a @ (re + 1j * im), b, atol=1e-10)


@pytest.mark.parametrize("addend", [0.0, np.nan, np.inf])
def test_the_column_without_a_pivot_is_reported(addend) -> None:
    pivots = np.zeros(2)
    assert lu_factor(np.array([1.0, 1.0, 1.0, 1.0 + addend]), pivots, 2) == 2
    assert factor_complex(np.array([1.0, 0, 1.0, 0, 1.0, 0, 1.0 + addend, 0]), pivots, 2) == 2
