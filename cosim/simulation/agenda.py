"""The simulator's own section of a State: which events are pending and when scheduled ones come next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.cause import EventCause
from cosim.component.kernel_function import Handler
from cosim.errors import SimulationError
from cosim.simulation.witness import list_witnesses
from cosim.system.state import State
from cosim.system.system import System

INITIALIZED, UPDATES_DONE, TIME_ADVANCED, FINISHED, STAMP, FIRST = 0, 1, 2, 3, 4, 5
UNRESTRICTED, DISCRETE, BOTH = 1, 2, 3  # kinds of updates that TIME_ADVANCED has in store
# of the memory of a witness
VALUE, LEVEL, GUARD, FIRED, REPEATS, RATE, EXPECTED, DOUBT, COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7, 8


@dataclass(frozen=True)
class Entry:
    """One handler of one part.

    Attributes
    ----------
    index : int
        Its place in the agenda: index of the next time, time that a timer was served last, or
        whether it is pending.
    part : str
    handler : Handler
    block : int
        Of a kernel function: its place in the table, else -1.
    flag : int
        Where in k its signal, where in d its timer lies; index of its witness; else -1.
    """

    index: int
    part: str
    handler: Handler
    block: int
    flag: int

    @property
    def path(self) -> str:
        return f"{self.part}.{self.handler.name}"

    @property
    def is_private(self) -> bool:
        """Whether it is the component's own book-keeping, which nobody is told about."""
        return self.handler.name.startswith("_")


class Agenda:
    """What a system declares about events, and the integers in a State that belong to it.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    entries : list of Entry
        In order of parts, then of declaration.
    in_steps : list of Entry
        Those that a step may have to serve.
    witnesses : list of Witness
    signals : list of int
        Offsets in k.
    scheduled, following : list of Entry
        Those of cause Scheduled; of these the ones whose period or offset is a parameter.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.witnesses = list_witnesses(system)
        self.entries = self._list_entries()
        slots = system._assembly.layout.slots
        self.signals = [
            slots[name, d.name].offset
            for name, part in system.parts.items()
            for d in part.declarations.values()
            if d.kind == "signal"
        ]
        self.scheduled = [e for e in self.entries if e.handler.cause is EventCause.SCHEDULED]
        self.following = [
            e for e in self.scheduled if str in (type(e.handler.period), type(e.handler.offset))
        ]
        outside_steps = (EventCause.INITIALIZATION, EventCause.TERMINATION)
        self.in_steps = [e for e in self.entries if e.handler.cause not in outside_steps]
        self._grids_at = FIRST + len(self.entries)
        self._witnesses_at = self._grids_at + 2 * len(self.following)
        self._size = self._witnesses_at + COLUMNS * len(self.witnesses)

    def _list_entries(self) -> list[Entry]:
        slots = self.system._assembly.layout.slots
        places = {witness.path: i for i, witness in enumerate(self.witnesses)}
        entries: list[Entry] = []
        for name, part in self.system.parts.items():
            for handler in part.handlers.values():
                flag = -1
                if handler.witness is not None:
                    flag = places.get(f"{name}.{handler.witness.name}", -1)
                elif handler.signal or handler.timer:
                    flag = slots[name, handler.signal or handler.timer].offset
                block = self.system.handler_blocks.get((name, handler.name), -1)
                entries.append(Entry(FIRST + len(entries), name, handler, block, flag))
        return entries

    # the section in a State

    def start(self, state: State) -> None:
        """A fresh agenda for a State at its present time; what was pending when it was stopped stays so."""
        old = state.agenda
        state.agenda = np.zeros(self._size, dtype=np.int64)
        if (
            old.size >= self._size
            and not old[INITIALIZED]
            and old[STAMP : STAMP + 1].view(float) == state.time
        ):
            for entry in self.entries:
                if entry.handler.cause is EventCause.TRIGGERED:
                    state.agenda[entry.index] = old[entry.index]
        self.memory(state)[:, FIRED] = -math.inf
        self.memory(state)[:, EXPECTED] = math.inf
        for entry in self.scheduled:
            if entry.handler.timer:
                missed = self._timer(state, entry) < state.time
                self._set_served(state, entry, self._timer(state, entry) if missed else -math.inf)
        self.schedule_periods(state, self.scheduled)
        self.stamp(state)

    def schedule_periods(self, state: State, entries: list[Entry]) -> None:
        """At the start of a run: periodic and listed events begin with the first that is not past."""
        for entry in entries:
            if not entry.handler.timer:
                state.agenda[entry.index] = self._first_index(state, entry, state.time)
        self.grids(state)[:] = np.reshape(self._present_grids(state), (-1, 2))

    def stop(self, state: State) -> None:
        """Ask for a new start before the next step."""
        if state.agenda.size:
            state.agenda[INITIALIZED] = 0

    def is_started(self, state: State) -> bool:
        """Whether the State was initialized (possibly in another process)."""
        return state.agenda.size >= self._size and bool(state.agenda[INITIALIZED])

    def stamp(self, state: State) -> None:
        """Note the time, to see whether somebody changes it."""
        state.agenda[STAMP : STAMP + 1].view(np.float64)[0] = state.time

    def stamped_time(self, state: State) -> float:
        """The time at the last `stamp`."""
        return float(state.agenda[STAMP : STAMP + 1].view(np.float64)[0])

    def memory(self, state: State) -> NDArray[np.float64]:
        """What is kept of each witness from one step to the next, shape (witnesses, COLUMNS)."""
        section: Any = state.agenda[self._witnesses_at : self._size].view(np.float64)
        return section.reshape(-1, COLUMNS)

    def grids(self, state: State) -> NDArray[np.float64]:
        """Period and offset for which the indices of `following` count, s, shape (following, 2)."""
        section: Any = state.agenda[self._grids_at : self._witnesses_at].view(np.float64)
        return section.reshape(-1, 2)

    def holds(self, state: State) -> NDArray[np.float64]:
        """The numbers that say which witnesses are held."""
        section: NDArray[np.float64] = state.agenda[self._size :].view(np.float64)
        return section

    def set_holds(self, state: State, numbers: NDArray[np.float64]) -> None:
        """Write down which witnesses are held."""
        state.agenda = np.concatenate([state.agenda[: self._size], numbers.view(np.int64)])

    # scheduled events

    def next_event_time(self, state: State) -> float:
        """When the next scheduled event comes, s."""
        return min((self.next_time(state, entry) for entry in self.scheduled), default=math.inf)

    def next_time(self, state: State, entry: Entry) -> float:
        """When a scheduled event comes next, s; infinite when it does not."""
        if entry.handler.timer:
            time = self._timer(state, entry)
            return math.inf if time == self._served(state, entry) else time
        return self.time_of(state, entry, int(state.agenda[entry.index]))

    def timers(self, state: State, due: Mapping[EventCause, list[Entry]]) -> dict[int, float]:
        """The times that stand on the timers of the handlers that are due, by their place in the agenda."""
        entries = due.get(EventCause.SCHEDULED, ())
        return {e.index: self._timer(state, e) for e in entries if e.handler.timer}

    def serve(self, state: State, entry: Entry, timers: Mapping[int, float]) -> None:
        """A scheduled event was handled: on to the next one."""
        if entry.handler.timer:
            self._set_served(state, entry, timers[entry.index])
            return
        state.agenda[entry.index] += 1
        if self.next_time(state, entry) <= state.time:
            state.agenda[entry.index] = self._later_index(state, entry)

    def check_timers(self, state: State) -> None:
        """Refuse timers that were set to the past, which nobody can reach any more."""
        for entry in self.scheduled:
            if entry.handler.timer:
                time = self._timer(state, entry)
                if math.isnan(time) or (time < state.time and time != self._served(state, entry)):
                    raise SimulationError(
                        state.time,
                        f"{entry.part}.{entry.handler.timer}: the next time is {time:.9g} s, needs one that "
                        "is not past, or math.inf for never",
                    )

    def follow_parameters(self, state: State) -> None:
        """Where a parameter that is a period or an offset has changed, go on on the new grid.

        What was due already stays due.
        """
        if not self.following:
            return
        grids = self.grids(state)
        for entry, known, grid in zip(self.following, grids, self._present_grids(state), strict=True):
            if (known[0], known[1]) != grid:
                index = int(state.agenda[entry.index])
                was_due = known[1] + index * known[0] <= state.time
                state.agenda[entry.index] = max(0, self._later_index(state, entry) - was_due)
                known[:] = grid

    def _present_grids(self, state: State) -> list[tuple[float, float]]:
        def number(entry: Entry, value: float | str) -> float:
            return self._number(state, entry, value)

        return [(number(e, e.handler.period), number(e, e.handler.offset)) for e in self.following]

    def time_of(self, state: State, entry: Entry, index: int) -> float:
        """Time of the `index`-th occurrence; never an accumulated sum."""
        handler = entry.handler
        if handler.times:
            return handler.times[index] if index < len(handler.times) else math.inf
        period = self._number(state, entry, handler.period)
        if not state.time + period > state.time:
            raise SimulationError(
                state.time,
                f"{entry.path}: its period is {period} s, needs more than 0, and enough for time to advance; "
                "for every step: TIME_ADVANCED",
            )
        return self._number(state, entry, handler.offset) + index * period

    def _first_index(self, state: State, entry: Entry, time: float) -> int:
        index = 0
        if not entry.handler.times:
            first, second = self.time_of(state, entry, 0), self.time_of(state, entry, 1)
            index = max(0, math.ceil((time - first) / (second - first)) - 1) if time > first else 0
        while self.time_of(state, entry, index) < time:
            index += 1
        return index

    def _later_index(self, state: State, entry: Entry) -> int:
        """Index of the first occurrence behind the present time."""
        index = self._first_index(state, entry, state.time)
        while self.time_of(state, entry, index) <= state.time:
            index += 1
        return index

    @staticmethod
    def _timer(state: State, entry: Entry) -> float:
        return float(state._arrays["d"][entry.flag])

    @staticmethod
    def _served(state: State, entry: Entry) -> float:
        return float(state.agenda[entry.index : entry.index + 1].view(np.float64)[0])

    @staticmethod
    def _set_served(state: State, entry: Entry, time: float) -> None:
        state.agenda[entry.index : entry.index + 1].view(np.float64)[0] = time

    @staticmethod
    def _number(state: State, entry: Entry, value: float | str) -> float:
        return float(state[f"{entry.part}.{value}"]) if isinstance(value, str) else value
