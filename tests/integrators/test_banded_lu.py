"""Factors of band matrices against those of full matrices."""

from __future__ import annotations

import numpy as np
import pytest

from cosim_integrators.implicit.banded_lu import (
    band_width,
    factor_band,
    factor_complex_band,
    has_exchanges,
    solve_band,
    solve_complex_band,
)
from cosim_integrators.implicit.complex_lu import factor_complex, solve_complex
from cosim_integrators.kit import lu_factor, lu_solve


def random_band(n: int, lower: int, upper: int, seed: int) -> np.ndarray:
    """A full matrix that is 0 outside a band."""
    a = np.random.default_rng(seed).normal(size=(n, n))
    i, j = np.indices((n, n))
    a[(i - j > lower) | (j - i > upper)] = 0.0
    return a


def stored_band(a: np.ndarray, lower: int, upper: int) -> np.ndarray:
    """A matrix as solvers store a band: row by row, entry (i, j) in column j - i + lower."""
    n = len(a)
    band = np.zeros((n, band_width(lower, upper)), dtype=a.dtype)
    for i, j in zip(*np.nonzero(a), strict=True):
        band[i, j - i + lower] = a[i, j]
    return band


SHAPES = [(1, 0, 0), (2, 1, 0), (5, 0, 2), (9, 1, 1), (30, 2, 3), (40, 5, 1), (12, 11, 11)]
"""Sizes of matrices, with the numbers of diagonals below and above the main one."""


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_a_band_of_any_size_is_solved(scale: float) -> None:
    a, b = random_band(30, 2, 3, 7) + 10.0 * np.eye(30), np.random.default_rng(1).normal(size=30)
    band, pivots, y = stored_band(scale * a, 2, 3).ravel(), np.zeros(30), scale * b
    assert factor_band(band, pivots, 30, 2, 3) == 0
    solve_band(band, pivots, has_exchanges(pivots, 30), 30, 2, 3, y)
    assert np.abs(y - np.linalg.solve(a, b)).max() < 1e-13


@pytest.mark.by_turns
@pytest.mark.parametrize("diagonal", [0.0, 100.0])  # rows are exchanged, or stay where they are
@pytest.mark.parametrize(("n", "lower", "upper"), SHAPES)
def test_a_band_has_the_factors_of_the_full_matrix(n: int, lower: int, upper: int, diagonal: float) -> None:
    a, b = random_band(n, lower, upper, n), np.random.default_rng(1).normal(size=n)
    a += diagonal * np.eye(n)
    pivots, band_pivots = np.zeros(n), np.zeros(n)
    full, band, x, band_x = a.ravel().copy(), stored_band(a, lower, upper).ravel(), b.copy(), b.copy()
    assert lu_factor(full, pivots, n) == 0
    assert factor_band(band, band_pivots, n, lower, upper) == 0
    lu_solve(full, pivots, n, x)
    solve_band(band, band_pivots, has_exchanges(band_pivots, n), n, lower, upper, band_x)
    assert pivots.tolist() == band_pivots.tolist()
    assert (pivots.tolist() == list(range(n))) == (diagonal > 0.0 or lower == 0)
    factors = full.reshape(n, n)
    np.fill_diagonal(factors, 1.0 / np.diag(factors))  # factors of a band have the reciprocals
    row, column = np.indices((n, n))
    # in a band the rows of L stay where they were before exchanges, so only U can be compared then
    below = lower if diagonal > 0.0 else 0
    i, j = np.nonzero((row - column <= below) & (column - row <= lower + upper))
    assert band.reshape(n, -1)[i, j - i + lower].tobytes() == factors[i, j].tobytes()
    assert np.abs(x - band_x).max() <= 1e-14 * np.linalg.cond(a) * np.abs(x).max()


@pytest.mark.parametrize(("n", "lower", "upper"), SHAPES)
def test_a_complex_band_gives_the_bytes_of_the_full_matrix(n: int, lower: int, upper: int) -> None:
    a = random_band(n, lower, upper, n) + 1j * random_band(n, lower, upper, n + 1)
    b = np.random.default_rng(1).normal(size=(2, n))
    pivots, band_pivots = np.zeros(n), np.zeros(n)
    full = a.view(float).ravel().copy()
    band = stored_band(a, lower, upper).view(float).ravel().copy()
    x, band_x = b.copy(), b.copy()  # real parts, imaginary parts
    assert factor_complex(full, pivots, n) == 0
    assert factor_complex_band(band, band_pivots, n, lower, upper) == 0
    solve_complex(full, pivots, n, x[0], x[1])
    solve_complex_band(band, band_pivots, n, lower, upper, band_x[0], band_x[1])
    assert x.tobytes() == band_x.tobytes()
    assert np.allclose(a @ (x[0] + 1j * x[1]), b[0] + 1j * b[1], atol=1e-6)


@pytest.mark.parametrize("addend", [0.0, np.nan, np.inf])
def test_the_column_without_a_pivot_is_reported(addend: float) -> None:
    """A matrix of ones, or with a last entry that is not finite: the second pivot is 0, NaN or infinite."""
    a = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0 + addend, 0.0, 0.0]])
    assert factor_band(a.ravel().copy(), np.zeros(2), 2, 1, 1) == 2
    assert factor_complex_band(np.stack([a, np.zeros((2, 4))], axis=-1).ravel(), np.zeros(2), 2, 1, 1) == 2


@pytest.mark.parametrize("n", [33, 64, 100])
def test_elimination_by_blocks_gives_the_bytes_of_elimination_by_columns(n: int) -> None:
    a, pivots = np.random.default_rng(n).normal(size=(n, n)), np.zeros(n)
    flat, expected = a.ravel().copy(), a.copy()
    assert lu_factor(flat, pivots, n) == 0
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(expected[k:, k])))
        expected[[k, pivot]] = expected[[pivot, k]]
        expected[k + 1 :, k] /= expected[k, k]
        expected[k + 1 :, k + 1 :] -= np.multiply.outer(expected[k + 1 :, k], expected[k, k + 1 :])
    assert flat.tobytes() == expected.tobytes()
