"""The Step of one simulation: entry points, handlers that are Python, what was recorded."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.integrator import Integrator
from cosim.errors import SimulationError
from cosim.simulation.event_log import EventLog, log_starts
from cosim.simulation.event_record import Finding
from cosim.simulation.failures import HANDLERS, failure
from cosim.simulation.missing_values import MissingValues
from cosim.simulation.python_handlers import PythonHandlers
from cosim.simulation.recorded_events import RecordReader
from cosim.simulation.statistics import Statistics
from cosim.simulation.status import EventStatus, Severity
from cosim.step import event_log, failures
from cosim.step.choice import choice_of_slots
from cosim.step.compiled_step import CompiledStep
from cosim.step.records import (
    AT_EVENTS,
    AT_STEPS,
    LOG_ALL,
    LOG_FINDINGS,
    NO_ROWS,
    ON_GRID,
    ON_GRID_ALONE,
    OutputGrid,
)
from cosim.step.run import GRID_WIDTH
from cosim.system.state import State
from cosim.system.system import System

MODES = {
    **{"events": AT_EVENTS, "steps": AT_STEPS, "grid": ON_GRID},
    "grid alone": ON_GRID_ALONE,
}
SUCCEEDED, DID_NOTHING = EventStatus.succeeded(), EventStatus.did_nothing()
BUFFERED_ROWS = 4096  # numbers at least


class BoundStep:
    """A `CompiledStep` with everything that is Python around it.

    Parameters
    ----------
    system : System
    integrator : Integrator
    policy : str
        About witnesses whose events do not end.
    accuracy : float or None
    event_limit : int
        How many events are kept; with 0 none are recorded.

    Attributes
    ----------
    events : EventLog
    findings : list of Finding
    """

    def __init__(
        self, system: System, integrator: Integrator, policy: str, accuracy: float | None, event_limit: int
    ) -> None:
        self.system, me = system, weakref.ref(self)

        def handler(number: int) -> int:
            owner = me()
            assert owner is not None
            return owner.handlers(number)

        def drain(what: int) -> int:
            owner = me()
            assert owner is not None
            return owner._drain(what)

        self.step = CompiledStep(system, integrator, policy, accuracy, handler, drain)
        self.handlers = PythonHandlers(self.step.tables.agenda_of.entries, system.parts)
        self.handlers.step = self.step
        self.step.arrays.output.logging = LOG_ALL if event_limit else LOG_FINDINGS
        self.reader = RecordReader(system, self.step.tables)
        self.events = EventLog(self.reader, event_limit)
        self.findings: list[Finding] = []
        self._rows: list[NDArray[np.float64]] = []
        self._width = 1
        self._missing: MissingValues | None = None
        self._recorded: tuple[Sequence[str], str] | None = None
        self._state: State | None = None
        self._error: SimulationError | None = None

    def bind(self, state: State, anew: bool = False) -> None:
        """Work on this State; with `anew` it need not fit, since it is going to be initialized."""
        if anew:
            state.agenda.initialized = 0
        self._state = state
        self.step.bind(state)
        self.handlers.bind(state)

    @property
    def state(self) -> State:
        """The State that is bound."""
        assert self._state is not None
        return self._state

    # calls

    def call(self, entry: str, target: float = 0.0, most: int = 1, suppressed: bool = False) -> int:
        """Call an entry point; a code of `cosim.step.failures`."""
        run = self.step.arrays
        run.course.most_steps, run.course.suppressed = most, suppressed
        self.handlers.interrupted = None
        code = self.step.call(entry, target)
        self.explain(code, target)
        return code

    def explain(self, code: int, target: float) -> None:
        """After a call: take what was recorded, and say why it has failed while that can be seen."""
        run = self.step.arrays
        if self.handlers.interrupted is not None:
            raise self.handlers.interrupted
        self._error = None
        if not self.events.limit:
            self.events.forgotten = int(run.counts.events)
        if code in HANDLERS or code == failures.BlockFailed.number:
            self._error = self._explain(code, target)
            if self._error.status is not None:
                self.handlers.answers[int(run.answers.source)] = self._error.status
        if run.output.log_used > 0:
            self.take_log()

    def set_told(self, path: str) -> bool:
        """Count a notice as told until it is 0 again; whether it was not."""
        number = [name for name, _ in self.step.tables.notices].index(path)
        reported = self.step.arrays.reported_notices
        was, reported[number] = reported[number], 1
        return not was

    def answer(self) -> EventStatus:
        """The worst answer of the last call."""
        run = self.step.arrays
        number, source = int(run.answers.severity), int(run.answers.source)
        if number <= Severity.SUCCEEDED:
            return SUCCEEDED if number else DID_NOTHING
        severity = Severity(number)
        found = self.handlers.answers.get(source)
        entry = self.step.tables.agenda_of.entries[source]
        if found is None or found.severity is not severity:
            return EventStatus(severity, source=entry.path)
        return found

    def failure(self, code: int, wanted: float) -> SimulationError:
        """The error that a code stands for."""
        return self._error or self._explain(code, wanted)

    def _explain(self, code: int, wanted: float) -> SimulationError:
        last = self.findings[-1] if self.findings else None
        found = "" if last is None else f"{last.witness} {last.message}"
        return failure(self.step, self.state, code, self.handlers, wanted, found)

    def has_pending_updates(self) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        if self.state.arrays["indices"].size < self.step.tables.indices.size:
            return False
        return self.step.call("pending") != 0

    # statistics

    def statistics(self) -> Statistics:
        """Counts since `reset_statistics`, without those of the integrator."""
        run = self.step.arrays
        counts, evaluation = run.counts, run.evaluation
        whole = max(1, self.step.tables.rows_of_evaluation)
        return Statistics(
            steps=counts.steps,
            publishes=counts.publishes,
            discrete_updates=counts.discrete_updates,
            unrestricted_updates=counts.unrestricted_updates,
            events=counts.events,
            realizations=evaluation.evaluations,
            partial_evaluations=evaluation.partial_evaluations,
            partial_share=evaluation.rows_called / whole if len(run.nodes) else 0.0,
        )

    def reset_statistics(self) -> None:
        """Forget the counts."""
        run = self.step.arrays
        for name in run.counts.declared:
            setattr(run.counts, name, 0)
        for name in ("evaluations", "partial_evaluations", "rows_called"):
            setattr(run.evaluation, name, 0)

    # what was recorded

    def _drain(self, what: int) -> int:
        if what == event_log.DRAIN_LOG:
            self.take_log()
        else:
            self._take_rows()
        return 0

    def take_log(self) -> None:
        """Take the records of events and findings out of the buffer."""
        used = int(self.step.arrays.output.log_used)
        if used == 0:
            return
        self.step.arrays.output.log_used = 0
        log = self.step.arrays.log[:used].copy()
        starts = log_starts(log)
        who = log[starts + event_log.HANDLER]
        for at in starts[who < 0].tolist():
            self.findings.append(self.reader.finding(log[at:]))
        starts, who = starts[who >= 0], who[who >= 0]
        answers: dict[int, EventStatus] = {}
        for handler, said in self.handlers.answers.items():
            same = log[starts + event_log.ANSWER] == said.severity
            answers.update((int(i), said) for i in np.flatnonzero((who == handler) & same))
        if starts.size:
            self.events.add(log, starts, answers)

    def forget_events(self) -> None:
        """A run begins: what happened before is another run's."""
        self.step.arrays.output.log_used = 0
        self.events = EventLog(self.reader, self.events.limit)

    def record(self, paths: Sequence[str], where: str, **grid: float) -> None:
        """Record these variables from here on; see `Simulator.record`."""
        self._recorded = paths, where
        signals = [self.system.signal(path) for path in paths]
        choice, count = choice_of_slots(self.system, [signal.slot for signal in signals])
        self._width, self._missing = 1 + count, MissingValues(paths, signals)
        room = max(BUFFERED_ROWS, 64 * self._width)
        if where == "grid alone":  # the last row may be replaced: none is taken before the end
            points = (grid["until"] - grid["origin"]) / grid["interval"] - grid["point"]
            room = max(room, (int(points) + 4) * self._width)
        rows = np.zeros(GRID_WIDTH + room)
        given = {"origin": 0.0, "interval": math.inf, "point": 0.0, "until": math.inf, **grid}
        rows[:GRID_WIDTH] = [given[name] for name in OutputGrid.declared]
        self._rows = []
        self.step.record(choice, rows, MODES[where])

    def stop_recording(self) -> None:
        """Record no more."""
        self._recorded = None
        self.step.arrays.output.recording = NO_ROWS

    def go_on_from(self, other: BoundStep) -> None:
        """Take over the events, findings and rows of the Step before, and record what it recorded."""
        other.take_log()
        self.events, self.findings = other.events, other.findings
        if other._recorded is None:
            return
        other._take_rows()
        before = other.step.arrays.output_grid
        grid = {name: getattr(before, name) for name in before.declared}
        paths, where = other._recorded
        self.record(paths, where, **grid)
        self._rows = other._rows

    def _take_rows(self) -> None:
        used = int(self.step.arrays.output.rows_used)
        if used:
            self.step.arrays.output.rows_used = 0
            rows: Any = self.step.arrays.rows
            taken = rows[GRID_WIDTH:][:used].copy()
            self._rows.append(taken)
            assert self._missing is not None
            self.findings += self._missing.findings(taken)

    @property
    def recorded_values(self) -> int:
        """How many numbers of rows wait for `take_rows`."""
        return sum(rows.size for rows in self._rows) + int(self.step.arrays.output.rows_used)

    def take_rows(self) -> NDArray[np.float64]:
        """What was recorded since the last call, shape (rows, 1 + values)."""
        self._take_rows()
        found, self._rows = self._rows, []
        if not found:
            return np.zeros((0, self._width))
        whole = found[0] if len(found) == 1 else np.concatenate(found)
        return whole.reshape(-1, self._width)
