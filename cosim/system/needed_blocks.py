"""The blocks of the schedule that some values need: backward reachability over regions of the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.system.blocks import Block
from cosim.system.dependency_graph import Graph


class NeededBlocks:
    """Answers which blocks have to run for values in the cache.

    Parameters
    ----------
    blocks : sequence of Block
        Of the stages of the schedule, in order.
    graph : Graph
        The graph from whose nodes the blocks were made.
    """

    def __init__(self, blocks: Sequence[Block], graph: Graph) -> None:
        self._blocks, self._graph = blocks, graph
        self._regions_made = [self._regions(block, "writes", "adds") for block in blocks]
        self._regions_read = [self._regions(block, "reads", "adds") for block in blocks]

    def among(self, indices: range, offsets: Iterable[int]) -> list[int]:
        """The blocks among `indices` that compute the values at `offsets`, in order."""
        return self._find_needed(indices, offsets, lambda block: False)

    def of_derivatives(self, indices: range, ny: int) -> list[int]:
        """The blocks among `indices` that have to run for derivatives alone, in order.

        Three kinds of blocks always run: functions in plain Python, blocks that write elsewhere than into the
        cache, and blocks of a solver that do not say that they can be omitted.
        """

        def always_runs(block: Block) -> bool:
            elsewhere = any(slot.array != "c" for slot in (*block.writes, *block.adds))
            is_bound = not (block.mergeable or block.can_be_omitted)
            return block.is_python or is_bound or elsewhere

        return self._find_needed(indices, range(ny), always_runs)

    def _find_needed(
        self, indices: range, offsets: Iterable[int], always_runs: Callable[[Block], bool]
    ) -> list[int]:
        """Go back through blocks, and collect those that make a region which is needed by then."""
        layout = self._graph.layout
        needed = np.zeros(len(layout.regions), dtype=bool)
        wanted_offsets = np.fromiter(offsets, dtype=np.int64)
        needed[np.searchsorted(layout.regions, wanted_offsets, side="right") - 1] = True
        block_indices = []
        for i in reversed(indices):
            if needed[self._regions_made[i]].any() or always_runs(self._blocks[i]):
                block_indices.append(i)
                needed[self._regions_read[i]] = True
        return block_indices[::-1]

    def _regions(self, block: Block, *effects: str) -> NDArray[np.integer[Any]]:
        return np.concatenate([getattr(self._graph, effect).of(block.members) for effect in effects])
