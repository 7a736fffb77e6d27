"""The schedule: which blocks run at which stage, in which order.

A *node* is one row of one kernel function. Its stage is the highest stage of what it reads; its depth
is its place in the dependency graph inside that stage. Nodes of one function at one stage and depth
become one *block*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.errors import ModelError
from cosim.stage import Stage


class Slot(NamedTuple):
    """A stretch of one of the State's arrays.

    Attributes
    ----------
    array : str
        "y", "p", "d", "k", "h" or "c".
    offset, size : int
    """

    array: str
    offset: int
    size: int

    def part(self, index: int, size: int = 1) -> Slot:
        """A stretch inside this one."""
        return Slot(self.array, self.offset + index, size)

    @property
    def elements(self) -> range:
        """The offsets of its elements."""
        return range(self.offset, self.offset + self.size)

    def overlaps(self, other: Slot) -> bool:
        """Whether the two have an element in common."""
        if self.array != other.array:
            return False
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


Flows = tuple[tuple[Slot, tuple[Slot, ...]], ...]
TIME = Slot("t", 0, 1)
"""The time among what something is computed from."""


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """A function and the rows that it is called for.

    Attributes
    ----------
    function : function
        Has the signature of a block: ``(t, y, p, d, k, h, c, ints, first, count)``.
    rows : ndarray of int64, shape (count, width)
        What `ints` holds from `first` on.
    stage : Stage
        The earliest; what it reads may make it later.
    reads, writes, adds : tuple of Slot
        What its place in the order follows from.
    label : str
        For messages: "dynamics.sval: acceleration".
    owners : tuple of str
        Paths of the components, one for each row where there is one for each.
    is_python : bool
        Whether the function is plain Python that compiled code calls back.
    mergeable : bool
        Whether its rows are called one after the other, whatever stands beside them.
    members : tuple of int
        Of a block of the schedule: the nodes of the graph that it was made from, in the order of its rows.
    tells_flows : callable or None
        Gives, for a block, what elements of its results are computed from, where more may be known than that
        it is what the block reads.
    """

    function: Callable[..., None]
    rows: NDArray[np.int64]
    stage: Stage
    reads: tuple[Slot, ...] = ()
    writes: tuple[Slot, ...] = ()
    adds: tuple[Slot, ...] = ()
    label: str = ""
    owners: tuple[str, ...] = ()
    is_python: bool = False
    mergeable: bool = False
    members: tuple[int, ...] = ()
    tells_flows: Callable[[Block], Flows] | None = None

    def flows(self) -> Flows:
        """What elements of its results are computed from, the time is `TIME`; empty where that is not known.

        It is found out each time: most blocks are never asked.
        """
        return () if self.tells_flows is None else self.tells_flows(self)

    def give_up_rows(self) -> None:
        """Keep how many rows there are: those themselves stand in the block that this one was merged into."""
        object.__setattr__(self, "rows", _without_numbers(self.rows.shape[0]))


@cache
def _without_numbers(count: int) -> NDArray[np.int64]:
    """Rows of no width."""
    return np.zeros((count, 0), dtype=np.int64)


def behind(block: Block, flows: Flows, slot: Slot) -> tuple[Slot, ...]:
    """What a block computes that from, of its results; `flows` are its own."""
    if not flows:
        return block.reads
    return tuple(s for result, sources in flows if result.overlaps(slot) for s in sources)


def element_by_element(block: Block) -> Flows:
    """The flows of a block all of whose results and sources go side by side, where they have one length."""
    size, reads = block.writes[0].size, block.reads
    if any(slot.size != size for slot in (*reads, *block.writes)):
        return ()
    return tuple((w.part(i), tuple(r.part(i) for r in reads)) for w in block.writes for i in range(size))


@dataclass
class Graph:
    """Dependencies between blocks, through the regions of the cache.

    Parameters
    ----------
    blocks : sequence of Block
        In order of declaration, which decides wherever the dependencies do not.
    region_of, regions_of : callable
        From a cache offset to the index of the allocation that it lies in; from slots to those in the cache.
    base_stage : callable
        Stage at which a slot outside the cache becomes known.
    """

    blocks: Sequence[Block]
    region_of: Callable[[int], int]
    regions_of: Callable[[Iterable[Slot]], list[int]]
    base_stage: Callable[[Slot], Stage]
    predecessors: list[tuple[int, ...]] = field(default_factory=list)
    adders: dict[int, list[int]] = field(default_factory=dict)
    writers: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for i, block in enumerate(self.blocks):
            for region in self.regions_of(block.writes):
                self.writers[region] = i
            for region in self.regions_of(block.adds):
                self.adders.setdefault(region, []).append(i)
        for i, block in enumerate(self.blocks):
            before: set[int] = set()
            for region in self.regions_of(block.reads):
                if region in self.writers:
                    before.add(self.writers[region])
                if region in self.adders:
                    before.update(self.adders[region])
            before.update(
                self.writers[region] for region in self.regions_of(block.adds) if region in self.writers
            )
            if not block.owners:
                before.discard(i)  # a solver reads what it has written itself
            self.predecessors.append(tuple(before))

    def order(self) -> list[list[Block]]:
        """For each stage the merged blocks in order.

        Raises
        ------
        ModelError
            A loop; its path is listed.
        """
        stages, depth = self.stages, [0] * len(self.blocks)
        for i in self.sequence:
            for j in self.predecessors[i]:
                if stages[j] == stages[i] and depth[j] >= depth[i]:
                    depth[i] = depth[j] + 1
        result: list[list[Block]] = [[] for _ in Stage]
        groups: dict[tuple[Any, ...], list[int]] = {}
        for i, block in enumerate(self.blocks):
            key = (stages[i], depth[i], id(block.function) if block.mergeable else -1 - i)
            groups.setdefault(key, []).append(i)
        for (stage, _, _), members in sorted(groups.items(), key=lambda g: (g[0][0], g[0][1], g[1][0])):
            result[stage].append(self._merge(members, stage))
        return result

    def stage_of_region(self, regions: int) -> list[Stage]:
        """The stage at which each region of the cache is complete; MODEL where nothing computes it."""
        stages = self.stages
        found = [Stage.MODEL] * regions
        for region, i in self.writers.items():
            found[region] = stages[i]
        for region, adders in self.adders.items():
            before = [found[region]] if region in self.writers else []
            found[region] = max([stages[i] for i in adders] + before)
        return found

    def regions_behind(self, stop: Slot) -> set[int]:
        """Regions of the cache that the value at `stop` depends on at the same instant, its own as well."""
        region = self.region_of(stop.offset)
        found, seen = {region}, set()
        pending = [self.writers[region]] if region in self.writers else []
        pending += self.adders.get(region, [])
        while pending:
            i = pending.pop()
            if i not in seen:
                seen.add(i)
                found.update(self.regions_of(self.blocks[i].reads))
                pending += self.predecessors[i]
        return found

    def followers(self, starts: Sequence[Slot]) -> set[int]:
        """Regions of the cache that depend on one of these slots at the same instant, their own as well."""
        found = set(self.regions_of(starts))
        follows = [False] * len(self.blocks)
        for i in self.sequence if found else ():
            block = self.blocks[i]
            follows[i] = any(follows[j] for j in self.predecessors[i]) or any(
                region in found for region in self.regions_of(block.reads)
            )
            if follows[i]:
                found.update(self.regions_of((*block.writes, *block.adds)))
        return found

    def sources(self, stop: Slot, updates: Sequence[Block] = ()) -> set[Slot]:
        """Slots outside the cache that the value at `stop` is computed from.

        Parameters
        ----------
        stop : Slot
        updates : sequence of Block
            Blocks that renew memories. What one of them reads counts where a block of the same owner is
            on the way: at the initialization a memory is filled with present values.
        """
        memories: dict[str, list[Block]] = {}
        for update in updates:
            for owner in set(update.owners):
                memories.setdefault(owner, []).append(update)
        found: set[Slot] = set()
        pending: list[Slot] = [stop]
        seen: set[tuple[int, Slot]] = set()
        flows: dict[int, Flows] = {}
        while pending:
            slot = pending.pop()
            if slot.array != "c":
                found.add(slot)
                continue
            region = self.region_of(slot.offset)
            makers = [self.writers[region]] if region in self.writers else []
            for i in (*makers, *self.adders.get(region, ())):
                block = self.blocks[i]
                if i not in flows:
                    flows[i] = block.flows()
                key = i, slot if flows[i] else stop  # what does not tell its results apart is seen once
                if key not in seen:
                    seen.add(key)
                    memory = [u for owner in set(block.owners) for u in memories.get(owner, ())]
                    read = [*behind(block, flows[i], slot), *(s for update in memory for s in update.reads)]
                    pending += [s for s in read if s.size]
        return found

    def _merge(self, members: list[int], stage: Stage) -> Block:
        blocks = [self.blocks[i] for i in members]
        first, rows = blocks[0], np.concatenate([b.rows for b in blocks])
        for block in blocks:
            block.give_up_rows()
        return Block(
            first.function,
            rows,
            stage,
            tuple(s for b in blocks for s in b.reads),
            tuple(s for b in blocks for s in b.writes),
            tuple(s for b in blocks for s in b.adds),
            first.label,
            tuple(o for b in blocks for o in b.owners),
            first.is_python,
            first.mergeable,
            tuple(members),
        )

    @cached_property
    def sequence(self) -> list[int]:
        """Indices of the blocks in an order in which they can run; `ModelError` for a loop."""
        successors: list[list[int]] = [[] for _ in self.blocks]
        missing = [len(p) for p in self.predecessors]
        for i, before in enumerate(self.predecessors):
            for j in before:
                successors[j].append(i)
        sequence = [i for i, m in enumerate(missing) if m == 0]
        for i in sequence:  # it grows meanwhile
            for j in successors[i]:
                missing[j] -= 1
                if missing[j] == 0:
                    sequence.append(j)
        if len(sequence) < len(self.blocks):
            raise ModelError.of("", self._loop_text({i for i, m in enumerate(missing) if m > 0}))
        return sequence

    def _loop_text(self, left: set[int]) -> str:
        path = [min(left)]
        while True:
            before = min(j for j in self.predecessors[path[-1]] if j in left)
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
        block = self.blocks[i]
        return block.label if not block.owners else f"{block.owners[0]} ({block.label})"

    @cached_property
    def stages(self) -> list[Stage]:
        """The stage of each block."""
        stages = [
            max([block.stage, *(self.base_stage(slot) for slot in block.reads if slot.array != "c")])
            for block in self.blocks
        ]
        changed = True
        while changed:
            changed = False
            for i in self.sequence:
                for j in self.predecessors[i]:
                    if stages[j] > stages[i]:
                        stages[i], changed = stages[j], True
            # all that add to one accumulator, and its zeroing, have to run again together
            for region, adders in self.adders.items():
                members = adders + ([self.writers[region]] if region in self.writers else [])
                need = max(stages[i] for i in members)
                for i in members:
                    if stages[i] != need:
                        stages[i], changed = need, True
        return stages
