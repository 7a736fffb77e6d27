"""One step of Newton's method for x = G(x), damped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

MOST_HALVINGS = 12

Vector = NDArray[np.float64]
Through = Callable[[Vector], Vector]


def damped_step(
    through: Callable[[Vector], Vector], x: Vector, g: Vector, step: Vector
) -> tuple[Vector, Vector]:
    """As much of a Newton step as makes the residual smaller; the smallest part if none does.

    Parameters
    ----------
    through : callable
        G.
    x, g : ndarray, shape (n,)
        Where the step begins, and G there.
    step : ndarray, shape (n,)

    Returns
    -------
    x, g : ndarray, shape (n,)
        After it.
    """
    size = float(np.linalg.norm(g - x))
    for halvings in range(MOST_HALVINGS + 1):
        tried = x + step * 0.5**halvings
        found = through(tried)
        if np.all(np.isfinite(found)) and float(np.linalg.norm(found - tried)) < size:
            break
    return tried, found
