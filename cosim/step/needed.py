"""Which blocks of the schedule some values need."""

from __future__ import annotations

from collections.abc import Iterable

from cosim.stage import Stage
from cosim.system.system import System


def needed_blocks(system: System, offsets: Iterable[int]) -> list[int]:
    """Indices of the blocks that compute these offsets of the cache inside a step, in order."""
    region_of = system.assembly.layout.region_of
    needed = {region_of(offset) for offset in offsets}
    found = []
    first, last = system.block_range(Stage.TIME, Stage.REPORT)
    for i in range(last - 1, first - 1, -1):
        block = system.blocks[i]
        made = {region_of(s.offset) for s in (*block.writes, *block.adds) if s.array == "c" and s.size}
        if made & needed:
            found.append(i)
            needed |= {region_of(s.offset) for s in (*block.reads, *block.adds) if s.array == "c" and s.size}
    return found[::-1]
