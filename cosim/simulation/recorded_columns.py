"""Columns of recorded values that rows are appended to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHARE = 8
"""A column has no more than an eighth more memory than its numbers need."""


class RecordedColumns:
    """The times and each signal in an array of its own, which grows where it stands.

    Parameters
    ----------
    sizes : sequence of int
        How many values each signal has.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes, self._width = [1, *sizes], 1 + sum(sizes)
        self._count = self._room = 0
        self._columns = self._empty_columns()

    def _empty_columns(self) -> list[NDArray[np.float64]]:
        return [np.empty(0 if size == 1 else (0, size)) for size in self._sizes]

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> int:
        """How many numbers there are."""
        return self._count * self._width

    def append(self, rows: NDArray[np.float64]) -> None:
        """Append rows: a time, then the values of all signals."""
        first, self._count = self._count, self._count + len(rows)
        if self._count > self._room:
            self._resize(max(self._count, self._room + self._room // SHARE))
        at = 0
        for column, size in zip(self._columns, self._sizes, strict=True):
            column[first : self._count] = rows[:, at] if size == 1 else rows[:, at : at + size]
            at += size

    def row(self, number: int) -> NDArray[np.float64]:
        """One row; numbers below 0 count from the end."""
        place = number % self._count
        return np.concatenate([column[place].reshape(-1) for column in self._columns])

    def copy(self) -> list[NDArray[np.float64]]:
        """Copies of the columns, the times first."""
        return [column[: self._count].copy() for column in self._columns]

    def take(self) -> list[NDArray[np.float64]]:
        """The columns themselves, the times first; here are no rows any more."""
        self._resize(self._count)
        columns, self._columns = self._columns, self._empty_columns()
        self._count = self._room = 0
        return columns

    def clear(self) -> None:
        """Forget all rows; the memory is used again."""
        self._count = 0

    def _resize(self, rows: int) -> None:
        self._room = rows
        for column in self._columns:  # no other name for one is handed out before `take`
            column.resize((rows, *column.shape[1:]), refcheck=False)
