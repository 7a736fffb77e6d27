"""The choice of recorded values, as the table that `recording` reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.last_result_cache import reuse_last
from cosim.run_data.records.recording import Choice
from cosim.stage import Stage
from cosim.system.system import System
from cosim_compiler.record import words_of


def choice_of(system: System, paths: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """The table for these variables, and how many numbers they have; the last one of a system is cached."""
    key = tuple(paths)
    return reuse_last(
        system, "_choice", key, lambda: choice_of_slots(system, *system.signal_columns(key)[:3])
    )


def choice_of_slots(
    system: System, arrays: Sequence[str], offsets: Sequence[int], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], int]:
    """The choice of slots, which are given by columns."""
    numbers = {array: number for number, array in enumerate("ypdkc")}
    array_numbers = np.array([numbers[array] for array in arrays], dtype=np.int64)
    firsts, counts = np.array(offsets, dtype=np.int64), np.array(sizes, dtype=np.int64)
    values = np.column_stack([array_numbers, firsts - np.cumsum(counts) + counts]).repeat(counts, axis=0)
    values[:, 1] += np.arange(len(values))
    inner = system.needed_blocks(values[values[:, 0] == numbers["c"], 1].tolist())
    last = system.block_range(Stage.TIME, Stage.ACCELERATION)[1]
    outside = [i for i in inner if i >= last]
    header = Choice(values=len(values), inside=len(inner), outside=len(outside))
    return np.concatenate([words_of(header), values.ravel(), inner, outside]).astype(np.int64), len(values)
