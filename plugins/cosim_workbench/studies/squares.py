"""The least sum of squares inside bounds, in few evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
AS_PREDICTED = 0.25
"""A step has to decrease the sum by this part of the predicted decrease, else the trust region takes over."""
INSIDE = 1e-9
"""The distance of the trust region's start from the ends of a range, relative to the range."""
SMALLEST_CHANGE = 1e-10
"""A search ends at a smaller relative change of the values."""
DEPENDENT = 1e-8
"""A column depends on the others if a smaller part of it is orthogonal to them."""
EVALUATIONS = 100
"""The largest number of evaluations for each value, as in SciPy."""
TOO_MANY, NO_DECREASE, NO_CHANGE = 0, 2, 3
"""Why a search has ended: status numbers of `scipy.optimize.least_squares`."""


class Limits(NamedTuple):
    """The range of each value, and its size."""

    low: Vector
    high: Vector
    scale: Vector


class _Point(NamedTuple):
    """Values, with their residuals and the derivatives of these."""

    values: Vector
    residuals: Vector
    jacobian: NDArray[np.float64]


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
        Functions of the values. `jacobian` is called only with the values of the last call of `residuals`.
    start : ndarray
    limits : Limits
    tolerance : float
        The search ends where a step decreases the sum by a smaller part of itself.
    """
    values, remaining = start, residuals(start)
    total = remaining @ remaining
    for _ in range(EVALUATIONS * start.size):
        if total == 0.0:
            return Solution(values, remaining, NO_DECREASE)
        slopes = jacobian(values)
        change, predicted = _gauss_newton_step(remaining, slopes)
        if predicted <= tolerance * total:
            return Solution(values, remaining, NO_DECREASE)
        change_size, size = np.linalg.norm([change / limits.scale, values / limits.scale], axis=1)
        if change_size <= SMALLEST_CHANGE * size:
            return Solution(values, remaining, NO_CHANGE)
        trial = values + change
        is_inside = ((limits.low < trial) & (trial < limits.high)).all()
        if not (is_inside and change_size <= size):  # a step of NaN is neither
            break
        trial_residuals = residuals(trial)
        trial_total = trial_residuals @ trial_residuals
        if not total - trial_total >= AS_PREDICTED * predicted:
            break
        values, remaining, total = trial, trial_residuals, trial_total
    else:
        return Solution(values, remaining, TOO_MANY)
    optimum = _by_trust_region(residuals, jacobian, _Point(values, remaining, slopes), limits, tolerance)
    # the trust region begins beside the ends of ranges, so an end may still be better
    return (
        optimum
        if optimum.residuals @ optimum.residuals <= total
        else optimum._replace(values=values, residuals=remaining)
    )


def _gauss_newton_step(remaining: Vector, jacobian: NDArray[np.float64]) -> tuple[Vector, float]:
    """The step, and by how much it decreases the sum of squares of the linear problem.

    NaN where a column is zero, infinite, or depends on others, as some do where rows are fewer.
    """
    rows, count = jacobian.shape
    no_step = np.full(count, np.nan), np.nan
    if rows < count:
        return no_step
    with np.errstate(all="ignore"):
        sizes = np.linalg.norm(jacobian, axis=0)
        columns = jacobian / sizes
    if not np.isfinite(columns).all():
        return no_step
    triangle: Any = np.linalg.qr(np.column_stack([columns, remaining]), mode="r")
    columns_triangle, projected = triangle[:count, :-1], triangle[:count, -1]
    if np.abs(np.diag(columns_triangle)).min() <= DEPENDENT:
        return no_step
    return -np.linalg.solve(columns_triangle, projected) / sizes, float(projected @ projected)


def _by_trust_region(
    residuals: Callable[[Vector], Vector],
    jacobian: Callable[[Vector], NDArray[np.float64]],
    start: _Point,
    limits: Limits,
    tolerance: float,
) -> Solution:
    """The search of SciPy, inside the ranges.

    Its values are divided by the powers of two next to their scales: it compares changes of all of them
    together, and distances from bounds with 1e-10. What is known of the start is not evaluated again.
    """
    from scipy.optimize import least_squares

    unit = np.exp2(np.rint(np.log2(limits.scale)))
    margin = INSIDE * (limits.high - limits.low)

    def is_start(values: Vector) -> bool:
        return np.array_equal(values, start.values)

    def scaled_residuals(scaled: Vector) -> Vector:
        values = scaled * unit
        return start.residuals if is_start(values) else residuals(values)

    def scaled_jacobian(scaled: Vector) -> NDArray[np.float64]:
        values = scaled * unit
        return (start.jacobian if is_start(values) else jacobian(values)) * unit

    outcome = least_squares(
        scaled_residuals,
        np.clip(start.values, limits.low + margin, limits.high - margin) / unit,
        jac=scaled_jacobian,
        bounds=(limits.low / unit, limits.high / unit),
        x_scale=limits.scale / unit,
        xtol=SMALLEST_CHANGE,
        ftol=tolerance,
    )
    return Solution(outcome.x * unit, outcome.fun, int(outcome.status))
