"""The tables by which compiled code converts values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.coupling.link import Link


class Conversions(NamedTuple):
    """Of several connections.

    Attributes
    ----------
    places : list of (int, int)
        For each the first of its pairs, and how many there are.
    scales : ndarray, shape (2 * n,)
        Factor and offset of each.
    pairs : ndarray, shape (2 * m,)
        See `convert_value`.
    """

    places: list[tuple[int, int]]
    scales: NDArray[np.float64]
    pairs: NDArray[np.float64]


def conversions(links: Sequence[Link]) -> Conversions:
    """The tables of these connections, in their order."""
    places, pairs = [], list[float]()
    for link in links:
        places.append((len(pairs) // 2, len(link.pairs) // 2))
        pairs += link.pairs
    scales = [number for link in links for number in (link.factor, link.offset)]
    return Conversions(places, np.array(scales, dtype=np.float64), np.array(pairs, dtype=np.float64))
