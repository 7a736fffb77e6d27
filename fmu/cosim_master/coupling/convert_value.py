"""What the value of an output becomes as an input, as a kernel function; and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.coupling.link import Link


def convert_value(value, pairs, factor, offset):
    """Map the value of an output, then scale it.

    Parameters
    ----------
    value : float
    pairs : ndarray, shape (2 * n,)
        Values, and what they become; others stay as they are.
    factor, offset : float
    """
    for i in range(pairs.shape[0] // 2):
        if pairs[2 * i] == value:
            value = pairs[2 * i + 1]
            break
    if factor != 1.0 or offset != 0.0:
        value = factor * value + offset
    return value


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
        table = {float(key): float(value) for key, value in (link.table or {}).items()}
        places.append((len(pairs) // 2, len(table)))
        pairs += [number for pair in table.items() for number in pair]
    scales = [number for link in links for number in (link.factor, link.offset)]
    return Conversions(places, np.array(scales, dtype=np.float64), np.array(pairs, dtype=np.float64))
