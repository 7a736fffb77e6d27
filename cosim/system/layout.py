"""Layout: where each quantity of a part lies in the arrays of a system."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat

import numpy as np

from cosim.component.declaration import Declaration
from cosim.system.blocks import Slot

STATE_KINDS = ("position", "speed", "auxiliary")
"""Kinds of declarations whose values are states, in the order of Y = [q | u | z]."""
ARRAYS = "ypdkhc"
"""Arrays of states, parameters, discrete variables, integers, histories, and the cache."""


@dataclass
class Layout:
    """Offsets in all arrays, by part and name.

    A region is one allocation in the cache; errors and dependencies name it.

    Attributes
    ----------
    nq, nu, nz : int
        Numbers of positions, speeds and auxiliary states.
    sizes : dict of str to int
        Length of each array so far.
    slots : dict of str to dict of str to Slot
        By part, then by declared name; derivatives are under ``<name>_dot``.
    regions : array of int
        Offsets of the regions, rising.
    """

    nq: int = 0
    nu: int = 0
    nz: int = 0
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ARRAYS, 0))
    slots: dict[str, dict[str, Slot]] = field(default_factory=dict)
    regions: array[int] = field(default_factory=partial(array, "q"))
    _names: list[str] = field(default_factory=list)
    _owners: list[str] = field(default_factory=list)

    def allocate(self, array: str, size: int, name: str = "", owner: str = "") -> Slot:
        """A new stretch at the end of an array; messages name it and the part that owns it."""
        slot = Slot(array, self.sizes[array], size)
        self.sizes[array] += size
        if array == "c" and size:
            self.regions.append(slot.offset)
            self._names.append(name)
            self._owners.append(owner)
        return slot

    def allocate_each(self, array: str, size: int, name: str, owners: Sequence[str]) -> list[Slot]:
        """Allocate one stretch for each owner, one behind the other."""
        start, count = self.sizes[array], len(owners)
        self.sizes[array] = start + count * size
        starts = range(start, start + count * size, size) if size else repeat(start, count)
        stretches = zip(repeat(array), starts, repeat(size))
        slots = [*map(tuple.__new__, repeat(Slot), stretches)]  # a fifth of the time of calls of `Slot`
        if array == "c" and size:
            self.regions.extend(range(start, start + count * size, size))
            self._names += [name] * count
            self._owners += owners
        return slots

    def region_of(self, offset: int) -> int:
        """The number of the region that holds an offset of the cache."""
        return bisect.bisect_right(self.regions, offset) - 1

    def first_regions(self, slots: Iterable[Slot]) -> list[int]:
        """The number of the region in which each of these slots of the cache begins."""
        offsets = [slot.offset for slot in slots]
        regions: list[int] = (np.searchsorted(self.regions, offsets, side="right") - 1).tolist()
        return regions

    def regions_of(self, slots: Iterable[Slot]) -> list[int]:
        """The regions of the cache in which these slots lie; empty slots have none, long ones several."""
        region_starts, bisect_right, count = self.regions, bisect.bisect_right, len(self.regions)
        regions = []
        for array_name, offset, size in slots:
            if array_name == "c" and size:
                region = bisect_right(region_starts, offset) - 1
                regions.append(region)
                while region + 1 < count and region_starts[region + 1] < offset + size:
                    region += 1
                    regions.append(region)
        return regions

    def region_name(self, region: int) -> str:
        """The name of a region, for messages."""
        owner = self._owners[region]
        return f"{owner}.{self._names[region]}" if owner else self._names[region]

    def allocate_states(self, parts: Iterable[tuple[str, dict[str, Declaration]]]) -> None:
        """Allocate Y = [q | u | z] and, at the same offsets of the cache, its derivatives."""
        listed = list(parts)
        self.slots = {part: {} for part, _ in listed}
        states_of: dict[int, list[Declaration]] = {}  # by the id of the mapping, which parts of a class share
        for _, declarations in listed:
            if id(declarations) not in states_of:
                states_of[id(declarations)] = [d for d in declarations.values() if d.kind in STATE_KINDS]
        moving = [(part, states) for part, declarations in listed if (states := states_of[id(declarations)])]
        counts = []
        for kind in STATE_KINDS:
            before = self.sizes["y"]
            for part, states in moving:
                for declaration in states:
                    if declaration.kind == kind:
                        self._allocate_state(part, declaration.name, declaration.size)
            counts.append(self.sizes["y"] - before)
        self.nq, self.nu, self.nz = counts

    def _allocate_state(self, part: str, name: str, size: int) -> None:
        """Allocate a state of a part, and its derivative."""
        slots = self.slots[part]
        slots[name] = self.allocate("y", size)
        slots[f"{name}_dot"] = self.allocate("c", size, f"{name}_dot", part)
