"""The dependencies between blocks, and the order in which these run.

A block starts with one row of one kernel function. Its stage is the highest stage of what it reads; its depth
is the length of the longest chain of blocks before it inside that stage. Blocks of one function at one stage
and depth are merged into one block of the schedule.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import ModelError
from cosim.stage import Stage
from cosim.system.blocks import STAGES_OF_ARRAYS, Block, Flows, Slot, behind
from cosim.system.layout import Layout
from cosim.system.short_lists import ShortLists

NO_BLOCK = -1


class Graph:
    """Dependencies between blocks, through the regions of the cache.

    Parameters
    ----------
    blocks : sequence of Block
        In the order of declaration, which decides where dependencies leave the order open.
    layout : Layout
        Its allocations in the cache are the regions.
    base_stage : callable
        Returns the stage at which a slot outside the cache becomes known.

    Attributes
    ----------
    reads, writes, adds : ShortLists
        By block the regions that it reads, writes, or adds to.
    predecessors : ShortLists
        By block those that have to run before it.
    """

    def __init__(self, blocks: Sequence[Block], layout: Layout, base_stage: Callable[[Slot], Stage]) -> None:
        self.blocks, self.layout, self._base_stage = blocks, layout, base_stage
        starts = np.array(layout.regions, dtype=np.int64)
        self.reads, self.writes, self.adds = (
            _regions(blocks, effect, starts) for effect in ("reads", "writes", "adds")
        )
        self._writer = np.full(len(layout.regions), NO_BLOCK, dtype=np.int32)
        self._writer[self.writes.numbers] = self.writes.owners
        self._adders = ShortLists.of_pairs(self.adds.numbers, self.adds.owners, len(layout.regions))
        self.predecessors = self._list_predecessors()
        self._flows: dict[int, Flows] = {}  # of the blocks that were asked

    def _list_predecessors(self) -> ShortLists:
        """By block those that write or add to what it reads, and those that zero what it adds to."""
        readers, read = self.reads.owners, self.reads.numbers
        writer_before_reader = self._writer[read], readers
        adder_before_reader = self._adders.of(read), np.repeat(readers, self._adders.counts[read])
        writer_before_adder = self._writer[self.adds.numbers], self.adds.owners
        before, after = (
            np.concatenate(blocks)
            for blocks in zip(writer_before_reader, adder_before_reader, writer_before_adder, strict=True)
        )
        has_owner = np.array([bool(block.owners) for block in self.blocks], dtype=bool)
        # blocks of a solver, which have no owner, read what they have written themselves
        is_predecessor = (before != NO_BLOCK) & ((before != after) | has_owner[after])
        return ShortLists.of_sets(after[is_predecessor], before[is_predecessor], len(self.blocks))

    def makers(self, region: int) -> list[int]:
        """The blocks that write a region of the cache or add to it."""
        writer = int(self._writer[region])
        return [*([] if writer == NO_BLOCK else [writer]), *self._adders[region]]

    def order(self) -> list[list[Block]]:
        """The merged blocks of each stage, in the order in which they run.

        Raises
        ------
        ModelError
            There is an algebraic loop; the message lists its path.
        """
        stages, depth, before = self.stages, [0] * len(self.blocks), list(self.predecessors)
        for i in self.sequence:
            stage, least = stages[i], 0
            for j in before[i]:
                if depth[j] >= least and stages[j] == stage:
                    least = depth[j] + 1
            depth[i] = least
        result: list[list[Block]] = [[] for _ in Stage]
        groups: dict[tuple[Stage, int, int], list[int]] = {}
        for i, block in enumerate(self.blocks):
            function = id(block.function) if block.mergeable else -1 - i  # one of its own: never merged
            groups.setdefault((stages[i], depth[i], function), []).append(i)
        for stage, deep, function in sorted(groups, key=lambda key: (key[0], key[1], groups[key][0])):
            result[stage].append(self._merge(groups[stage, deep, function], stage))
        return result

    def stage_of_region(self) -> list[Stage]:
        """The stage at which each region of the cache is complete; MODEL if no block computes it."""
        stages = [*self.stages, Stage.MODEL]  # the last is that of NO_BLOCK
        stage_of = [stages[i] for i in self._writer.tolist()]
        for region in np.flatnonzero(self._adders.counts).tolist():
            stage_of[region] = max([stage_of[region], *(stages[i] for i in self._adders[region])])
        return stage_of

    def regions_behind(self, stop: Slot) -> set[int]:
        """Regions of the cache on which the value at `stop` depends at the same instant, with its own."""
        region = self.layout.region_of(stop.offset)
        regions, visited = {region}, set()
        pending = self.makers(region)
        while pending:
            i = pending.pop()
            if i not in visited:
                visited.add(i)
                regions.update(self.reads[i])
                pending += self.predecessors[i]
        return regions

    def followers(
        self, starts: Sequence[Slot] = (), outside: Callable[[Slot], bool] | None = None
    ) -> set[int]:
        """Regions of the cache that depend on some slots at the same instant, with their own.

        Parameters
        ----------
        starts : sequence of Slot
            The slots in the cache.
        outside : callable or None
            Returns whether a slot outside the cache is one of the slots, too.
        """
        regions = set(self.layout.regions_of(starts))
        follows = [False] * len(self.blocks)
        for i in self.sequence if regions or outside is not None else ():
            follows[i] = any(follows[j] for j in self.predecessors[i]) or not regions.isdisjoint(
                self.reads[i]
            )
            if outside is not None and not follows[i]:
                follows[i] = any(slot.array != "c" and outside(slot) for slot in self.blocks[i].reads)
            if follows[i]:
                regions.update(self.writes[i], self.adds[i])
        return regions

    def sources(self, stop: Slot, updates: Sequence[Block] = ()) -> set[Slot]:
        """Slots outside the cache that the value at `stop` is computed from.

        Parameters
        ----------
        stop : Slot
        updates : sequence of Block
            Blocks that update memories. What they read counts if the value depends on another block of the
            same owner: the initialization fills memories with present values.
        """
        memories: dict[str, list[Block]] = {}
        for update in updates:
            for owner in set(update.owners):
                memories.setdefault(owner, []).append(update)
        slots: set[Slot] = set()
        pending: list[Slot] = [stop]
        visited: set[tuple[int, Slot]] = set()
        flows = self._flows
        while pending:
            slot = pending.pop()
            if slot.array != "c":
                slots.add(slot)
                continue
            for i in (i for region in self.layout.regions_of([slot]) for i in self.makers(region)):
                block = self.blocks[i]
                if i not in flows:
                    flows[i] = block.flows()
                key = i, slot if flows[i] else stop  # without flows all results depend on the same slots
                if key not in visited:
                    visited.add(key)
                    memory = [u for owner in set(block.owners) for u in memories.get(owner, ())]
                    read = [*behind(block, flows[i], slot), *(s for update in memory for s in update.reads)]
                    pending += [s for s in read if s.size]
        return slots

    def _merge(self, members: list[int], stage: Stage) -> Block:
        """One block of the schedule out of blocks that call the same function."""
        blocks = [self.blocks[i] for i in members]
        first, rows = blocks[0], merged_rows(blocks)
        for block in blocks:
            block.count_merged_rows()

        def joined(effect: str) -> tuple[Any, ...]:
            return tuple(chain.from_iterable(map(attrgetter(effect), blocks)))

        return Block(
            first.function,
            rows,
            stage,
            joined("reads"),
            joined("writes"),
            joined("adds"),
            first.label,
            joined("owners"),
            first.is_python,
            first.mergeable,
            first.can_be_omitted,
            tuple(members),
        )

    @cached_property
    def sequence(self) -> array[int]:
        """Indices of the blocks in an order in which they can run.

        Raises
        ------
        ModelError
            There is an algebraic loop.
        """
        before = self.predecessors
        successors = list(ShortLists.of_pairs(before.numbers, before.owners, len(before)))
        missing = before.counts.tolist()
        sequence = array("i", [i for i, m in enumerate(missing) if m == 0])
        for i in sequence:  # it grows meanwhile
            for j in successors[i]:
                missing[j] -= 1
                if missing[j] == 0:
                    sequence.append(j)
        if len(sequence) < len(self.blocks):
            raise ModelError.of("", self._loop_text({i for i, m in enumerate(missing) if m > 0}))
        return sequence

    def _loop_text(self, unordered: set[int]) -> str:
        """The message for an algebraic loop among blocks that could not be put in order."""
        path = [min(unordered)]
        while True:
            before = min(j for j in self.predecessors[path[-1]] if j in unordered)
            if before in path:
                path = path[path.index(before) :] + [before]
                break
            path.append(before)
        names = [self._name(i) for i in reversed(path)]
        return (
            f"algebraic loop: {' → '.join(names)}. Each needs the other at the same instant; "
            "break it with a state, a delay, or a measure that is held."
        )

    def _name(self, i: int) -> str:
        """A block in messages."""
        block = self.blocks[i]
        return block.label if not block.owners else f"{block.owners[0]} ({block.label})"

    @cached_property
    def stages(self) -> list[Stage]:
        """The stage of each block."""
        stages = [self._stage_of_reads(block) for block in self.blocks]
        # all that add to one accumulator, and its zeroing, have to run again together
        groups = [self.makers(region) for region in np.flatnonzero(self._adders.counts).tolist()]
        before = list(self.predecessors)
        is_settled = False
        while not is_settled:
            for i in self.sequence:  # whatever is before it in time is before it here: once is enough
                need = stages[i]
                for j in before[i]:
                    if stages[j] > need:
                        need = stages[j]
                stages[i] = need
            is_settled = True
            for members in groups:
                need = max([stages[i] for i in members])
                for i in members:
                    if stages[i] != need:
                        stages[i], is_settled = need, False
        return stages

    def _stage_of_reads(self, block: Block) -> Stage:
        """The stage of a block by its author and by what it reads outside of the cache."""
        stage = block.stage
        for slot in block.reads:
            if slot[0] != "c":
                known_at = STAGES_OF_ARRAYS.get(slot[0]) or self._base_stage(slot)
                if known_at > stage:
                    stage = known_at
        return stage


def merged_rows(blocks: Sequence[Block]) -> NDArray[np.int64]:
    """The rows of blocks of one function, one below the other."""
    if len(blocks) == 1:
        return np.asarray(blocks[0].rows, dtype=np.int64)
    rows = list(chain.from_iterable(map(attrgetter("rows"), blocks)))
    numbers = np.fromiter(chain.from_iterable(rows), dtype=np.int64)  # a third of the time of `np.array`
    return numbers.reshape(len(rows), len(rows[0]) if rows else 0)


def _regions(blocks: Sequence[Block], effect: str, starts: NDArray[np.int64]) -> ShortLists:
    """By block the regions of the cache that it reads, writes or adds to: `effect` says which of the three.

    `starts` are the offsets at which regions start.
    """
    slots_of = [
        [slot for slot in slots if slot[0] == "c" and slot[2]] for slots in map(attrgetter(effect), blocks)
    ]
    counts = np.fromiter(map(len, slots_of), dtype=np.int32, count=len(blocks))
    slots = list(chain.from_iterable(slots_of))
    offsets = np.array([slot[1] for slot in slots], dtype=np.int64)
    ends = offsets + np.array([slot[2] for slot in slots], dtype=np.int64)
    first = np.searchsorted(starts, offsets, side="right") - 1
    spans = np.searchsorted(starts, ends, side="left") - first  # regions that each slot covers: mostly 1
    if not np.any(spans > 1):
        return ShortLists(first, counts)
    owners = np.repeat(np.repeat(np.arange(len(blocks)), counts), spans)
    within = np.arange(spans.sum()) - np.repeat(np.cumsum(spans) - spans, spans)
    return ShortLists(np.repeat(first, spans) + within, np.bincount(owners, minlength=len(blocks)))
