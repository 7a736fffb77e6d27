"""Measured signals that a calibration fits: in SI, with their times and the deviations of their noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import conversion
from cosim_workbench.studies.calibration_doubts import is_constant
from cosim_workbench.studies.variation import parse_difference

Vector = NDArray[np.float64]
SQUARED = 1e100
"""Sums of squares of smaller numbers are finite; those of numbers above its reciprocal are not 0."""


def measured_times(data: cosim.Result) -> Vector:
    """The times of measured data; `ModelError` unless there are two, and they increase."""
    times = data.time.copy()
    times.flags.writeable = False
    if len(times) < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise cosim.ModelError.of("measured", "needs two times at least, which increase")
    return times


def measured_signal(data: cosim.Result, column: str, unit: str) -> Vector:
    """The values of a column in the unit of a signal of the model.

    Raises
    ------
    ModelError
        It is text, or has values that are no finite numbers, or whose squares are none.
    """
    factor, offset = (1.0, 0.0)
    if data.unit(column) != "1":
        factor, offset = conversion(data.unit(column), unit)
    if data[column].dtype == object:
        raise cosim.ModelError.of(column, "is text, no measured numbers")
    values: Vector = factor * data[column] + offset
    if not np.isfinite(values).all():
        raise cosim.ModelError.of(column, "has values that are no finite numbers")
    if np.abs(values).max() >= SQUARED or spread_of(values) <= 1.0 / SQUARED:
        raise cosim.ModelError.of(column, "has values whose squares are no finite numbers: use another unit")
    values.flags.writeable = False
    return values


def noise_deviations(noise: Mapping[str, Any], units: Mapping[str, str]) -> dict[str, float]:
    """Standard deviations of the noise by signal, in SI; `units` are those of the measured signals."""
    deviations = {path: parse_difference(value, units.get(path, "1")) for path, value in noise.items()}
    wrong = next((p for p, value in deviations.items() if p not in units or not value > 0.0), None)
    if wrong is not None:
        raise cosim.ModelError.of("noise", f"{wrong}: needs a deviation > 0 of a signal that was measured")
    return deviations


def spread_of(values: Vector) -> float:
    """A deviation to begin with; that of a constant is its magnitude."""
    return (0.0 if is_constant(values) else float(np.std(values))) or float(np.abs(values).max()) or 1.0
