"""The kernel functions for least squares and small matrices compute the same as numpy and scipy."""

import numpy as np
import pytest
from scipy.linalg import expm

from cosim_master.trust.least_squares import (
    add_row,
    exponential,
    invert,
    solve_triangle,
    spectral_radius,
)


@pytest.mark.parametrize("seed", range(6))
def test_least_squares(seed: int) -> None:
    """The seeds from 3 on have columns that depend on each other; 1 and 4 have fewer rows than columns."""
    random = np.random.default_rng(seed)
    rows, n, r = ((40, 5, 2), (3, 5, 1), (60, 8, 3))[seed % 3]
    data, right_sides = random.normal(size=(rows, n)), random.normal(size=(rows, r))
    if seed >= 3:
        data[:, 1] = 2.0 * data[:, 0]
    triangle, right, solution, turns = np.zeros(n * n), np.zeros(n * r), np.zeros(n * r), np.zeros(n * n)
    for row, values in zip(data, right_sides, strict=True):
        add_row(triangle, right, row.copy(), values.copy(), n, r)
    solve_triangle(triangle, right, solution, turns, n, r, 1e-13)
    expected = np.linalg.lstsq(data, right_sides, rcond=1e-13)[0]
    assert solution.reshape(n, r) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_inverse_spectral_radius_and_exponential(n: int) -> None:
    matrix = np.random.default_rng(n).normal(size=(n, n))
    result, room1, room2 = (np.zeros(n * n) for _ in range(3))
    assert invert(matrix.ravel().copy(), result, n)
    assert result.reshape(n, n) @ matrix == pytest.approx(np.eye(n), abs=1e-12)
    radius = np.abs(np.linalg.eigvals(matrix)).max()
    assert spectral_radius(matrix.ravel(), room1, room2, n) == pytest.approx(radius, rel=1e-9)
    exponential(matrix.ravel(), 0.01, 18, result, room1, room2, n)
    assert result.reshape(n, n) == pytest.approx(expm(0.01 * matrix), abs=1e-14)


def test_a_singular_matrix_has_no_inverse() -> None:
    assert not invert(np.array([1.0, 2.0, 2.0, 4.0]), np.zeros(4), 2)


def test_the_spectral_radius_of_zero_and_nilpotent_matrices_is_zero() -> None:
    room = np.zeros(4)
    assert spectral_radius(np.zeros(4), room, room.copy(), 2) == 0.0
    assert spectral_radius(np.array([0.0, 1.0, 0.0, 0.0]), room, room.copy(), 2) == 0.0
