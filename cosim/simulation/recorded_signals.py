"""The signals that a run records, for the recording Step and for a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosim.last_result_cache import reuse_last
from cosim.preparation.choice import choice_of_slots
from cosim.system.system import System

NOTICED = ("output", "measure")  # states are checked in every step; of variables NaN often says "none yet"


@dataclass(frozen=True)
class RecordedSignals:
    """Signals of a system, in the order of the columns of a row, which begins with the time.

    Attributes
    ----------
    sizes : list of int
        How many values each has.
    units : dict of str to str
        By path; of elements with several units, "1".
    choice : ndarray of int64
        The table that the Step goes by.
    width : int
        Of a row.
    noticed : list of (int, int, str)
        First column, size and path of those that are noticed when they become NaN.
    """

    sizes: list[int]
    units: dict[str, str]
    choice: NDArray[np.int64]
    width: int
    noticed: list[tuple[int, int, str]]


def recorded_signals(system: System, paths: Sequence[str]) -> RecordedSignals:
    """The recorded signals of these paths; the last result is cached."""
    key = tuple(paths)
    return reuse_last(system, "_recorded_signals", key, lambda: _recorded_signals(system, key))


def _recorded_signals(system: System, paths: Sequence[str]) -> RecordedSignals:
    """`recorded_signals`, found anew."""
    arrays, offsets, sizes, units, kinds = system.signal_columns(paths)
    choice, count = choice_of_slots(system, arrays, offsets, sizes)
    firsts = (1 + np.cumsum([0, *sizes])).tolist()
    noticed = [
        (first, size, path)
        for first, size, path, array, kind in zip(firsts, sizes, paths, arrays, kinds, strict=False)
        if array == "c" and kind in NOTICED
    ]
    unit_of = {of_elements: _unit(of_elements) for of_elements in set(units)}
    units_by_path = dict(zip(paths, map(unit_of.__getitem__, units), strict=True))
    return RecordedSignals(sizes, units_by_path, choice, 1 + count, noticed)


def _unit(units: tuple[str, ...]) -> str:
    """The unit of a signal from those of its elements; "1" if they differ."""
    return units[0] if len(set(units)) == 1 else "1"
