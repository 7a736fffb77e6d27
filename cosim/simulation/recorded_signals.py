"""The signals that a run records, for the recording Step and for a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosim.last_made import last_made
from cosim.preparation.choice import choice_of_slots
from cosim.system.signals import Signal
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
    return last_made(system, "_recorded_signals", key, lambda: _recorded_signals(system, key))


def _recorded_signals(system: System, paths: Sequence[str]) -> RecordedSignals:
    signals = system.signals(paths)
    sizes = [signal.slot.size for signal in signals]
    choice, count = choice_of_slots(system, [signal.slot for signal in signals])
    firsts = (1 + np.cumsum([0, *sizes])).tolist()
    noticed = [
        (first, size, path)
        for first, size, path, signal in zip(firsts, sizes, paths, signals, strict=False)
        if signal.declaration.kind in NOTICED and signal.slot.array == "c"
    ]
    units = {path: _unit(signal) for path, signal in zip(paths, signals, strict=True)}
    return RecordedSignals(sizes, units, choice, 1 + count, noticed)


def _unit(signal: Signal) -> str:
    units = signal.units
    return units[0] if len(units) == 1 or len(set(units)) == 1 else "1"
