"""One call of the Step at a time: the shell of one system, its State and the Step of its integrator."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import ClosedAttributes
from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError, StateError
from cosim.preparation.compiled_step import CompiledStep
from cosim.run_data.records.recording import LOG_ALL, LOG_FINDINGS
from cosim.simulation.carried_tangents import CarriedTangents
from cosim.simulation.chosen_integrator import chosen_integrator
from cosim.simulation.event_record import Finding
from cosim.simulation.handled_events import EventLog
from cosim.simulation.python_handlers import PythonHandlers
from cosim.simulation.record_reader import RecordReader
from cosim.simulation.recorded_rows import RecordedRows
from cosim.simulation.statistics import Statistics, read_statistics
from cosim.simulation.status import EventStatus, Reason, SimulatorStatus
from cosim.simulation.step_errors import failed_handler, failure, handler_failure
from cosim.step import failures
from cosim.step.event_log import DRAIN_LOG
from cosim.step.recording import SLACK
from cosim.system.state import State
from cosim.system.system import System
from cosim.value_text import quote

if TYPE_CHECKING:
    from cosim.simulation.coupled_tangents import CoupledTangents
    from cosim.simulation.run_trail import Trail

INSIDE_STEP = (
    "this simulator is in the middle of a step: a handler or monitor cannot advance it, nor replace its "
    "State or integrator; do so when the call has come back"
)


class StepCalls(ClosedAttributes):
    """Calls the Step of a system, one call at a time, with its errors, its records and its counts.

    Parameters
    ----------
    system : System
    state : State, optional
        The default State unless given.
    endless_events : str
        As `Simulator` takes it.
    event_limit : int
        As `Simulator` takes it.
    """

    def __init__(self, system: System, state: State | None, endless_events: str, event_limit: int) -> None:
        self._system, self._policy = system, endless_events
        self._log_level = LOG_ALL if event_limit else LOG_FINDINGS
        self._state: State | None = system.default_state() if state is None else self._check_state(state)
        self._findings: list[Finding] = []
        self._rows: RecordedRows | None = None
        self._tangents: CarriedTangents | None = None
        self._carried: CarriedTangents | None = None
        self._trail: Trail | None = None
        self._inside_step = threading.Lock()
        time = self._state.time
        self._status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, time, time)

    # system, State and integrator

    @property
    def system(self) -> System:
        """The system; it is never changed."""
        return self._system

    @property
    def state(self) -> State:
        """The State at the end of the last step; `SimulationError` when it was released."""
        if self._state is None:
            raise SimulationError(math.nan, "the simulator has no State: give it one with replace_state()")
        return self._state

    @property
    def findings(self) -> list[Finding]:
        """What was noticed, without being an error."""
        return self._findings

    @property
    def has_state(self) -> bool:
        """Whether there is a State."""
        return self._state is not None

    def replace_state(self, state: State | None) -> None:
        """Take another State of the same system; call `initialize` before going on.

        Raises
        ------
        StateError
            It belongs to another system.
        """
        self._refuse_inside_step()
        accuracy = None if self._state is None else self._state.accuracy
        self._state = None if state is None else self._check_state(state)
        if state is not None:
            if state.accuracy is None:
                state.accuracy = accuracy
            self._bind(state)

    def _check_state(self, state: State) -> State:
        """The State, if it is one of this system."""
        if not isinstance(state, State):
            raise ModelError.of("state", f"is {quote(state)}, needs a State: system.default_state()")
        if state.system is not self._system and state.system.digest != self._system.digest:
            raise StateError("this State belongs to another system: its parts, connections or options differ")
        return state

    def _reset_step(self, state: State) -> None:
        """Take another State, with which no run has begun, and be as before the first call."""
        self._refuse_inside_step()
        self._state, self._rows, self._tangents = self._check_state(state), None, None
        self._handlers.answers.clear()
        self._step.reset_run()
        self._step.arrays.output.logging = self._log_level
        self._status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, state.time, state.time)

    def release_state(self) -> State:
        """Return the State and let it go; the simulator cannot advance without one."""
        self._refuse_inside_step()
        state, self._state = self.state, None
        return state

    @property
    def integrator(self) -> Integrator:
        """The integrator in use."""
        return self._integrator

    def reset_integrator(
        self,
        integrator: str | type[Integrator] | Integrator,
        *,
        accuracy: float | None = None,
        **options: Any,
    ) -> Integrator:
        """Replace the integrator; what the old one kept in the State is dropped.

        The next step initializes again; triggered events that are pending stay pending.
        """
        self._refuse_inside_step()
        chosen = chosen_integrator(integrator, self._system, accuracy, options)
        self._empty_log()
        self._empty_rows()
        if self._state is not None:
            self._state._arrays["memory"] = np.zeros(0)
            self._state.agenda.initialized = 0
        self._use_integrator(chosen, accuracy)
        return chosen

    def _use_integrator(self, integrator: Integrator, accuracy: float | None) -> None:
        """Make the Step of this integrator."""
        state = self._state
        if state is not None and accuracy is not None:
            state.accuracy = accuracy
        accuracy = None if state is None else state.accuracy
        handlers = PythonHandlers(self._system.parts)
        step = CompiledStep(
            self._system, integrator, self._policy, accuracy, handlers.run, self._empty_full_buffer
        )
        handlers.attach(step)
        step.arrays.output.logging = self._log_level
        if self._rows is not None:
            self._rows.attach(step)
        self._step, self._handlers = step, handlers
        self._tangents = self._carried = self._trail = None
        self._integrator, self._origin = integrator, integrator.counts
        if state is not None:
            self._bind(state)

    def _bind(self, state: State) -> None:
        """Work on this State; one that was saved is realized as it was where its last step ended."""
        self._step.bind(state)
        self._handlers.bind(state)
        if state.agenda.initialized and state.clock.stamp == state.time:
            self._step.call("evaluate", state.time)

    @property
    def compiled_step(self) -> CompiledStep:
        """The Step that this simulator calls, for compiled code that calls it as well."""
        return self._step

    # one call of the Step at a time; `requested` is the time where the call was to go, s

    def _attempt(self, requested: float, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call ``action(requested, …)`` inside a step; the status says where it fails or is interrupted."""
        if not self._inside_step.acquire(blocking=False):
            raise SimulationError(self.state.time, INSIDE_STEP)
        try:
            return action(requested, *arguments, **options)
        except (SimulationError, KeyboardInterrupt) as error:
            self._report_error(error, requested)
            raise
        finally:
            self._inside_step.release()

    def _refuse_inside_step(self) -> None:
        """Raise an error where a handler or monitor is running: nothing else may use the Step."""
        if self._inside_step.locked():
            raise SimulationError(self.state.time, INSIDE_STEP)

    def _call_step(
        self, requested: float, entry: str, target: float, most_steps: int = 1, suppressed: bool = False
    ) -> int:
        """Call an entry point of the Step, and take what it has recorded; its code."""
        step = self._step
        step.arrays.course.most_steps, step.arrays.course.suppressed = most_steps, suppressed
        code = step.call(entry, target)
        self._check_code(requested, code)
        return code

    def _check_code(self, requested: float, code: int) -> None:
        """After a call of the Step that ended with this code: take what it has recorded.

        Raises
        ------
        SimulationError
            The call has failed.
        BaseException
            What a handler was interrupted by.
        """
        handlers = self._handlers
        if handlers.interrupted is not None:
            interrupted, handlers.interrupted = handlers.interrupted, None
            raise interrupted
        if code >= failures.FAILED:
            raise self._failure(requested, code)
        if self._step.arrays.output.log_used > 0 and self._tangents is None:  # they read a tape that is full
            self._empty_log()

    def _failure(self, requested: float, code: int) -> SimulationError:
        """The error of a call that has failed; what happened before it is recorded."""
        step, answers = self._step, self._handlers.answers
        number = failed_handler(step, code)
        if number is None:
            self._empty_log()
            return failure(step, self.state, code, requested, self.findings[-1:])
        error = handler_failure(step, self.state, code, answers.get(number))
        if error.status is not None:
            answers = {**answers, number: error.status}
        self._empty_log(answers)
        return error

    def _report(self, answer: EventStatus, requested: float) -> None:
        """The status of a call that has come back."""
        self._status = SimulatorStatus.of_answer(answer, requested, self.state.time)

    def _report_error(self, error: SimulationError | KeyboardInterrupt, requested: float) -> None:
        """The status of a call that has failed or was interrupted."""
        self._status = SimulatorStatus.of_error(error, requested, self.state.time)

    # how it ended

    @property
    def status(self) -> SimulatorStatus:
        """The result of the last call."""
        return self._status

    @property
    def is_initialized(self) -> bool:
        """Whether `initialize` was called for this State, possibly in another process."""
        return bool(self.state.agenda.initialized)

    @property
    def has_pending_updates(self) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        if self.state.arrays["indices"].size < self._step.tables.indices.size:
            return False
        return self._step.call("pending") != 0

    # what was recorded and counted

    @property
    def events(self) -> EventLog:
        """The newest events, `event_limit` of them at least."""
        self._empty_log()
        return self._events

    @property
    def statistics(self) -> Statistics:
        """Counts since `initialize` or `reset_statistics`."""
        return read_statistics(self._step, self._origin)

    def record(self, paths: Sequence[str], where: str = "events", **grid: float) -> None:
        """Record variables from here on; `take_rows` gives what was recorded.

        Parameters
        ----------
        paths : sequence of str
        where : str
            "events": both sides of events; "steps": also the ends of integrator steps; "grid": both sides of
            events and the times ``origin + i * interval``, from ``point`` on, and the end at ``until``;
            "grid alone": these times without the events, after those of the instant.
        **grid : float
            ``origin``, ``interval``, ``point``, ``until``. Without `point` it is the first one from now on.
        """
        if "interval" in grid and "point" not in grid:
            passed = (self.state.time - grid.get("origin", 0.0)) / grid["interval"]
            grid["point"] = float(max(0, math.ceil(passed - SLACK)))
        self._rows = RecordedRows(self._system, paths, where, grid, self._step.arrays.rows)
        self._rows.attach(self._step)

    def stop_recording(self) -> None:
        """Record no more; what was recorded can still be taken."""
        if self._rows is not None:
            self._rows.stop(self._step)

    def record_now(self) -> None:
        """Record the present State as well."""
        self._check_code(self.state.time, self._step.call("record"))

    @property
    def recorded_values(self) -> int:
        """How many numbers were recorded, times among them, since rows were taken."""
        return 0 if self._rows is None else self._rows.count_values(self._step)

    def take_rows(self) -> NDArray[np.float64]:
        """The rows since the last call, shape (rows, 1 + values): times, then the values."""
        pieces = self.take_row_blocks()
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def take_row_blocks(self) -> list[NDArray[np.float64]]:
        """The rows that `take_rows` returns, in one or several arrays: many rows are not copied."""
        self._empty_rows()
        pieces = [] if self._rows is None else self._rows.pop()
        return pieces or [np.zeros((0, 1 if self._rows is None else self._rows.width))]

    def carry_tangents(self, by: Sequence[str]) -> CarriedTangents:
        """Have tangents go along from the present State on, until the run is reset.

        Parameters
        ----------
        by : sequence of str
            As for `CarriedTangents`; those of the last run are used again where they are the same.
        """
        self._empty_log()
        carried = self._carried
        if carried is None or carried.by != list(by):
            carried = self._carried = CarriedTangents(self._step, by)
        carried.start(self.state)
        self._tangents = carried
        return carried

    def start_trail(self, by: Sequence[str]) -> Trail:
        """Have the run leave a trail from the present State on, for gradients by these paths; as `Trail`."""
        from cosim.simulation.run_trail import Trail  # most runs need none

        self._empty_log()
        before = self._trail
        left = Trail(self._step, by) if before is None or before.by != list(by) else before.renewed()
        self._trail = left
        left.start(self.state)
        self._tangents = left
        return left

    def couple_tangents(self, directions: int, own: Mapping[int, str]) -> CoupledTangents:
        """Have tangents go along from the present State on, as those of a system in a co-simulation.

        Parameters
        ----------
        directions, own
            As for `CoupledTangents`.
        """
        from cosim.simulation.coupled_tangents import CoupledTangents  # most runs need none

        self._empty_log()
        coupled = CoupledTangents(self._step, directions, own)
        coupled.start(self.state)
        self._tangents = coupled
        return coupled

    def read_tape(self) -> None:
        """Have tangents come as far as the run has."""
        self._empty_log()

    def store_tangents(self) -> None:
        """Have the State take the tangents that go along with the run, where there are some."""
        if self._tangents is not None and self._tangents is self._carried:
            self._empty_log(is_last=True)
            self._tangents.store(self.state)

    def end_tape(self) -> None:
        """The run is over: tangents read what is left of its tape."""
        self._empty_log(is_last=True)

    def _start_events(self, limit: int) -> None:
        """An empty list of events, of which the newest `limit` are kept."""
        self._reader = RecordReader(self._system, self._step.tables)
        self._events = EventLog(self._reader, limit)

    def _clear_records(self) -> None:
        """Clear events, findings and rows: a run begins."""
        self._step.arrays.output.log_used = 0
        self._events = EventLog(self._reader, self._events.limit, self._events.idle_cause)
        self.findings.clear()
        if self._rows is not None:
            self._rows.start_run()

    def _empty_log(self, answers: Mapping[int, EventStatus] | None = None, is_last: bool = False) -> None:
        records = None if self._tangents is None else self._tangents.read_tape(is_last)
        answered = self._handlers.answers if answers is None else answers
        self._findings += self._events.empty_buffer(self._step, answered, records)

    def _empty_rows(self) -> None:
        if self._rows is not None:
            self._findings += self._rows.empty_buffer(self._step)

    def _empty_full_buffer(self, which: int) -> int:
        """Called from inside a step that has filled a buffer."""
        if which == DRAIN_LOG:
            self._empty_log()
        else:
            self._empty_rows()
        return 0
