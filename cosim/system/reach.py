"""Which rows of the schedule that reaches which was written to variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.system.schedule import Block, Graph

MOST_KEPT = 1000  # plans of one system: each is a small table


class Plan(NamedTuple):
    """Part of a schedule.

    Attributes
    ----------
    table : ndarray of int64, shape (runs, 3)
        For the walker: address, start in `ints`, rows.
    blocks : list of int
        Which block of the system each run of rows belongs to.
    share : float
        Rows among those of all blocks of one evaluation of the derivatives (0 … 1).
    """

    table: NDArray[np.int64]
    blocks: list[int]
    share: float


class Reach:
    """From variables that were written to the rows whose results may have changed.

    A row is called again when it reads one of the variables, or something that a row writes which is called
    again; of an accumulator, all that add to it are. Blocks of a solver and functions in plain Python are
    called whatever they say that they read.

    Parameters
    ----------
    graph : Graph
        One node for each row, or a few rows of one owner.
    blocks : sequence of Block
        Of the schedule; `members` says which nodes each was made from.
    table : ndarray of int64, shape (blocks, 3)
    """

    def __init__(self, graph: Graph, blocks: Sequence[Block], table: NDArray[np.int64]) -> None:
        self._graph, self._blocks, self._table = graph, blocks, table
        self._plans: dict[tuple[tuple[str, bytes], ...], Plan] = {}
        self._readers: dict[tuple[str, int], set[int]] = {}  # of elements outside, of regions of the cache
        self._makers: dict[int, set[int]] = {}  # of regions
        self._rows = np.zeros(len(graph.blocks) + 1, dtype=np.int64)
        stages = [Stage.INFINITY] * len(graph.blocks)
        for block in blocks:
            for i in block.members:
                stages[i] = block.stage
        self._stages = stages
        self._always: set[int] = set()
        region_of = graph.region_of
        for i, node in enumerate(graph.blocks):
            if stages[i] > Stage.ACCELERATION:
                continue
            if node.is_python or not node.mergeable:
                self._always.add(i)
            for slot in (*node.reads, *node.adds):
                if slot.array == "c" and slot.size:
                    self._readers.setdefault(("c", region_of(slot.offset)), set()).add(i)
                else:
                    for at in range(slot.offset, slot.offset + slot.size):
                        self._readers.setdefault((slot.array, at), set()).add(i)
            for slot in (*node.writes, *node.adds):
                if slot.array == "c" and slot.size:
                    self._makers.setdefault(region_of(slot.offset), set()).add(i)
        self._whole = sum(
            node.rows.shape[0]
            for i, node in enumerate(graph.blocks)
            if Stage.TIME <= stages[i] <= Stage.ACCELERATION
        )

    def plan(self, written: Mapping[str, NDArray[np.int64]], lowest: Stage) -> Plan:
        """What has to be called again, in order.

        Parameters
        ----------
        written : mapping of str to ndarray of int64
            By array, the offsets that were written.
        lowest : Stage
            The lowest one that this invalidates.
        """
        key = tuple((name, offsets.tobytes()) for name, offsets in sorted(written.items()))
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) >= MOST_KEPT:
                self._plans.clear()
            found = self._plans[key] = self._make(self._reached(written, lowest))
        return found

    def _reached(self, written: Mapping[str, NDArray[np.int64]], lowest: Stage) -> set[int]:
        places = [(name, at) for name, offsets in written.items() for at in offsets.tolist()]
        pending = {i for place in places for i in self._readers.get(place, ())}
        pending |= {i for i in self._always if self._stages[i] >= lowest}
        reached: set[int] = set()
        while pending:
            i = pending.pop()
            reached.add(i)
            for slot in (*self._graph.blocks[i].writes, *self._graph.blocks[i].adds):
                if slot.array == "c" and slot.size:
                    region = self._graph.region_of(slot.offset)
                    pending |= self._readers.get(("c", region), set()) - reached
                    if len(self._makers[region]) > 1:
                        pending |= self._makers[region] - reached
        return reached

    def _make(self, reached: set[int]) -> Plan:
        runs: list[list[int]] = []
        numbers: list[int] = []
        rows = 0
        for number, block in enumerate(self._blocks):
            if not reached.intersection(block.members):
                continue
            address, start, _ = self._table[number].tolist()
            width = block.rows.shape[1] if block.rows.ndim == 2 else 0
            first = 0
            for i in block.members:
                count = self._graph.blocks[i].rows.shape[0]
                if i in reached:
                    at = start + first * width
                    if numbers and numbers[-1] == number and runs[-1][1] + runs[-1][2] * width == at:
                        runs[-1][2] += count
                    else:
                        runs.append([address, at, count])
                        numbers.append(number)
                    if block.stage >= Stage.TIME:
                        rows += count
                first += count
        table = np.array(runs, dtype=np.int64).reshape(-1, 3)
        return Plan(table, numbers, rows / self._whole if self._whole else 0.0)
