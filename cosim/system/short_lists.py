"""Very many short lists of numbers, kept as one long one."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]


class ShortLists:
    """Lists of small integers, one behind the other: a list object each would be most of what they take.

    Parameters
    ----------
    numbers : array_like of int
        Of all lists.
    counts : array_like of int
        How many of them each list has.

    Examples
    --------
    >>> lists = ShortLists([7, 8, 9], [2, 0, 1])
    >>> list(lists[0]), list(lists[1]), lists.of([2, 0]).tolist()
    ([7, 8], [], [9, 7, 8])
    """

    def __init__(self, numbers: Sequence[int] | Integers, counts: Sequence[int] | Integers) -> None:
        self.counts: Integers = np.asarray(counts, dtype=np.int32)
        self._numbers = _compact(np.asarray(numbers))
        self._starts = _compact(np.concatenate([[0], np.cumsum(self.counts)]))

    @classmethod
    def of_pairs(cls, lists: Integers, numbers: Integers, count: int) -> ShortLists:
        """Make lists from numbers and the list to which each belongs; their order in a list stays."""
        return cls(numbers[np.argsort(lists, kind="stable")], np.bincount(lists, minlength=count))

    @classmethod
    def of_sets(cls, lists: Integers, numbers: Integers, count: int) -> ShortLists:
        """Make lists from numbers and the list to which each belongs; each number once, ascending."""
        width = int(numbers.max(initial=0)) + 1
        pairs = np.sort(lists.astype(np.int64) * width + numbers)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return cls(pairs % width, np.bincount(pairs // width, minlength=count))

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, index: int) -> array[int]:
        return self._numbers[self._starts[index] : self._starts[index + 1]]

    def __iter__(self) -> Iterator[array[int]]:
        numbers = self._numbers
        return iter([numbers[first:last] for first, last in pairwise(self._starts)])

    @property
    def numbers(self) -> Integers:
        """The numbers of all lists, one list after the other."""
        return np.asarray(self._numbers)

    @property
    def owners(self) -> Integers:
        """For each number the index of the list that contains it."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.counts)

    def of(self, indices: Sequence[int] | Integers) -> Integers:
        """The numbers of these lists, one list after the other."""
        if len(indices) == 1:
            return np.asarray(self[indices[0]])
        indices = np.asarray(indices, dtype=np.intp)
        counts = self.counts[indices]
        skipped = np.asarray(self._starts)[indices] - (np.cumsum(counts) - counts)
        return self.numbers[np.repeat(skipped, counts) + np.arange(counts.sum())]


def _compact(numbers: NDArray[np.integer]) -> array[int]:
    packed = array("i")
    packed.frombytes(numbers.astype(np.int32).tobytes())
    return packed
