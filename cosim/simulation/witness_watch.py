"""What has to be remembered of witnesses from one step to the next, and what is wrong with some of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cosim.errors import SimulationError
from cosim.simulation.agenda import FIRED, GUARD, LEVEL, RATE, REPEATS, VALUE, Agenda
from cosim.simulation.event_log import Finding
from cosim.simulation.isolation import Isolation
from cosim.simulation.witness import BOTH, FALLING, RISING, Located
from cosim.system.state import State
from cosim.system.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 10.0  # windows: events of one witness closer than that repeat each other
MOST_REPEATS = 10  # that many in a row are chattering, or pile up at an instant
POLICIES = ("hold", "report", "stop")


class WitnessWatch:
    """Keeps the memory of all witnesses, which lies in the State.

    A triggered event ends its step just past the zero. When its handler turns the witness round there, the value at
    which that happened counts as zero until the witness has come out on the other side: so a ball whose flight is too
    short to leave the floor hits it again, and nothing is taken for a crossing that is none.

    Parameters
    ----------
    system : System
    agenda : Agenda
    policy : str
        What to do about a witness whose events do not end: "stop", "report" or "hold".
    report : callable
        Gets each `Finding`.
    """

    def __init__(
        self, system: System, agenda: Agenda, policy: str, report: Callable[[Finding], None]
    ) -> None:
        self.system, self.agenda, self.policy, self.report = system, agenda, policy, report
        self.isolation = Isolation(system, agenda.witnesses)

    def start(self, state: State) -> None:
        """At the beginning of a run: what stands on the wrong side already is reported."""
        self.note(state)
        for witness, value in zip(self.agenda.witnesses, self.isolation.values(state), strict=True):
            wrong = (witness.direction == FALLING and value < 0.0) or (
                witness.direction == RISING and value > 0.0
            )
            if wrong and not witness.is_condition:
                word, back = ("fall", "risen") if witness.direction == FALLING else ("rise", "fallen")
                text = f"is {value:.6g} at the start: it cannot {word} through zero before it has {back}"
                self._found(state, Finding(state.time, "wrong side", witness.path, text))

    def note(self, state: State) -> None:
        """At the end of a step: what is written to the State from here on is a jump from these values."""
        self.agenda.memory(state)[:, VALUE] = self.isolation.values(state)

    def jumps(self, state: State) -> Located | None:
        """The witnesses that crossed because somebody wrote to the State since the last step."""
        before, after = self.agenda.memory(state)[:, VALUE].copy(), self.isolation.values(state)
        pairs = enumerate(zip(self.agenda.witnesses, before, after, strict=True))
        crossed = [i for i, (w, a, b) in pairs if w.triggers(a, b)]
        return Located((state.time, state.time), before, after, crossed) if crossed else None

    def begin(self, state: State) -> NDArray[np.float64]:
        """At the start of a step: the witnesses, and the levels that they are compared with."""
        values, memory = self.isolation.values(state), self.agenda.memory(state)
        guarded = memory[:, GUARD] != 0.0
        if guarded.any():
            # out on the other side: zero is zero again
            memory[guarded & (values * memory[:, GUARD] > 0.0), LEVEL : GUARD + 1] = 0.0
        self.isolation.level[:] = memory[:, LEVEL : GUARD + 1]
        return values

    def fire(self, state: State, located: Located, length: float) -> None:
        """Witnesses have crossed: handlers that wait for them are pending, repetitions are counted.

        Parameters
        ----------
        length : float
            s, of the window to which events are located, or of the step where they are not.
        """
        memory = self.agenda.memory(state)
        memory[:, RATE] = self.isolation.rates(state, max(length, 1e-3))
        crossed = located.crossed
        near = state.time - memory[crossed, FIRED] <= NEAR * length
        memory[crossed, REPEATS] = np.where(near, memory[crossed, REPEATS] + 1.0, 0.0)
        memory[crossed, FIRED] = state.time
        for entry in self.agenda.entries:
            if entry.handler.witness is not None and entry.flag in crossed:
                state.agenda[entry.index] = 1

    def pending(self, state: State) -> set[int]:
        """The witnesses whose updates are pending."""
        return {
            e.flag
            for e in self.agenda.entries
            if e.handler.witness is not None and e.handler.does != "publish" and state.agenda[e.index]
        }

    def turned(self, state: State, before: NDArray[np.float64], witnesses: set[int]) -> None:
        """Handlers of these witnesses have run; `before` is the continuous state before they did."""
        memory, values = self.agenda.memory(state), self.isolation.values(state)
        self.isolation.level[:] = 0.0
        rates = self.isolation.rates(state, 1e-3)
        moved = not np.array_equal(before, state._arrays["y"])
        for i in witnesses:
            witness, rate = self.agenda.witnesses[i], memory[i, RATE]
            side = 1.0 if rate < 0.0 else -1.0  # where it came from
            turned = rate * rates[i] <= 0.0 and rate != 0.0 and values[i] * side <= 0.0
            near = abs(values[i]) <= 2.0 * abs(memory[i, VALUE])
            guard = side if turned and near and (moved or witness.direction != BOTH) else 0.0
            memory[i, LEVEL], memory[i, GUARD] = (values[i], guard) if guard else (0.0, 0.0)
            if memory[i, REPEATS] == MOST_REPEATS:
                self._endless(state, i, moved)

    def _endless(self, state: State, i: int, moved: bool) -> None:
        path, kind = self.agenda.witnesses[i].path, "zeno" if moved else "chattering"
        text = f"its events pile up at this instant: {MOST_REPEATS + 1} of them in a row"
        if not moved:
            text = f"chatters: {MOST_REPEATS + 1} events in a row, each undoing the one before"
        self._found(state, Finding(state.time, kind, path, text))

    def _found(self, state: State, finding: Finding) -> None:
        self.report(finding)
        if self.policy == "stop":
            raise SimulationError(state.time, f"{finding.witness} {finding.message}")
