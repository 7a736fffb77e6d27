"""The least sum of squares inside bounds, in few evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
AS_PREDICTED = 0.25
"""A step that decreases the sum by a smaller part of what it promised is left to the trust region."""
INSIDE = 1e-9
"""Of a range: the trust region begins so far from its ends."""
SMALLEST_CHANGE = 1e-10
"""A search ends at a smaller relative change of the values."""
DEPENDENT = 1e-8
"""A column depends on the others where a smaller part of it is left beside their sums."""
NO_DECREASE, NO_CHANGE = 2, 3
"""Why a search has ended, as `scipy.optimize.least_squares` numbers it."""


class Limits(NamedTuple):
    """The range of each value, and its size."""

    low: Vector
    high: Vector
    scale: Vector


class Solution(NamedTuple):
    """The values, what remains there, and why the search has ended."""

    values: Vector
    residuals: Vector
    status: int


def minimize_squares(
    residuals: Callable[[Vector], Vector],
    jacobian: Callable[[Vector], NDArray[np.float64]],
    start: Vector,
    limits: Limits,
    tolerance: float,
) -> Solution:
    """Values with the least sum of squared residuals.

    Gauss-Newton steps r + J dx → min need one evaluation each and end when the next one promises nothing.
    Where a step leaves a range, is as long as the values are large, or does not decrease the sum as it
    promised, a trust region (`scipy.optimize.least_squares`) takes over from the last good point.

    Parameters
    ----------
    residuals, jacobian : callable
        Of values; of the jacobian only the one at the point is called whose residuals were called last.
    start : ndarray
    limits : Limits
    tolerance : float
        The search ends where a step decreases the sum by a smaller part of itself.
    """
    values, remaining = start, residuals(start)
    total = remaining @ remaining
    while True:
        change, predicted = _gauss_newton_step(remaining, jacobian(values))
        if predicted <= tolerance * total:
            return Solution(values, remaining, NO_DECREASE)
        if np.linalg.norm(change) <= SMALLEST_CHANGE * np.linalg.norm(values):
            return Solution(values, remaining, NO_CHANGE)
        trial = values + change
        is_inside = ((limits.low < trial) & (trial < limits.high)).all()
        is_short = np.linalg.norm(change / limits.scale) <= np.linalg.norm(values / limits.scale)
        if not (is_inside and is_short):  # a step of NaN is neither
            break
        trial_residuals = residuals(trial)
        trial_total = trial_residuals @ trial_residuals
        if not total - trial_total >= AS_PREDICTED * predicted:
            break
        values, remaining, total = trial, trial_residuals, trial_total
    return _by_trust_region(residuals, jacobian, values, limits, tolerance)


def _gauss_newton_step(remaining: Vector, jacobian: NDArray[np.float64]) -> tuple[Vector, float]:
    """The step, and by how much it decreases the sum of squares of the linear problem.

    NaN where a column is zero, infinite, or depends on others.
    """
    count = jacobian.shape[1]
    no_step = np.full(count, np.nan), np.nan
    with np.errstate(all="ignore"):
        sizes = np.linalg.norm(jacobian, axis=0)
        columns = jacobian / sizes
    if not np.isfinite(columns).all():
        return no_step
    triangle: Any = np.linalg.qr(np.column_stack([columns, remaining]), mode="r")
    own, projected = triangle[:count, :-1], triangle[:count, -1]
    if np.abs(np.diag(own)).min() <= DEPENDENT:
        return no_step
    return -np.linalg.solve(own, projected) / sizes, float(projected @ projected)


def _by_trust_region(
    residuals: Callable[[Vector], Vector],
    jacobian: Callable[[Vector], NDArray[np.float64]],
    start: Vector,
    limits: Limits,
    tolerance: float,
) -> Solution:
    """The search of SciPy, inside the ranges."""
    from scipy.optimize import least_squares

    margin = INSIDE * (limits.high - limits.low)
    found = least_squares(
        residuals,
        np.clip(start, limits.low + margin, limits.high - margin),
        jac=jacobian,
        bounds=(limits.low, limits.high),
        x_scale=limits.scale,
        xtol=SMALLEST_CHANGE,
        ftol=tolerance,
    )
    return Solution(found.x, found.fun, int(found.status))
