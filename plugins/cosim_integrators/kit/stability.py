"""The stability region of Runge–Kutta methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEP = 0.01  # of the search along the negative real axis
FARTHEST = 200.0  # the search ends there: 2 s^2 is the largest limit of s stages, here of 10


def stability_polynomial(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coefficients of R(z) = 1 + sum_k z^k b A^(k-1) 1, from z^0 on.

    A step on y' = lambda y multiplies y by R(h lambda).
    """
    powers, vector = [1.0], np.ones(len(b))
    for _ in b:
        powers.append(float(b @ vector))
        vector = a @ vector
    return np.array(powers)


def stability_limit(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The largest x such that |R(-z)| <= 1 for all z from 0 to x.

    Examples
    --------
    >>> stability_limit(np.zeros((1, 1)), np.ones(1))
    2.0
    """
    coefficients = stability_polynomial(a, b)

    def amplification(z: Any) -> Any:  # by Horner's rule: importing NumPy's polynomials takes 10 ms
        value = coefficients[-1] + 0.0 * z
        for coefficient in coefficients[-2::-1]:
            value = coefficient + value * z
        return abs(value)

    xs = np.arange(STEP, FARTHEST, STEP)
    outside = np.flatnonzero(amplification(-xs) > 1.0 + 1e-12)
    if outside.size == 0:
        return FARTHEST
    high = float(xs[outside[0]])
    low = high - STEP
    for _ in range(50):
        middle = 0.5 * (low + high)
        if amplification(-middle) > 1.0 + 1e-12:
            high = middle
        else:
            low = middle
    return round(low, 9)
