"""Event handlers that are Python methods, called back at their place in a step."""

from __future__ import annotations

import time as wall
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.errors import SimulationError
from cosim.preparation.handler_tables import takes_next_state
from cosim.run_data.run import CLOCK_WIDTH
from cosim.simulation.status import DID_NOTHING, SUCCEEDED, EventStatus, Severity
from cosim.stage import Stage
from cosim.system.blocks import Slot
from cosim.system.state import State
from cosim.value_text import quote

if TYPE_CHECKING:
    from cosim.preparation.compiled_step import CompiledStep

READ_ONLY = {
    "publish": "a publish changes nothing",
    "discrete": "write to next_state: def handler(self, state, next_state)",
    "unrestricted": "write to next_state: def handler(self, state, next_state)",
}


class NextState(State):
    """The State that a handler writes to.

    Attributes
    ----------
    written : list of Slot
        What it has written.
    """

    written: list[Slot]

    def __setitem__(self, path: str, value: Any) -> None:
        super().__setitem__(path, value)
        self.written.append(self.system.written_slot(path))

    def _set(self, first: int, last: int, values: Any, stage: Stage, name: str) -> None:
        super()._set(first, last, values, stage, name)
        self.written.append(Slot("y", first, last - first))


class PythonHandlers:
    """Calls handlers with the State of a run, and with what they may change.

    Attributes
    ----------
    answers : dict of int to EventStatus
        By number of the handler, what it answered last, where that says more than that it succeeded.
    interrupted : BaseException or None
        Ctrl-C, or what else is not a `Exception`, in the handler that was called last.
    """

    def __init__(self, parts: Any) -> None:
        self._parts = parts
        self.answers: dict[int, EventStatus] = {}
        self.interrupted: BaseException | None = None
        self.step: CompiledStep
        self.state: State
        self._next: NextState | None = None

    def attach(self, step: CompiledStep) -> None:
        """Serve this Step, which calls back."""
        self.step, self._entries = step, step.tables.events.entries
        self._takes_next = [e.block < 0 and takes_next_state(e) for e in self._entries]

    def bind(self, state: State) -> None:
        """Handlers read this State from here on."""
        self.state, self._next = state, None

    def run(self, number: int) -> int:
        """Run a handler and return its severity. An exception becomes its answer, a failure."""
        entry, state, step = self._entries[number], self.state, self.step
        step.stage_out(state)
        why = READ_ONLY[entry.handler.does]
        state._locked = f"{entry.path}: the handler wrote to the State that it may only read; {why}"
        began = wall.perf_counter()
        try:
            answer = self._call(number)
        except BaseException as error:
            answer = EventStatus.of_exception(error, entry.path)
            if not isinstance(error, Exception):
                self.interrupted = error
        finally:
            state._locked = ""
            step.stage_in(state)
        step.arrays.transient.duration = wall.perf_counter() - began
        if answer is None or answer == EventStatus.succeeded():
            self.answers.pop(number, None)
            return int(Severity.SUCCEEDED)
        self.answers[number] = replace(answer, source=entry.path)
        return int(answer.severity)

    def _call(self, number: int) -> EventStatus | None:
        """Call the method of a handler; `SimulationError` where it breaks a rule."""
        entry, state = self._entries[number], self.state
        function, part = entry.handler.function.function, self._parts[entry.part]
        if self._takes_next[number]:
            next_state = self._next_state()
            answer = function(part, state, next_state)
            self._mark_written(number)
            if next_state.time != state.time:
                raise SimulationError(state.time, f"{entry.path}: a handler cannot change time")
        else:
            answer = function(part, state)
        if answer is None or isinstance(answer, EventStatus):
            return answer
        raise SimulationError(
            state.time,
            f"{entry.path}: a handler must return None or an EventStatus, not {quote(answer)}",
        )

    def worst_answer(self) -> EventStatus:
        """The worst answer to the last call of the Step, and whose it is."""
        run = self.step.arrays
        severity = int(run.answers.severity)
        if severity <= Severity.SUCCEEDED:
            return SUCCEEDED if severity else DID_NOTHING
        number = int(run.answers.source)
        answer = self.answers.get(number)
        if answer is None or answer.severity != severity:  # of a kernel function
            return EventStatus(Severity(severity), source=self._entries[number].path)
        return answer

    def _next_state(self) -> NextState:
        """The State that a handler writes to: its arrays are copies that the step compares afterwards."""
        twin = self._next
        if twin is None:
            twin = self._next = self._make_next()
        twin._arrays["times"][:] = self.state._arrays["times"][:CLOCK_WIDTH]
        twin._stage, twin.accuracy = Stage.MODEL, self.state.accuracy
        twin.written.clear()
        return twin

    def _mark_written(self, number: int) -> None:
        """Mark what a handler has written, where another one may write the same at the same instant."""
        run, twin = self.step.arrays, self._next
        if not run.plan.shares_variables or twin is None:
            return
        sizes = [self.state._arrays[name].size for name in "ypdk"]
        starts = dict(zip("ypdk", [sum(sizes[:i]) for i in range(4)], strict=True))
        marks = run.python_writers
        marks[marks == number + 1] = 0
        for slot in twin.written:
            first = starts[slot.array] + slot.offset
            marks[first : first + slot.size] = number + 1

    def _make_next(self) -> NextState:
        """A State that shares everything with that of the run but its variables, its cache and its clock."""
        state = self.state
        twin = NextState.__new__(NextState)
        twin.__dict__.update(state.__dict__, written=[], _shown={})
        arrays: dict[str, Any] = self.step.arrays.written._asdict()
        arrays["h"], arrays["c"] = state._arrays["h"], state.system.new_cache()
        arrays["memory"], arrays["indices"] = state._arrays["memory"], state._arrays["indices"]
        arrays["times"] = np.zeros(CLOCK_WIDTH)
        twin._arrays, twin._versions, twin._locked = arrays, list(state._versions), ""
        return twin
