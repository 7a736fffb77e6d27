"""The simulator's own section of a State: which events are pending and when periodic ones come next."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosim.cause import EventCause
from cosim.component.kernel_function import DIRECTIONS, Handler
from cosim.errors import SimulationError
from cosim.system.state import State
from cosim.system.system import System

INITIALIZED, UPDATES_DONE, TIME_ADVANCED, FINISHED, TIME_BITS, FIRST = 0, 1, 2, 3, 4, 5
UNRESTRICTED, DISCRETE, BOTH = 1, 2, 3  # kinds of updates that TIME_ADVANCED has in store


@dataclass(frozen=True)
class Entry:
    """One handler of one part.

    Attributes
    ----------
    index : int
        Its integer in the agenda: index of the next time, or whether it is pending.
    part : str
    handler : Handler
    block : int
        Of a kernel function: its place in the table, else -1.
    """

    index: int
    part: str
    handler: Handler
    block: int

    @property
    def path(self) -> str:
        return f"{self.part}.{self.handler.name}"


@dataclass(frozen=True)
class Witness:
    """A witness of one part: where its value is, and which way it has to cross zero."""

    path: str
    offset: int
    falling: bool
    rising: bool

    def triggers(self, before: float, after: float) -> bool:
        """Whether going from one value to another is an event; leaving zero never is, NaN is no value."""
        return (self.falling and before > 0.0 and after <= 0.0) or (
            self.rising and before < 0.0 and after >= 0.0
        )


class Agenda:
    """What a system declares about events, and the integers in a State that belong to it.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    entries : list of Entry
        In order of parts, then of declaration.
    witnesses : list of Witness
    signals : list of int
        Offsets in k.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.entries: list[Entry] = []
        self.witnesses: list[Witness] = []
        slots = system._assembly.layout.slots
        self.signals = []
        for name, part in system.parts.items():
            for handler in part.handlers.values():
                block = system.handler_blocks.get((name, handler.name), -1)
                self.entries.append(Entry(FIRST + len(self.entries), name, handler, block))
            for kernel in part.kernels.values():
                if kernel.role == "witness" and (name, kernel.name) in slots:
                    falling, rising = DIRECTIONS[kernel.direction]
                    self.witnesses.append(
                        Witness(f"{name}.{kernel.name}", slots[name, kernel.name].offset, falling, rising)
                    )
            self.signals += [
                slots[name, d.name].offset for d in part.declarations.values() if d.kind == "signal"
            ]
        self._grids: dict[int, tuple[float, float]] = {}
        self.scheduled = [e for e in self.entries if e.handler.cause is EventCause.SCHEDULED]

    def start(self, state: State) -> None:
        """A fresh agenda for a State at its present time; what was pending when it was stopped stays so."""
        old = state.agenda
        state.agenda = np.zeros(FIRST + len(self.entries), dtype=np.int64)
        if old.size == state.agenda.size and not old[INITIALIZED] and self._time(old) == state.time:
            for entry in self.entries:
                if entry.handler.cause is EventCause.TRIGGERED:
                    state.agenda[entry.index] = old[entry.index]
        self._grids.clear()
        for entry in self.scheduled:
            state.agenda[entry.index] = self._first_index(state, entry, state.time)
        self.stamp(state)

    def stop(self, state: State) -> None:
        """Ask for a new start before the next step."""
        if state.agenda.size:
            state.agenda[INITIALIZED] = 0

    def follow_parameters(self, state: State) -> None:
        """Where a parameter that is a period or an offset has changed, go on on the new grid."""
        for entry in self.scheduled:
            handler = entry.handler
            if not isinstance(handler.period, str) and not isinstance(handler.offset, str):
                continue
            grid = (
                self._number(state, entry, handler.period),
                self._number(state, entry, handler.offset),
            )
            if self._grids.setdefault(entry.index, grid) != grid:
                self._grids[entry.index] = grid
                index = self._first_index(state, entry, state.time)
                state.agenda[entry.index] = index + (self.time_of(state, entry, index) <= state.time)

    def is_started(self, state: State) -> bool:
        """Whether the State was initialized (possibly in another process)."""
        return state.agenda.size == FIRST + len(self.entries) and bool(state.agenda[INITIALIZED])

    def stamp(self, state: State) -> None:
        """Note the time, to see whether somebody changes it."""
        state.agenda[TIME_BITS] = struct.unpack("<q", struct.pack("<d", state.time))[0]

    def stamped_time(self, state: State) -> float:
        """The time at the last `stamp`."""
        return self._time(state.agenda)

    @staticmethod
    def _time(agenda: np.ndarray[Any, Any]) -> float:
        time: float = struct.unpack("<d", struct.pack("<q", int(agenda[TIME_BITS])))[0]
        return time

    def time_of(self, state: State, entry: Entry, index: int) -> float:
        """Time of the `index`-th occurrence; never an accumulated sum."""
        handler = entry.handler
        if handler.times:
            return handler.times[index] if index < len(handler.times) else math.inf
        period, offset = (
            self._number(state, entry, handler.period),
            self._number(state, entry, handler.offset),
        )
        if not period > 0.0:
            raise SimulationError(
                state.time,
                f"{entry.path}: its period is {period} s, needs more than 0; for every step: TIME_ADVANCED",
            )
        return offset + index * period

    def next_time(self, state: State, entry: Entry) -> float:
        """When a scheduled event comes next."""
        return self.time_of(state, entry, int(state.agenda[entry.index]))

    def _first_index(self, state: State, entry: Entry, time: float) -> int:
        index = 0
        if not entry.handler.times:
            first, second = self.time_of(state, entry, 0), self.time_of(state, entry, 1)
            index = max(0, math.ceil((time - first) / (second - first)) - 1) if time > first else 0
        while self.time_of(state, entry, index) < time:
            index += 1
        return index

    @staticmethod
    def _number(state: State, entry: Entry, value: float | str) -> float:
        return float(state[f"{entry.part}.{value}"]) if isinstance(value, str) else value
