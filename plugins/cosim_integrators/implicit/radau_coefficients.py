"""Coefficients of Radau IIA methods as the collocation kernels take them, checked when they are made.

They are computed in fractions and rounded once: the last bits of LAPACK's results depend on the processor,
and so would the results of every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_integrators.implicit.collocation_method import WIDTH, CollocationNumbers

Exact = NDArray[Any]
"""An array of fractions."""
TOLERANCE = 1e-13  # relative, of the residual of `transform`, whose numbers have 16 digits


def collocation_coefficients(
    nodes: Sequence[float],
    real: float,
    pair: complex,
    transform: Sequence[Sequence[float]],
    estimate_shift: float | None = None,
) -> NDArray[np.float64]:
    """The flat array of numbers that `collocation_method` describes.

    Parameters
    ----------
    nodes : sequence of float
        c_1 … c_s, the last one 1.
    real : float
        Real eigenvalue of A^-1; 0 if there is none.
    pair : complex
        The complex eigenvalue of A^-1 that belongs to the last two columns of `transform`.
    transform : sequence of sequences of float, shape (s, s)
        T with ``A^-1 T = T L``, L having the real eigenvalue and the block ((re, -im), (im, re)).
    estimate_shift : float, optional
        Shift of the matrix of the error estimate if there is no real eigenvalue.

    Raises
    ------
    ModelError
        T does not bring A^-1 into that block form.
    """
    c, t = exact(nodes), exact(transform)
    stages = c.size
    inverse = inverted(collocation_matrix(c))
    split = exact(np.zeros((stages, stages)))
    if real:
        split[0, 0] = Fraction(real)
    split[-2:, -2:] = exact([[pair.real, -pair.imag], [pair.imag, pair.real]])
    residual = abs(inverse @ t - t @ split).max()
    if residual > TOLERANCE * abs(inverse).max() * abs(t).max():
        text = f"T does not bring A^-1 into block form: residual {float(residual):.2g}."
        raise cosim.ModelError.of("Radau IIA", text)
    shift = real or float(estimate_shift or 1.0)
    numbers = CollocationNumbers(
        stages=stages,
        has_real_system=bool(real),
        shift=shift,
        pair_real=pair.real,
        pair_imaginary=pair.imag,
        exponent=stages + 1,
    )
    # A multiple of the integral of (s - c_1) … (s - c_s) gives the dense output the derivative at the start.
    # It changes neither the derivatives at the nodes nor, by the choice of the nodes, the end of the step.
    bump = polynomial(c)
    correction = Fraction(shift) / bump[0] * bump / np.arange(1, stages + 2)
    # The embedded formula has f(t, y) with weight 1 / shift and order s: its difference to the method,
    # sum d_i h f_i + h f_0 / shift, vanishes for polynomials of degree s - 1; h f = A^-1 z.
    powers = c ** np.arange(stages)[:, None]
    difference = -inverted(powers)[:, 0]
    return np.concatenate(
        [
            np.frombuffer(numbers),
            padded(c),
            *padded_rows(t),
            *padded_rows(inverted(t)),
            padded(difference @ inverse),
            *padded_rows(dense_parts(c)),
            correction.astype(float),
        ]
    )


def padded(row: Exact) -> NDArray[np.float64]:
    """A row in the width of the matrices of `collocation`."""
    return np.array([*map(float, row), *[0.0] * (WIDTH - len(row))])


def padded_rows(matrix: Exact) -> list[NDArray[np.float64]]:
    """All rows of a matrix, and rows of zeros up to `WIDTH`."""
    rows = [*matrix, *[exact([0.0])] * (WIDTH - len(matrix))]
    return [padded(row) for row in rows]


def exact(numbers: Any) -> Exact:
    """The numbers as fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(numbers, dtype=float))


def inverted(matrix: Exact) -> Exact:
    """Inverse of a matrix of fractions, by Gauss and Jordan."""
    n = len(matrix)
    rows = np.hstack([matrix, exact(np.eye(n))])
    for i in range(n):
        pivot = next(j for j in range(i, n) if rows[j, i] != 0)
        rows[[i, pivot]] = rows[[pivot, i]]
        rows[i] = rows[i] / rows[i, i]
        for j in range(n):
            if j != i:
                rows[j] = rows[j] - rows[j, i] * rows[i]
    return rows[:, n:]


def polynomial(roots: Exact) -> Exact:
    """Coefficients of the product of (s - root), the constant first."""
    product = exact([1.0])
    for root in roots:
        product = np.append(exact([0.0]), product) - root * np.append(product, exact([0.0]))
    return product


def collocation_matrix(c: Exact) -> Exact:
    """A of the collocation method with these nodes: ``sum_j a_ij c_j^(q-1) = c_i^q / q``."""
    powers = np.arange(1, c.size + 1)
    return (c[:, None] ** powers / powers) @ inverted(c[:, None] ** (powers - 1))


def dense_parts(c: Exact) -> Exact:
    """P with ``y(t + s h) = y + sum_i z_i sum_q P_iq s^q``: through zero and all z_i."""
    return inverted(c[:, None] ** np.arange(1, c.size + 1)).T
