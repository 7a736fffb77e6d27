"""The numbers of a system whose signs change at kinks of its derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cosim.system.blocks import Slot

if TYPE_CHECKING:
    System = Any


def kink_slots(system: System) -> Iterator[Slot]:
    """The slots of these numbers, of the functions that a method evaluates inside its steps."""
    nodes = system.assembly.graph.blocks
    members = [nodes[i] for index in system.inner_blocks for i in system.blocks[index].members]
    inner = {(owner, node.label) for node in members for owner in node.owners}
    for name, part in system.parts.items():
        for kink, function in part.kink_functions.items():
            slot = system.assembly.layout.slots[name].get(kink)
            if slot is not None and (name, function.kink_of) in inner:
                first = int(part.announces_kinks)
                yield slot.part(first, slot.size - first)
