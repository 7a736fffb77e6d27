"""The schedule: which blocks run at which stage, in which order.

A *node* is one row of one kernel function. Its stage is the highest stage of what it reads; its depth
is its place in the dependency graph inside that stage. Nodes of one function at one stage and depth
become one *block*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import ModelError
from cosim.stage import Stage


@dataclass(frozen=True)
class Slot:
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

    def overlaps(self, other: Slot) -> bool:
        """Whether the two have an element in common."""
        if self.array != other.array:
            return False
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@dataclass(frozen=True, eq=False)
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


@dataclass
class Graph:
    """Dependencies between blocks, through the regions of the cache.

    Parameters
    ----------
    blocks : sequence of Block
        In order of declaration, which decides wherever the dependencies do not.
    region_of : callable
        From a cache offset to the index of the allocation that it lies in.
    base_stage : callable
        Stage at which a slot outside the cache becomes known.
    """

    blocks: Sequence[Block]
    region_of: Callable[[int], int]
    base_stage: Callable[[Slot], Stage]
    predecessors: list[set[int]] = field(default_factory=list)
    adders: dict[int, list[int]] = field(default_factory=dict)
    writers: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for i, block in enumerate(self.blocks):
            for slot in block.writes:
                if slot.array == "c" and slot.size:
                    self.writers[self.region_of(slot.offset)] = i
            for slot in block.adds:
                if not slot.size:
                    continue
                self.adders.setdefault(self.region_of(slot.offset), []).append(i)
        for i, block in enumerate(self.blocks):
            before: set[int] = set()
            for slot in (*block.reads, *block.adds):
                if slot.array != "c" or not slot.size:
                    continue
                region = self.region_of(slot.offset)
                if region in self.writers:
                    before.add(self.writers[region])
                if slot in block.reads:
                    before.update(self.adders.get(region, ()))
            if not block.owners:
                before.discard(i)  # a solver reads what it has written itself
            self.predecessors.append(before)

    def order(self) -> list[list[Block]]:
        """For each stage the merged blocks in order.

        Raises
        ------
        ModelError
            A loop; its path is listed.
        """
        sequence = self.sequence()
        stages = self._stages(sequence)
        depth = [0] * len(self.blocks)
        for i in sequence:
            for j in self.predecessors[i]:
                if stages[j] == stages[i]:
                    depth[i] = max(depth[i], depth[j] + 1)
        result: list[list[Block]] = [[] for _ in Stage]
        groups: dict[tuple[Any, ...], list[int]] = {}
        for i in range(len(self.blocks)):
            block = self.blocks[i]
            key = (stages[i], depth[i], id(block.function) if block.mergeable else -1 - i)
            groups.setdefault(key, []).append(i)
        for (stage, _, _), members in sorted(groups.items(), key=lambda g: (g[0][0], g[0][1], g[1][0])):
            result[stage].append(self._merge(members, stage))
        return result

    def stage_of_region(self) -> dict[int, Stage]:
        """The stage at which each region of the cache is complete."""
        stages = self._stages(self.sequence())
        found = {region: stages[i] for region, i in self.writers.items()}
        for region, adders in self.adders.items():
            found[region] = Stage(max([stages[i] for i in adders] + [found.get(region, Stage.EMPTY)]))
        return found

    def reaches(self, start: Slot, stop: Slot) -> bool:
        """Whether the value at `stop` depends on `start` at the same instant."""
        targets = {self.region_of(start.offset)}
        region = self.region_of(stop.offset)
        pending = [self.writers[region]] if region in self.writers else []
        pending += self.adders.get(region, [])
        seen: set[int] = set()
        if region in targets:
            return True
        while pending:
            i = pending.pop()
            if i in seen:
                continue
            seen.add(i)
            if any(s.array == "c" and self.region_of(s.offset) in targets for s in self.blocks[i].reads):
                return True
            pending += self.predecessors[i]
        return False

    def sources(self, stop: Slot, updates: Sequence[Block] = ()) -> set[Slot]:
        """Slots outside the cache that the value at `stop` is computed from.

        Parameters
        ----------
        stop : Slot
        updates : sequence of Block
            Blocks that renew memories. What one of them reads counts where a block of the same owner is
            on the way: at the initialization a memory is filled with present values.
        """
        found: set[Slot] = set()
        pending, seen = [stop], set()
        while pending:
            slot = pending.pop()
            if slot.array != "c":
                found.add(slot)
                continue
            region = self.region_of(slot.offset)
            behind = [self.writers[region]] if region in self.writers else []
            for i in (*behind, *self.adders.get(region, ())):
                if i not in seen:
                    seen.add(i)
                    block = self.blocks[i]
                    memory = [u for u in updates if set(u.owners) & set(block.owners)]
                    pending += [s for b in (block, *memory) for s in b.reads if s.size]
        return found

    def _merge(self, members: list[int], stage: Stage) -> Block:
        blocks = [self.blocks[i] for i in members]
        first = blocks[0]
        return Block(
            first.function,
            np.concatenate([b.rows for b in blocks]),
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

    def sequence(self) -> list[int]:
        """Indices of the blocks in an order in which they can run; `ModelError` for a loop."""
        successors: Mapping[int, list[int]] = {i: [] for i in range(len(self.blocks))}
        missing = [len(p) for p in self.predecessors]
        for i, before in enumerate(self.predecessors):
            for j in before:
                successors[j].append(i)
        ready = [i for i, m in enumerate(missing) if m == 0]
        sequence: list[int] = []
        while ready:
            i = ready.pop(0)
            sequence.append(i)
            for j in successors[i]:
                missing[j] -= 1
                if missing[j] == 0:
                    ready.append(j)
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

    def _stages(self, sequence: Sequence[int]) -> list[Stage]:
        stages = [
            max([b.stage] + [self.base_stage(s) for s in b.reads if s.array != "c"]) for b in self.blocks
        ]
        changed = True
        while changed:
            changed = False
            for i in sequence:
                need = max([stages[i]] + [stages[j] for j in self.predecessors[i]])
                if need != stages[i]:
                    stages[i], changed = need, True
            # all that add to one accumulator, and its zeroing, have to run again together
            for region, adders in self.adders.items():
                members = adders + ([self.writers[region]] if region in self.writers else [])
                need = max(stages[i] for i in members)
                for i in members:
                    if stages[i] != need:
                        stages[i], changed = need, True
        return stages
