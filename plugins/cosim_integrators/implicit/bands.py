"""Which matrices of Newton's method are kept as bands, and in which order of the states."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDEST = 160
"""Entries of a row of a band at most; beyond, general sparse factors are faster."""
OF_ALL = 0.5
"""A band is at most so wide, in parts of the whole matrix."""


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
    """The band of a Jacobian, where it is narrow.

    Parameters
    ----------
    starts, rows : ndarray of int64
        Its structure, column by column.
    may_reorder : bool
        Whether states may be put in another order where their own gives no narrow band.
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
    away = order[rows] - order[columns]
    return Band(int(away.max(initial=0)), int((-away).max(initial=0)), order.astype(np.int64))


def _is_narrow(band: Band, n: int) -> bool:
    return band.width <= min(WIDEST, OF_ALL * n)


def reverse_cuthill_mckee(n: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each state in an order in which coupled ones lie near each other.

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
    order_found: list[int] = []
    is_placed = [False] * n
    for start in sorted(range(n), key=lambda i: degree[i]):
        if not is_placed[start]:
            order_found += _levels(_far_end(start, neighbours, degree), neighbours, degree, is_placed)
    order = np.empty(n, dtype=np.int64)
    order[order_found[::-1]] = np.arange(n)
    return order


def _far_end(start: int, neighbours: list[set[int]], degree: list[int]) -> int:
    """A state at an end of those that are coupled with one."""
    height = -1
    while True:
        level, reached, depth = [start], {start}, 0
        while True:
            following = {other for i in level for other in neighbours[i]} - reached
            if not following:
                break
            reached |= following
            level, depth = sorted(following), depth + 1
        if depth <= height:
            return start
        height, start = depth, min(level, key=lambda i: degree[i])


def _levels(start: int, neighbours: list[set[int]], degree: list[int], is_placed: list[bool]) -> list[int]:
    """The states coupled with a state, level by level."""
    listed, waiting = [], deque([start])
    is_placed[start] = True
    while waiting:
        i = waiting.popleft()
        listed.append(i)
        for other in sorted(neighbours[i], key=lambda j: (degree[j], j)):
            if not is_placed[other]:
                is_placed[other] = True
                waiting.append(other)
    return listed
