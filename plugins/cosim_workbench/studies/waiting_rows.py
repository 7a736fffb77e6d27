"""Rows of points that have ended, until there are enough values over time for a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.studies.point_runner import VALUES, Row, failed_row
from cosim_workbench.studies.series_parts import SeriesParts

NUMBERS = 2**20
"""The number of values for which a part is written: 8 MB."""
SECONDS = 10.0
"""Time after which a part is written although it is smaller, since a kill loses waiting rows, s."""

Keep = Callable[[NDArray[np.int64], dict[str, Any], dict[int, str]], None]


class WaitingRows:
    """Passes rows on to a study; values over time are written to parts, those of several points to one.

    Parameters
    ----------
    objectives : sequence of str
    keep : callable
        As for `ModelRuns.run`.
    parts : SeriesParts, optional
        The writer of values over time; without one rows are passed on at once.
    """

    def __init__(self, objectives: Sequence[str], keep: Keep, parts: SeriesParts | None) -> None:
        self._names = (*objectives, *failed_row(0.0, ""))
        self._keep, self._parts = keep, parts
        self._rows: dict[int, Row] = {}
        self._size, self._begun = 0, perf_counter()

    def add(self, first: int, rows: Sequence[Row]) -> None:
        """Add the rows of the points from `first` on."""
        self._rows.update(enumerate(rows, start=first))
        self._size += sum(len(row[VALUES]) * len(row[VALUES].names) for row in rows if VALUES in row)
        if self._parts is None or self._size >= NUMBERS or perf_counter() - self._begun >= SECONDS:
            self.pass_on()

    def pass_on(self) -> None:
        """Write a part with the values of the waiting rows, and pass the rows on."""
        rows = dict(sorted(self._rows.items()))
        self._rows, self._size, self._begun = {}, 0, perf_counter()
        if not rows:
            return
        files: dict[int, str] = {}
        runs: list[tuple[int, cosim.Result]] = []
        if self._parts is not None:
            numbers = self._parts.numbers
            runs = [(int(numbers[number]), row[VALUES]) for number, row in rows.items() if VALUES in row]
            if runs:
                first = next(number for number, row in rows.items() if VALUES in row)
                files[first] = self._parts.add_results(runs)
        columns = {name: [row.get(name, np.nan) for row in rows.values()] for name in self._names}
        self._keep(np.array(list(rows), dtype=np.int64), columns, files)
