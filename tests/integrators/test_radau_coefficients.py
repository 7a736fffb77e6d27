"""Coefficients of Radau's methods are the same on every processor."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from cosim_integrators.implicit.radau_coefficients import collocation_matrix, exact, inverted


def test_fractions_are_inverted_exactly() -> None:
    matrix = exact([[0.0, 0.1, 3.0], [0.7, 0.2, 1.0], [1.0, -0.3, 0.0]])
    assert (inverted(matrix) @ matrix == np.eye(3)).all()


def test_radau_iia_of_order_3() -> None:
    """Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.5: its matrix A."""
    c = np.array([Fraction(1, 3), Fraction(1)])
    expected = [[Fraction(5, 12), Fraction(-1, 12)], [Fraction(3, 4), Fraction(1, 4)]]
    assert (collocation_matrix(c) == np.array(expected)).all()
