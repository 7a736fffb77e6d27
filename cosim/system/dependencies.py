"""The dependencies of signals at one instant, read from what the blocks of the schedule read and write."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cosim.cause import EventCause
from cosim.system.blocks import TIME, Block, Slot

if TYPE_CHECKING:
    System = Any


class Dependencies:
    """Answers what values in the cache of a system are computed from."""

    def __init__(self, system: System) -> None:
        self._system, self._assembly = system, system.assembly
        self._places: dict[tuple[Slot, bool], set[tuple[str, int]]] = {}

    def places_behind(self, slot: Slot, initially: bool) -> set[tuple[str, int]]:
        """The places of `behind` or `behind_at_start`; cached, since exports ask three times."""
        question = slot, initially
        if question not in self._places:
            self._places[question] = places(self.behind_at_start(slot) if initially else self.behind(slot))
        return self._places[question]

    def behind(self, slot: Slot) -> set[Slot]:
        """The slots outside the cache (variables, the time) that a value is computed from at this instant."""
        return self._assembly.graph.sources(slot)

    def behind_at_start(self, slot: Slot) -> set[Slot]:
        """The slots on which the start value at a slot depends.

        Memories have no past then, so what their updates read counts; and a variable that a handler of the
        0th step may change is computed from what the handlers of its part read.
        """
        sources: set[Slot] = set()
        pending = [slot]
        while pending:
            new_sources = self._assembly.graph.sources(pending.pop(), self._assembly.updates["end"]) - sources
            sources |= new_sources
            for blocks, variables in self._first_handlers:
                if any(source.overlaps(variable) for source in new_sources for variable in variables):
                    pending += [read for block in blocks for read in block.reads if read.size]
        return sources

    @cached_property
    def _first_handlers(self) -> list[tuple[list[Block], list[Slot]]]:
        """Handlers that the 0th step can call, by part, and the variables that they can change."""
        system, first = self._system, (EventCause.INITIALIZATION, EventCause.SCHEDULED)
        by_part: dict[str, list[Block]] = {}
        for (name, handler), block in system.handler_blocks.items():
            if system.parts[name].handlers[handler].cause in first:
                by_part.setdefault(name, []).append(system.blocks[block])
        changed: dict[str, list[Slot]] = {name: [] for name in by_part}
        for variable in system.variables.values():
            part = variable.path.partition(".")[0]
            if part in changed and variable.slot.array in "yd":
                changed[part].append(variable.slot)
        return [(blocks, changed[name]) for name, blocks in by_part.items()]

    def on_inputs(self, slot: Slot) -> set[str]:
        """Paths of the inputs of the system that a value is computed from at the same instant."""
        if slot.array != "c":
            return set()
        layout, behind = self._assembly.layout, self._assembly.graph.regions_behind(slot)
        paths = set()
        for path in self._system.inputs:
            part, _, port = path.partition(".")
            if layout.region_of(layout.slots[part][port].offset) in behind:
                paths.add(path)
        return paths

    def discrete(self) -> set[str]:
        """Discrete variables, and outputs and measures that are computed from these and parameters alone."""
        variables = self._system.variables.values()
        held = {v.path for v in variables if v.kind in ("discrete", "integer")}
        if not held:
            return held
        layout = self._assembly.layout
        free = {i for slot in self._assembly.free_inputs.values() for i in slot.elements}

        def moves(slot: Slot) -> bool:
            """Whether it may change between events: free inputs may, other discrete variables may not."""
            return slot.array not in "pdk" or (slot.array == "d" and not free.isdisjoint(slot.elements))

        moving = self._assembly.graph.followers(outside=moves)
        outputs = [v for v in variables if v.kind in ("output", "measure") and v.slot.array == "c"]
        unmoved_outputs = [v for v in outputs if layout.region_of(v.slot.offset) not in moving]
        return held | {v.path for v in unmoved_outputs if TIME not in self.behind(v.slot)}

    def names(self, slots: Iterable[Slot]) -> set[str]:
        """Paths of the parameters, states and inputs that have a number in one of these slots."""
        slots_by_path = {v.path: v.slot for v in self._system.variables.values() if v.slot.array != "c"}
        slots_by_path |= self._assembly.free_inputs
        elements = places(slots)
        return {path for path, slot in slots_by_path.items() if not elements.isdisjoint(places([slot]))}


def places(slots: Iterable[Slot]) -> set[tuple[str, int]]:
    """Array and offset of each number."""
    return {(slot.array, i) for slot in slots for i in slot.elements}
