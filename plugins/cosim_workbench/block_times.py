"""The time of one evaluation of a system, measured block by block."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np

import cosim
from cosim import kit

REPEATS, REPEATS_IN_PYTHON = 400, 20
"""Calls of each block, so many that the time for calling the walker is negligible."""
STAGES = [stage for stage in cosim.Stage if cosim.Stage.INSTANCE < stage <= cosim.Stage.REPORT]


class BlockTimes(NamedTuple):
    """The time of one evaluation by stage and by part, s; the longest part comes first."""

    stages: dict[str, float]
    parts: dict[str, float]


def time_blocks(state: cosim.State) -> BlockTimes:
    """Measure all blocks; the time of a block with several owners is divided among them.

    Parameters
    ----------
    state : State
        A State that is realized.
    """
    system = state.realize(cosim.Stage.REPORT).system
    parts: dict[str, float] = defaultdict(float)
    stages: dict[str, float] = defaultdict(float)
    for stage in STAGES:
        for index in range(*system.block_range(stage, stage)):
            seconds = _time_block(system, index, state)
            stages[stage.name.lower()] += seconds
            block = system.blocks[index]
            owners = block.owners or (block.label,)
            for owner in owners:
                parts[_part_of(str(owner))] += seconds / len(owners)
    return BlockTimes(dict(stages), dict(sorted(parts.items(), key=lambda item: -item[1])))


def _time_block(system: cosim.System, index: int, state: cosim.State) -> float:
    """The time of one call of a block, s; the arrays of the state stay as they are."""
    arrays = system.arrays(state)
    is_python = system.blocks[index].is_python or kit.is_plain()
    repeats = REPEATS_IN_PYTHON if is_python else REPEATS
    table = np.repeat(system.table[index : index + 1], repeats, axis=0)
    saved = [array.copy() for array in arrays]
    began = time.perf_counter()
    system.walk_blocks(table, 0, repeats, state.time, arrays)
    seconds = (time.perf_counter() - began) / repeats
    for array, saved_array in zip(arrays, saved, strict=True):
        array[...] = saved_array
    return seconds


def _part_of(owner: str) -> str:
    """The name of the part in an owner: "cart" of ``cart.rates`` and of ``zeroing of cart.F_GB``."""
    return owner.rpartition(" of ")[2].partition(".")[0].partition(":")[0]
