"""The values of results at common times, for a comparison of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import Result
from cosim_workbench.agreement import size_of
from cosim_workbench.recorded_at import recorded_rows

Reals = NDArray[np.float64]
Table = dict[str, NDArray[Any]]
"""The values of each signal."""


def values_at(result: Result, grid: Reals) -> Table:
    """The columns of a result at these times, after the events of each; NaN where it has none."""
    if not len(result):
        return {name: np.full(grid.shape, math.nan) for name in result.columns()}
    rows, is_recorded = recorded_rows(result.time, grid)
    return {
        name: values[rows]
        if values.dtype == object or is_recorded.all()
        else np.where(is_recorded, values[rows], np.nan)
        for name, values in result.columns().items()
    }


def largest_values(tables: Sequence[Table]) -> dict[str, float]:
    """The largest magnitude of each column in any of these tables."""
    sizes: dict[str, float] = {}
    for table in tables:
        for name, values in table.items():
            sizes[name] = max(sizes.get(name, 0.0), size_of(values))
    return sizes
