"""Columns of recorded values that rows are appended to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
ROWS = 1024
"""So many become columns at once: that takes a moment for each column."""
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
        self._columns: list[Reals] = []  # none before there are rows for them
        self._pieces: list[Reals] = []  # rows that are in no column yet
        self._count = self._filled = self._room = 0

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> int:
        """The number of values in a row."""
        return self._count * self._width

    def append(self, rows: Reals) -> None:
        """Append rows, which are not changed afterwards: a time, then the values of all signals."""
        self._pieces.append(rows)
        self._count += len(rows)
        if self._count - self._filled >= ROWS:
            self._fill_columns()

    def row(self, number: int) -> Reals:
        """One row; numbers below 0 count from the end."""
        place = number % self._count - self._filled
        if place < 0:
            return np.concatenate([column[place + self._filled].reshape(-1) for column in self._columns])
        for piece in self._pieces:
            if place < len(piece):
                return piece[place].copy()
            place -= len(piece)
        raise IndexError(number)

    def copy(self) -> list[Reals]:
        """Copies of the columns, the times first."""
        if not self._filled:
            return self._new_columns()
        self._fill_columns()
        return [column[: self._count].copy() for column in self._columns]

    def pop(self) -> list[Reals]:
        """The columns themselves, the times first; here are no rows any more."""
        if not self._filled:
            columns = self._new_columns()
        else:
            self._fill_columns()
            self._resize(self._count)
            columns, self._columns, self._room = self._columns, [], 0
        self.clear()
        return columns

    def clear(self) -> None:
        """Forget all rows; the memory is used again."""
        self._pieces = []
        self._count = self._filled = 0

    def _new_columns(self) -> list[Reals]:
        """Columns of the rows that are in none yet, as parts of one array."""
        table, at = np.empty((self._width, self._count)), 0
        for piece in self._pieces:
            table[:, at : at + len(piece)] = piece.T
            at += len(piece)
        if self._width == len(self._sizes):
            return list(table)
        ends = np.cumsum(self._sizes).tolist()
        return [
            table[end - 1] if size == 1 else table[end - size : end].T
            for end, size in zip(ends, self._sizes, strict=True)
        ]

    def _fill_columns(self) -> None:
        """Move rows into columns."""
        if not self._columns:
            self._columns = [np.empty(0 if size == 1 else (0, size)) for size in self._sizes]
        if self._count > self._room:
            self._resize(max(self._count, self._room + self._room // SHARE))
        for piece in self._pieces:
            first, self._filled, at = self._filled, self._filled + len(piece), 0
            for column, size in zip(self._columns, self._sizes, strict=True):
                column[first : self._filled] = piece[:, at] if size == 1 else piece[:, at : at + size]
                at += size
        self._pieces = []

    def _resize(self, rows: int) -> None:
        self._room = rows
        for column in self._columns:  # no other name for one is handed out before `take`
            column.resize((rows, *column.shape[1:]), refcheck=False)
