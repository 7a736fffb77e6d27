"""The choice of recorded values, as the table that `recording` reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.last_made import last_made
from cosim.run_data.records import Choice
from cosim.stage import Stage
from cosim.system.blocks import Slot
from cosim.system.system import System
from cosim_compiler.record import words_of


def choice_of(system: System, paths: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """The table for these variables, and how many numbers they have."""
    return choice_of_slots(system, [system.signal(path).slot for path in paths])


def choice_of_slots(system: System, slots: Sequence[Slot]) -> tuple[NDArray[np.int64], int]:
    """The choice of some slots; the last choice of a system is cached."""
    key = tuple(slots)
    return last_made(system, "_choice", key, lambda: _choice_of(system, key))


def _choice_of(system: System, slots: Sequence[Slot]) -> tuple[NDArray[np.int64], int]:
    numbers = {array: number for number, array in enumerate("ypdkc")}
    arrays = np.array([numbers[slot[0]] for slot in slots], dtype=np.int64)
    offsets = np.array([slot[1] for slot in slots], dtype=np.int64)
    sizes = np.array([slot[2] for slot in slots], dtype=np.int64)
    values = np.column_stack([arrays, offsets - np.cumsum(sizes) + sizes]).repeat(sizes, axis=0)
    values[:, 1] += np.arange(len(values))
    inner = system.needed_blocks(values[values[:, 0] == numbers["c"], 1].tolist())
    last = system.block_range(Stage.TIME, Stage.ACCELERATION)[1]
    outside = [i for i in inner if i >= last]
    header = Choice(values=len(values), inside=len(inner), outside=len(outside))
    return np.concatenate([words_of(header), values.ravel(), inner, outside]).astype(np.int64), len(values)
