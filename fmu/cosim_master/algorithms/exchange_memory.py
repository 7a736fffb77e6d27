"""The arrays in which an algorithm of ours decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Course
from cosim_master.algorithms import exchange_layout as layout

Vector = NDArray[np.float64]


class ExchangeMemory:
    """What an algorithm knows of the interface and of itself; what each index means, `exchange_layout` says.

    Parameters
    ----------
    size : int
        Number of values of the interface.
    bonds : sequence of (int, int)
        Places of both outputs of each power bond.
    rows : int
        Of the table.
    """

    def __init__(self, size: int = 0, bonds: Sequence[tuple[int, int]] = (), rows: int = layout.ROWS) -> None:
        self.counts = np.zeros(layout.COUNTS, dtype=np.int64)
        self.numbers = np.zeros(layout.NUMBERS)
        self.table = np.zeros(rows * size)
        self.bonds = np.array([place for bond in bonds for place in bond], dtype=np.int64)
        self.counts[layout.SIZE] = size

    def row(self, row: int) -> Vector:
        """A view of a row of the table."""
        size = int(self.counts[layout.SIZE])
        return self.table[row * size : (row + 1) * size]

    @property
    def time(self) -> float:
        """When the exchange under way has begun, s."""
        return float(self.numbers[layout.TIME])

    @property
    def length(self) -> float:
        """Of the exchange under way, s."""
        return float(self.numbers[layout.LENGTH])

    @property
    def course(self) -> Course:
        """How the interface runs over the exchange under way."""
        return Course(self.row(layout.MIDDLE), self.row(layout.SLOPE), self.length)
