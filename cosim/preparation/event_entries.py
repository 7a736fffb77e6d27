"""The declarations of a system about events: handlers, witnesses, signals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cosim.cause import EventCause
from cosim.component.declaration import Declaration
from cosim.component.kernel_function import HandlerFunction
from cosim.preparation.witness_entry import list_witnesses
from cosim.system.alike_parts import parts_of_classes, parts_with
from cosim.system.system import System


@dataclass(frozen=True)
class HandlerEntry:
    """One handler of one part.

    Attributes
    ----------
    number : int
        Its place among all.
    part : str
    handler : HandlerFunction
    block : int
        Of a kernel function: its place in the table, else -1.
    flag : int
        Where in k its signal, where in d its timer lies; index of its witness; else -1.
    """

    number: int
    part: str
    handler: HandlerFunction
    block: int
    flag: int

    @property
    def path(self) -> str:
        return f"{self.part}.{self.handler.name}"

    @property
    def is_private(self) -> bool:
        """Whether it is the component's own book-keeping, which is not reported."""
        return self.handler.name.startswith("_")


class EventEntries:
    """The declarations of a system about events.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    entries : list of HandlerEntry
        In order of parts, then of declaration.
    in_steps : list of HandlerEntry
        Those that a step may have to serve.
    witnesses : list of Witness
    signals : list of int
        Offsets in k.
    scheduled : list of HandlerEntry
        Those of cause Scheduled.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.witnesses = list_witnesses(system)
        self.entries = self._list_entries()
        slots = system.assembly.layout.slots
        self.signals = [
            slots[name][signal].offset
            for name, _, signals in parts_with(system.alike, _signals)
            for signal in signals
        ]
        self.scheduled = [e for e in self.entries if e.handler.cause is EventCause.SCHEDULED]
        outside_steps = (EventCause.INITIALIZATION, EventCause.TERMINATION)
        self.in_steps = [e for e in self.entries if e.handler.cause not in outside_steps]

    def _list_entries(self) -> list[HandlerEntry]:
        """All handlers, with the block, and the witness, signal or timer that calls each."""
        slots = self.system.assembly.layout.slots
        places = {witness.path: i for i, witness in enumerate(self.witnesses)}
        entries: list[HandlerEntry] = []
        for name, part in parts_of_classes(self.system.parts, lambda cls: cls.handlers):
            for handler in part.handlers.values():
                flag = -1
                if handler.witness is not None:
                    flag = places.get(f"{name}.{handler.witness.name}", -1)
                elif handler.signal or handler.timer:
                    flag = slots[name][handler.signal or handler.timer].offset
                block = self.system.handler_blocks.get((name, handler.name), -1)
                entries.append(HandlerEntry(len(entries), name, handler, block, flag))
        return entries


def _signals(declarations: Mapping[str, Declaration]) -> list[str]:
    return [d.name for d in declarations.values() if d.kind == "signal"]
