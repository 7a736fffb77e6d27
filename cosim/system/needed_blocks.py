"""Which blocks of the schedule some values need."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

from cosim.system.layout import Layout
from cosim.system.schedule import Block


class NeededBlocks:
    """Answers which blocks have to run for values in the cache.

    Parameters
    ----------
    blocks : sequence of Block
        Of the schedule, in order.
    layout : Layout
    """

    def __init__(self, blocks: Sequence[Block], layout: Layout) -> None:
        self._blocks, self._layout = blocks, layout
        self._made = [self._regions(block, "writes", "adds") for block in blocks]
        self._read = [self._regions(block, "reads", "adds") for block in blocks]

    def among(self, indices: range, offsets: Iterable[int]) -> list[int]:
        """Those of these blocks that compute the values at `offsets`, in order."""
        return self._found(indices, offsets, lambda block: False)

    def of_derivatives(self, indices: range, ny: int) -> list[int]:
        """Those of these blocks that have to run where only derivatives are asked for, in order.

        Blocks of a solver, functions in plain Python and what writes elsewhere than into the cache always do.
        """

        def is_always(block: Block) -> bool:
            elsewhere = any(slot.array != "c" for slot in (*block.writes, *block.adds))
            return block.is_python or not block.mergeable or elsewhere

        return self._found(indices, range(ny), is_always)

    def _found(self, indices: range, offsets: Iterable[int], is_always: Callable[[Block], bool]) -> list[int]:
        needed = {self._layout.region_of(offset) for offset in offsets}
        found = []
        for i in reversed(indices):
            if not needed.isdisjoint(self._made[i]) or is_always(self._blocks[i]):
                found.append(i)
                needed.update(self._read[i])
        return found[::-1]

    def _regions(self, block: Block, *effects: str) -> array[int]:
        found = {n for effect in effects for n in self._layout.regions_of(getattr(block, effect))}
        return array("i", found)
