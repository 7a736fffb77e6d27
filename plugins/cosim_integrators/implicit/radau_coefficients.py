"""Coefficients of Radau IIA methods as the collocation kernels take them, checked when they are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

Matrix = NDArray[Any]
TOLERANCE = 1e-13


def collocation_coefficients(
    nodes: Sequence[float],
    real: float,
    pair: complex,
    transform: Sequence[Sequence[float]],
    estimate_shift: float | None = None,
) -> Matrix:
    """The flat array ``method`` of `collocation`.

    Parameters
    ----------
    nodes : sequence of float
        c_1 … c_s, the last one 1.
    real : float
        Real eigenvalue of A^-1; 0 where there is none.
    pair : complex
        The complex eigenvalue of A^-1 that belongs to the last two columns of `transform`.
    transform : sequence of sequences of float, shape (s, s)
        T with ``A^-1 T = T L``, L having the real eigenvalue and the block ((re, -im), (im, re)).
    estimate_shift : float, optional
        Shift of the matrix of the error estimate where there is no real eigenvalue.

    Raises
    ------
    ModelError
        T does not take A^-1 apart.
    """
    c, t = np.array(nodes, dtype=float), np.array(transform, dtype=float)
    stages = c.size
    inverse = np.linalg.inv(collocation_matrix(c))
    split = np.zeros((stages, stages))
    if real:
        split[0, 0] = real
    split[-2:, -2:] = [[pair.real, -pair.imag], [pair.imag, pair.real]]
    residual = np.abs(inverse @ t - t @ split).max()
    if residual > TOLERANCE * np.abs(inverse).max() * np.abs(t).max():
        raise cosim.ModelError.of("Radau IIA", f"T does not take A^-1 apart: residual {residual:.2g}.")
    method = np.zeros(43)
    shift = real or float(estimate_shift or 1.0)
    method[:6] = stages, float(bool(real)), shift, pair.real, pair.imag, stages + 1
    method[6 : 6 + stages] = c
    for at, matrix in ((9, t), (18, np.linalg.inv(t)), (30, dense_parts(c))):
        for i in range(stages):
            method[at + 3 * i : at + 3 * i + stages] = matrix[i]
    # The dense output gets the derivative at the start by a multiple of the integral of
    # (s - c_1) … (s - c_s): the derivatives at the nodes stay, and so does the end of the step, by the
    # choice of the nodes.
    bump = np.poly(c)[::-1]
    method[39 : 40 + stages] = shift / bump[0] * bump / np.arange(1, stages + 2)
    # The embedded formula has f(t, y) with weight 1 / shift and order s: its difference to the method,
    # sum d_i h f_i + h f_0 / shift, vanishes for polynomials of degree s - 1; h f = A^-1 z.
    powers = np.vander(c, stages, increasing=True).T
    difference = np.linalg.solve(powers, -np.eye(stages)[0])
    method[27 : 27 + stages] = difference @ inverse
    return method


def collocation_matrix(c: Matrix) -> Matrix:
    """A of the collocation method with these nodes: ``sum_j a_ij c_j^(q-1) = c_i^q / q``."""
    powers = np.arange(1, c.size + 1)
    result: Matrix = np.linalg.solve((c[:, None] ** (powers - 1)).T, ((c[:, None] ** powers) / powers).T).T
    return result


def dense_parts(c: Matrix) -> Matrix:
    """P with ``y(t + s h) = y + sum_i z_i sum_q P_iq s^q``: through zero and all z_i."""
    powers = np.arange(1, c.size + 1)
    result: Matrix = np.linalg.inv(c[:, None] ** powers).T
    return result
