"""Decides whether the matrices of Newton's method are stored as bands, and in which order of the states."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDEST = 160
"""The largest number of entries in a row of a band; for wider ones general sparse factors are faster."""
LARGEST_SHARE = 0.5
"""The largest width of a band, as a share of the whole matrix."""


@dataclass(frozen=True)
class Band:
    """A band of a matrix.

    Attributes
    ----------
    lower, upper : int
        How many diagonals there are below and above the main one.
    order : ndarray of int64
        The place of each state.
    """

    lower: int
    upper: int
    order: NDArray[np.int64]

    @property
    def width(self) -> int:
        """Entries of a row in its factors."""
        return 2 * self.lower + self.upper + 1


def find_band(starts: NDArray[np.int64], rows: NDArray[np.int64], may_reorder: bool) -> Band | None:
    """The band of a Jacobian, or None if it is not narrow.

    Parameters
    ----------
    starts, rows : ndarray of int64
        Its structure: the index of the first entry of each column, and the row of each entry.
    may_reorder : bool
        Whether states may be reordered if their own order gives no narrow band.
    """
    n = len(starts) - 1
    columns = np.repeat(np.arange(n), np.diff(starts))
    band = _band_of(np.arange(n), rows, columns)
    if _is_narrow(band, n):
        return band
    if may_reorder:
        band = _band_of(reverse_cuthill_mckee(n, rows, columns), rows, columns)
        if _is_narrow(band, n):
            return band
    return None


def _band_of(order: NDArray[np.int64], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Band:
    below_diagonal = order[rows] - order[columns]
    lower, upper = int(below_diagonal.max(initial=0)), int((-below_diagonal).max(initial=0))
    return Band(lower, upper, order.astype(np.int64))


def _is_narrow(band: Band, n: int) -> bool:
    return band.width <= min(WIDEST, LARGEST_SHARE * n)


def reverse_cuthill_mckee(n: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each state in an order in which coupled states are near each other.

    References
    ----------
    A. George, J.W.H. Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981, chapter 4.
    """
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if row != column:
            neighbours[row].add(column)
            neighbours[column].add(row)
    degree = [len(coupled) for coupled in neighbours]
    states: list[int] = []
    is_placed = [False] * n
    for start in sorted(range(n), key=lambda i: degree[i]):
        if not is_placed[start]:
            states += _levels(_far_end(start, neighbours, degree), neighbours, degree, is_placed)
    order = np.empty(n, dtype=np.int64)
    order[states[::-1]] = np.arange(n)
    return order


def _far_end(start: int, neighbours: list[set[int]], degree: list[int]) -> int:
    """A state as far as possible from others among those that are coupled with `start`."""
    height = -1
    while True:
        level, reached, depth = [start], {start}, 0
        while True:
            next_level = {neighbour for i in level for neighbour in neighbours[i]} - reached
            if not next_level:
                break
            reached |= next_level
            level, depth = sorted(next_level), depth + 1
        if depth <= height:
            return start
        height, start = depth, min(level, key=lambda i: degree[i])


def _levels(start: int, neighbours: list[set[int]], degree: list[int], is_placed: list[bool]) -> list[int]:
    """The states coupled with `start`, level by level; they are marked as placed."""
    states, waiting = [], deque([start])
    is_placed[start] = True
    while waiting:
        i = waiting.popleft()
        states.append(i)
        for neighbour in sorted(neighbours[i], key=lambda j: (degree[j], j)):
            if not is_placed[neighbour]:
                is_placed[neighbour] = True
                waiting.append(neighbour)
    return states
