"""Values over time, from files, results and tables: for models and for scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim


class TimeSeries(NamedTuple):
    """Values of one signal over time.

    Attributes
    ----------
    times : ndarray
        s; they do not fall. Where one comes twice the values jump.
    values : ndarray
        As many.
    unit : str
        Of the values.
    """

    times: NDArray[np.float64]
    values: NDArray[np.float64]
    unit: str


def read_series(
    series: str | PathLike[str] | cosim.Result | Mapping[str, Sequence[Any]],
) -> dict[str, TimeSeries]:
    """Signals over time, by name.

    Parameters
    ----------
    series : path, Result or mapping of str to sequence
        A file that `cosim.read_result` reads (CSV, Parquet; units in the header), a result, or for each
        signal pairs of time and value: ``{"u": [[0.0, 1.0], ["500 ms", 2.0]]}``. Text is left out.

    Raises
    ------
    ModelError
        No points, times that fall, values that are not finite.
    CosimError
        A file that cannot be read, with its line.

    Examples
    --------
    >>> read_series({"u": [[0.0, 1.0], ["500 ms", 2.0]]})["u"].times.tolist()
    [0.0, 0.5]
    """
    if isinstance(series, Mapping):
        return {name: _checked(name, *_pairs(name, pairs), "1") for name, pairs in series.items()}
    result = series if isinstance(series, cosim.Result) else cosim.read_result(Path(series))
    if not len(result):
        raise cosim.ModelError.of("series", f"{series} has no points")
    columns = result.numbers()
    return {name: TimeSeries(result.time, values, result.unit(name)) for name, values in columns.items()}


def _pairs(name: str, pairs: Any) -> tuple[list[float], list[float]]:
    times, values = [], []
    for pair in pairs if isinstance(pairs, Sequence) and not isinstance(pairs, str) else [pairs]:
        try:
            time, value = pair
            times.append(cosim.parse_quantity(time, "s"))
            values.append(float(value))
        except (TypeError, ValueError) as error:
            text = (
                f'{name} has {pair!r}, needs pairs of time and value, [[0.0, 1.0], ["500 ms", 2.0]] ({error})'
            )
            raise cosim.ModelError.of("series", text) from None
    return times, values


def _checked(name: str, times: Any, values: Any, unit: str) -> TimeSeries:
    found = TimeSeries(np.array(times, dtype=float), np.array(values, dtype=float), unit)
    is_finite = np.all(np.isfinite(found.times)) and np.all(np.isfinite(found.values))
    if not found.times.size or not is_finite or np.any(np.diff(found.times) < 0.0):
        raise cosim.ModelError.of(
            "series", f"{name} needs finite times that do not decrease, and finite values"
        )
    return found
