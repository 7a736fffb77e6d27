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
        As many; objects that are `str` where the signal is text.
    unit : str
        Of the values.
    """

    times: NDArray[np.float64]
    values: NDArray[Any]
    unit: str

    @property
    def is_text(self) -> bool:
        """Whether its values are text."""
        return self.values.dtype == object


def read_series(
    series: str | PathLike[str] | cosim.Result | Mapping[str, Sequence[Any]], *, texts: bool = False
) -> dict[str, TimeSeries]:
    """Signals over time, by name.

    Parameters
    ----------
    series : path, Result or mapping of str to sequence
        A file that `cosim.read_result` reads (CSV, Parquet; units in the header), a result, or for each
        signal pairs of time and value: ``{"u": [[0.0, 1.0], ["500 ms", 2.0]]}``.
    texts : bool
        Whether signals of text are given, too, instead of left out.

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
    >>> read_series({"gear": [[0.0, "first"], [2.0, "second"]]}, texts=True)["gear"].values.tolist()
    ['first', 'second']
    """
    if isinstance(series, Mapping):
        return {name: _checked(name, *_pairs(name, pairs, texts), "1") for name, pairs in series.items()}
    result = series if isinstance(series, cosim.Result) else cosim.read_result(Path(series))
    if not len(result):
        raise cosim.ModelError.of("series", f"{series} has no points")
    numbers = result.numbers()
    by_name = {}
    for name, values in result.columns().items():
        if texts or name in numbers:
            by_name[name] = _own(TimeSeries(result.time, numbers.get(name, values), result.unit(name)))
    return by_name


def _pairs(name: str, pairs: Any, texts: bool) -> tuple[list[float], list[Any]]:
    times: list[float] = []
    values: list[Any] = []
    for pair in pairs if isinstance(pairs, Sequence) and not isinstance(pairs, str) else [pairs]:
        try:
            time, value = pair
            times.append(cosim.parse_quantity(time, "s"))
            is_text = texts and isinstance(value, str)
            if values and is_text != isinstance(values[0], str):
                raise ValueError("text and numbers")
            values.append(value if is_text else float(value))
        except (TypeError, ValueError) as error:
            text = (
                f'{name} has {pair!r}, needs pairs of time and value, [[0.0, 1.0], ["500 ms", 2.0]] ({error})'
            )
            raise cosim.ModelError.of("series", text) from None
    return times, values


def _checked(name: str, times: Any, values: Any, unit: str) -> TimeSeries:
    if not times:
        raise cosim.ModelError.of("series", f"{name} has no points, needs at least one: [[0.0, 1.0]]")
    is_text = bool(values) and isinstance(values[0], str)
    series = TimeSeries(
        np.array(times, dtype=float), np.array(values, dtype=object if is_text else float), unit
    )
    is_finite = np.all(np.isfinite(series.times)) and (is_text or np.all(np.isfinite(series.values)))
    if not is_finite or np.any(np.diff(series.times) < 0.0):
        raise cosim.ModelError.of(
            "series", f"{name} needs finite times that do not decrease, and finite values"
        )
    return _own(series)


def _own(series: TimeSeries) -> TimeSeries:
    """A copy with read-only arrays."""
    own = TimeSeries(series.times.copy(), series.values.copy(), series.unit)
    own.times.flags.writeable = own.values.flags.writeable = False
    return own
