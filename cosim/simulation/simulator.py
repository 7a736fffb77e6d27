"""Simulator: advances a State through time, step by step."""

from __future__ import annotations

import math
import threading
import time as wall
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import ClosedAttributes
from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError, StateError
from cosim.html_table import html_table
from cosim.options import check_callable, check_choice, check_options, check_whole, option_names, seconds
from cosim.preparation.compiled_step import CompiledStep
from cosim.preparation.run_tables import POLICIES
from cosim.shown import shown
from cosim.simulation import stride
from cosim.simulation.carried_tangents import CarriedTangents
from cosim.simulation.chosen_integrator import chosen_integrator, integrator_options
from cosim.simulation.event_record import Finding
from cosim.simulation.given_start import GivenStart
from cosim.simulation.handled_events import EventLog
from cosim.simulation.interrupt import interrupt_between_steps
from cosim.simulation.monitor import Monitor, call_monitor
from cosim.simulation.monitored import Monitored
from cosim.simulation.passed_timers import passed_timers
from cosim.simulation.python_handlers import PythonHandlers
from cosim.simulation.real_time import RealTime
from cosim.simulation.recorded_events import RecordReader
from cosim.simulation.recorded_rows import RecordedRows
from cosim.simulation.solver_notices import solver_notices
from cosim.simulation.statistics import Statistics, read_statistics, reset_counters
from cosim.simulation.status import EventStatus, Reason, Severity, SimulatorStatus, worst
from cosim.simulation.step_errors import NO_ACCURACY, failed_handler, failure, handler_failure
from cosim.stage import Stage
from cosim.step import failures
from cosim.step.event_log import DRAIN_LOG
from cosim.step.recording import SLACK
from cosim.step.records import LOG_ALL, LOG_FINDINGS
from cosim.step.witnesses import CHARACTERISTIC_TIME
from cosim.system.state import State
from cosim.system.system import System, check_system
from cosim_compiler.native import is_plain

EVENT_LIMIT = 100_000
OF_INTEGRATORS = (
    *("initial_step", "minimum_step", "maximum_step", "fixed_step"),
    *("relative_tolerance", "absolute_tolerance"),
)
INSIDE_STEP = (
    "this simulator is in the middle of a step: a handler or monitor cannot advance it, nor replace its "
    "State or integrator; do so when the call has come back"
)


class Simulator(ClosedAttributes):
    """Advances the trajectory of a system; only the State is changed by it.

    The Step itself is a `CompiledStep`, of the system, the integrator and the State, which can be replaced.
    The Simulator adds options, errors, records, the monitor and real time.

    A step is: updates that are pending at its start (unrestricted, then discrete, inside each kind by
    cause), integration no further than the next scheduled event, publishes due at its end, the monitor.

    Parameters
    ----------
    system : System
    state : State, optional
        The default State unless given. A run that was saved in the middle is continued from there.
    integrator : str, class or Integrator
        Id of an integrator plugin, its class, or an object of it.
    accuracy : float, optional
        Of the integration; the isolation window of events follows it.
    final_time : float
        Where the simulation ends, s.
    endless_events : str
        What to do about a witness whose events chatter or pile up at an instant: "hold" it in its sliding
        mode, only "report" it, or "stop" with an error. `findings` has all of them.
    event_limit : int
        How many of the newest events `events` keeps at least; older ones are forgotten, some thousand at a
        time. With 0 none are recorded.
    **options
        For the integrator: ``fixed_step``, ``maximum_step`` …

    Attributes
    ----------
    findings : list of Finding
        What was noticed, without being an error.

    Raises
    ------
    LookUpError
        No such integrator.
    OptionError
        An option that neither the Simulator nor the integrator has.

    References
    ----------
    Drake C++ documentation, class ``Simulator``; Simbody, class ``Event::Cause``.
    """

    attribute_hints: ClassVar[Mapping[str, str]] = {
        "state": "call replace_state(state)",
        "integrator": "call reset_integrator('integrators.…')",
        "accuracy": "call reset_integrator('integrators.…', accuracy=…)",
        "monitor": "call set_monitor(function)",
        "endless_events": "give it to Simulator(…)",
        "event_limit": "give it to Simulator(…)",
        **{name: f"call reset_integrator('integrators.…', {name}=…)" for name in OF_INTEGRATORS},
    }
    reading_hints: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("time", "t"), "write simulator.state.time"),
        **dict.fromkeys(("run", "simulate", "advance"), "call advance_to(time)"),
    }

    def __init__(
        self,
        system: System,
        state: State | None = None,
        integrator: str | type[Integrator] | Integrator = "integrators.runge_kutta_merson",
        accuracy: float | None = None,
        final_time: float = math.inf,
        endless_events: str = "hold",
        event_limit: int = EVENT_LIMIT,
        **options: Any,
    ) -> None:
        if options:
            own_options = [name for name in option_names(Simulator) if name not in ("system", "state")]
            check_options(type(self).__name__, options, [*own_options, *integrator_options(integrator)])
        check_choice(endless_events, "endless_events", POLICIES)
        check_whole(event_limit, "event_limit", 0)
        check_system(system, type(self).__name__)
        self._system, self._policy, self._accuracy = system, endless_events, accuracy
        self._log_level = LOG_ALL if event_limit else LOG_FINDINGS
        self._state: State | None = system.default_state() if state is None else self._check_state(state)
        self.findings: list[Finding] = []
        self._rows: RecordedRows | None = None
        self._tangents: CarriedTangents | None = None
        self._carried: CarriedTangents | None = None
        self._monitor: Monitor | None = None
        self._monitored: Monitored | None = None
        self._stride = stride.FIRST_STRIDE
        self._inside_step = threading.Lock()
        time = self._state.time
        self._status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, time, time)
        self._real_time = RealTime(time)
        self.final_time = final_time
        self._use_integrator(chosen_integrator(integrator, system, accuracy, options), accuracy)
        self._reader = RecordReader(system, self._step.tables)
        self._events = EventLog(self._reader, event_limit)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Simulator is not pickled: pickle its system and simulator.state, and make another with "
            "them, or write simulator.state.to_bytes()"
        )

    def __repr__(self) -> str:
        at = f"at t = {self._state.time:.9g} s" if self._state is not None else "without a State"
        return f"<Simulator of {self._system!r} {at}, {type(self.integrator).__name__}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), [(name, value) for name, value in vars(self.statistics).items()])

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

    def begin_again(self, state: State) -> None:
        """Take another State, with which no run has begun, and forget all that was recorded or set before.

        `initialize` comes next.
        """
        self._refuse_inside_step()
        self._state, time = self._check_state(state), state.time
        if self._accuracy is not None:
            state.accuracy = self._accuracy
        self._rows = self._monitor = self._tangents = None
        self._stride = stride.FIRST_STRIDE
        self._handlers.answers.clear()
        self._step.begin_again()
        self._step.arrays.output.logging = self._log_level
        self._status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, time, time)
        self._real_time = RealTime(time)
        self._monitored = None

    def _check_state(self, state: State) -> State:
        if not isinstance(state, State):
            raise ModelError.of("state", f"is {shown(state)}, needs a State: system.default_state()")
        if state.system is not self._system and state.system.digest != self._system.digest:
            raise StateError("this State belongs to another system: its parts, connections or options differ")
        return state

    def release_state(self) -> State:
        """Give the State away; the simulator cannot go on without one."""
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
        self._tangents = self._carried = None
        self._integrator, self._origin = integrator, integrator.counts
        if state is not None:
            self._bind(state)

    def _bind(self, state: State) -> None:
        """Work on this State; one that was saved is realized as it was where its last step ended."""
        self._monitored = None
        self._step.bind(state)
        self._handlers.bind(state)
        if state.agenda.initialized and state.clock.stamp == state.time:
            self._step.call("evaluate", state.time)

    @property
    def compiled_step(self) -> CompiledStep:
        """The Step that this simulator calls, for compiled code that calls it as well."""
        return self._step

    @property
    def final_time(self) -> float:
        """When it is reached the simulation is finished, s."""
        return self._final_time

    @final_time.setter
    def final_time(self, time: float | str) -> None:
        final = seconds(time, "final_time")
        if math.isnan(final):
            raise ModelError.of("final_time", "is nan, needs a time: 2.0 (s), or text with a unit, '2 ms'")
        self._final_time = final

    # monitor and real time

    @property
    def monitor(self) -> Monitor | None:
        """Called at the end of every step with the State; may answer an `EventStatus`."""
        return self._monitor

    def set_monitor(self, monitor: Monitor) -> None:
        """Have a function called at the end of every step, after all publishes."""
        check_callable(monitor, "monitor", "the State")
        self._monitor = monitor
        self._stop_monitored()

    def clear_monitor(self) -> None:
        """Remove the monitor."""
        self._monitor = None
        self._stop_monitored()

    def _stop_monitored(self) -> None:
        """Something has changed that steps under way with a monitor do not know."""
        if self._monitored is not None:
            self._monitored.stop()
            self._monitored = None

    @property
    def target_realtime_rate(self) -> float:
        """Simulated seconds for each second, at most; 0 means as fast as possible, as a negative one does."""
        return self._real_time.target_rate

    @target_realtime_rate.setter
    def target_realtime_rate(self, rate: float) -> None:
        if isinstance(rate, bool) or not isinstance(rate, Real) or math.isnan(rate):
            text = f"is {shown(rate)}, needs a number of simulated seconds for each second; 0 for no limit"
            raise ModelError.of("target_realtime_rate", text)
        self._real_time.target_rate = max(0.0, float(rate))
        self._stop_monitored()

    @property
    def actual_realtime_rate(self) -> float:
        """Simulated seconds a second since `initialize` or `reset_statistics`; NaN before the first step."""
        return self._real_time.actual_rate(self.state.time)

    @property
    def witness_time_isolation(self) -> float | None:
        """Length of the window to which triggered events are located, s; None when they are not.

        Raises
        ------
        SimulationError
            Under error control without an accuracy in the State.
        """
        accuracy, fixed = self.state.accuracy, self._integrator.fixed_step
        if accuracy is None:
            if fixed is not None:
                return None
            raise SimulationError(self.state.time, NO_ACCURACY)
        shortest = max(1e-14, 1e-14 * abs(self.state.time))
        return max(shortest, 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed is None else fixed))

    # advancing

    def initialize(self, *, suppress_initialization_events: bool = False) -> SimulatorStatus:
        """The 0th step: initialization events, then the publishes of this time, then the monitor."""
        self._refuse_inside_step()
        state, step = self.state, self._step
        step.arrays.output.log_used = 0
        self._events = EventLog(self._reader, self._events.limit)
        self.findings.clear()
        if self._rows is not None:
            self._rows.begin_run()
        state.agenda.initialized = 0
        self._bind(state)
        self.reset_statistics()
        if type(self._integrator).check is not Integrator.check:
            self._integrator.check(self._system, state.copy().realize(Stage.ACCELERATION))
        given_start, time = GivenStart(state), state.time
        self._attempt(time, self._call_step, "initialize", time, suppressed=suppress_initialization_events)
        answer = self._handlers.worst_answer()
        self.findings += given_start.findings(state)
        self.findings += passed_timers(state, step.tables.agenda_of.entries)
        try:
            self.findings += self._attempt(time, lambda wanted: solver_notices(step, state))
        except SimulationError:
            state.agenda.initialized = 0
            raise
        if self._monitor is not None and answer.severity < Severity.REACHED_TERMINATION:
            answer = worst((answer, self._attempt(time, self._call_monitor, self._monitor)))
        self._report(answer, time)
        return self._end_if_asked()

    def step(self, boundary_time: float = math.inf) -> SimulatorStatus:
        """One step, no further than `boundary_time` (s)."""
        if (ended := self._initialize_if_needed()) is not None:
            return ended
        self._advance(self._target(boundary_time), boundary_time)
        return self._end_run()

    def advance_some(self, boundary_time: float) -> SimulatorStatus:
        """Advance toward a time, for about a tenth of a second of wall-clock time (a few steps at least)."""
        if (ended := self._initialize_if_needed()) is not None:
            return ended
        self._advance_stride(self._target(boundary_time), boundary_time)
        return self._end_run()

    def advance_to(self, boundary_time: float | str, *, within: float = 0.0) -> SimulatorStatus:
        """Advance until a time is reached, exactly, or a handler asks to stop.

        Parameters
        ----------
        boundary_time : float or str
            s, or text with a unit; not before the State's time.
        within : float, s
            A scheduled event that is no further from the boundary than this is at the boundary: the step ends
            there, and its updates are pending. For hosts that compute their times by themselves.

        Raises
        ------
        SimulationError
            A handler or the integration failed; the State is the last good one.
        """
        boundary_time = seconds(boundary_time, "boundary_time")
        if (ended := self._initialize_if_needed()) is not None:
            return ended
        target, step = self._target(boundary_time), self._step
        step.meeting = within
        try:
            with interrupt_between_steps() as check:
                while not self._advance_stride(target, boundary_time) and self._status.succeeded:
                    check()
        except KeyboardInterrupt as error:
            self._report_error(error, boundary_time)
            raise
        finally:
            step.meeting = 0.0
        return self._end_run()

    def advance_pending_events(self) -> SimulatorStatus:
        """Do the updates that are pending now, without advancing time: a step of length zero."""
        self._initialize_if_needed()
        time = self.state.time
        self._advance(time, time)
        return self._end_if_asked()

    def finish(self) -> SimulatorStatus:
        """Issue the cause Termination, once for each end of a run.

        Signals that its handlers raise stay set in the final State.
        """
        self._initialize_if_needed()
        state = self.state
        if state.agenda.finished:
            return self._status
        time = state.time
        self._attempt(time, self._call_step, "finish", time)
        self._report(self._handlers.worst_answer(), time)
        return self._status

    def resume(self, code: int, boundary_time: float, within: float = 0.0) -> SimulatorStatus:
        """Go on from what the Step answered when compiled code called it; `within` as for `advance_to`."""
        self._attempt(boundary_time, self._check_code, code)
        if code in (failures.GROW, failures.STEPPED):
            return self.advance_to(boundary_time, within=within)
        self._report(self._handlers.worst_answer(), boundary_time)
        return self._end_if_asked()

    @property
    def status(self) -> SimulatorStatus:
        """How the last call ended."""
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

    def _initialize_if_needed(self) -> SimulatorStatus | None:
        """Initialize where that was not done; the status where the run has ended with it."""
        state = self.state
        if not state.agenda.initialized:
            status = self.initialize()
            return None if status.succeeded else status
        if state.clock.stamp != state.time:
            raise SimulationError(
                state.time, "the time of the State has changed since the last step: call initialize() first"
            )
        return None

    def _target(self, boundary_time: float) -> float:
        time = self.state.time
        if math.isnan(boundary_time) or boundary_time < time:
            raise SimulationError(time, f"cannot advance to {boundary_time:.9g} s, which is in the past")
        return min(boundary_time, self._final_time)

    def _end_run(self) -> SimulatorStatus:
        """Issue Termination where the run ends here: at the final time, or after a request to stop."""
        if self._status.succeeded:
            time, boundary = self._status.return_time, self._status.boundary_time
            if time < self._final_time:
                return self._status
            # what is pending at the final time runs first
            self._advance(time, boundary)
            while self._status.succeeded and self.has_pending_updates:
                self._advance(time, boundary)
        status = self._status
        self.finish()
        self._status = status
        return status

    def _end_if_asked(self) -> SimulatorStatus:
        """Issue Termination after a request to stop."""
        return self._status if self._status.succeeded else self._end_run()

    # inside a step; `wanted` is the time where the call was to go, s

    def _advance_stride(self, target: float, wanted: float) -> bool:
        """A tenth of a second of steps or 1 MB of rows, or one step with a rate to keep."""
        if self._real_time.target_rate > 0.0:
            return self._advance(target, wanted)
        began, before = wall.perf_counter(), self.recorded_values
        has_arrived = self._advance(target, wanted, self._stride)
        recorded = self.recorded_values - before
        self._stride = stride.next_stride(self._stride, wall.perf_counter() - began, recorded)
        return has_arrived

    def _advance(self, target: float, wanted: float, most: int = 1) -> bool:
        """Up to `most` steps toward `target`, then the monitor; whether it was reached."""
        if self._real_time.target_rate > 0.0:
            self._real_time.wait(self.state.time)
        code, answer = failures.GROW, None
        if self._monitor is not None and most > 1 and not is_plain():
            code, answer = self._attempt(wanted, self._advance_monitored, target, most)
        if code == failures.GROW:
            most = most if self._monitor is None else 1
            code = self._attempt(wanted, self._call_step, "advance", target, most)
        if answer is None:
            answer = self._handlers.worst_answer()
            if self._monitor is not None and self.state.agenda.updates_done == 0:
                # where an update has asked to stop there was no step
                answer = worst((answer, self._attempt(wanted, self._call_monitor, self._monitor)))
        self._report(answer, wanted)
        return bool(code == failures.REACHED)

    def _advance_monitored(self, wanted: float, target: float, most: int) -> tuple[int, EventStatus | None]:
        """Up to `most` steps with the monitor called after each but that which ends otherwise than others."""
        if self._monitored is None:
            assert self._monitor is not None
            self._monitored = Monitored(self._step, self.state, self._monitor, self._take_records)
        code, answer = self._monitored.advance(target, most)
        if code != failures.GROW:
            self._check_code(wanted, code)
        return code, answer

    def _take_records(self) -> None:
        """As `_check_code` after a step that the next one may follow."""
        if self._step.arrays.output.log_used > 0 or self._handlers.interrupted is not None:
            self._check_code(math.nan, failures.STEPPED)

    def _attempt(self, wanted: float, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call ``action(wanted, …)`` inside a step; where it fails or is interrupted, the status says so."""
        if not self._inside_step.acquire(blocking=False):
            raise SimulationError(self.state.time, INSIDE_STEP)
        try:
            return action(wanted, *arguments, **options)
        except (SimulationError, KeyboardInterrupt) as error:
            self._report_error(error, wanted)
            raise
        finally:
            self._inside_step.release()

    def _refuse_inside_step(self) -> None:
        """Raise an error where a handler or monitor is running: nothing else may use the Step."""
        if self._inside_step.locked():
            raise SimulationError(self.state.time, INSIDE_STEP)

    def _call_step(
        self, wanted: float, entry: str, target: float, most: int = 1, suppressed: bool = False
    ) -> int:
        """Call an entry point of the Step, and take what it has recorded; its code."""
        step = self._step
        step.arrays.course.most_steps, step.arrays.course.suppressed = most, suppressed
        code = step.call(entry, target)
        self._check_code(wanted, code)
        return code

    def _call_monitor(self, wanted: float, monitor: Monitor) -> EventStatus:
        """Call the monitor; an exception in it becomes a `SimulationError`."""
        state = self.state
        if state.stage < Stage.REPORT:
            self._check_code(wanted, self._step.call("evaluate", state.time))
        return call_monitor(state, monitor)

    def _check_code(self, wanted: float, code: int) -> None:
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
            raise self._failure(wanted, code)
        if self._step.arrays.output.log_used > 0 and self._tangents is None:  # they read a tape that is full
            self._empty_log()

    def _failure(self, wanted: float, code: int) -> SimulationError:
        """The error of a call that has failed; what happened before it is recorded."""
        step, answers = self._step, self._handlers.answers
        number = failed_handler(step, code)
        if number is None:
            self._empty_log()
            return failure(step, self.state, code, wanted, self.findings[-1:])
        error = handler_failure(step, self.state, code, answers.get(number))
        if error.status is not None:
            answers = {**answers, number: error.status}
        self._empty_log(answers)
        return error

    def _report(self, answer: EventStatus, wanted: float) -> None:
        """The status of a call that has come back."""
        self._status = SimulatorStatus.of_answer(answer, wanted, self.state.time)

    def _report_error(self, error: SimulationError | KeyboardInterrupt, wanted: float) -> None:
        """The status of a call that has failed or was interrupted."""
        self._status = SimulatorStatus.of_error(error, wanted, self.state.time)

    # what was recorded and counted

    @property
    def events(self) -> EventLog:
        """What has happened: the newest events, `event_limit` of them at least."""
        self._empty_log()
        return self._events

    @property
    def statistics(self) -> Statistics:
        """Counts since `initialize` or `reset_statistics`."""
        return read_statistics(self._step, self._origin)

    def reset_statistics(self) -> None:
        """Forget the counts, and where the actual real-time rate is measured from."""
        self._origin = self._integrator.counts
        reset_counters(self._step)
        self._real_time.start(self.state.time)

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
        self._rows = RecordedRows(self._system, paths, where, grid)
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
        """What was recorded since the last call, shape (rows, 1 + values): times, then the values."""
        self._empty_rows()
        return np.zeros((0, 1)) if self._rows is None else self._rows.take()

    def carry_tangents(self, by: Sequence[str]) -> CarriedTangents:
        """Have tangents go along from the present State on, until `begin_again`.

        Parameters
        ----------
        by : sequence of str
            As for `CarriedTangents`; those of the last run are used again where they are the same.
        """
        self._empty_log()
        carried = self._carried
        if carried is None or carried.by != list(by):
            carried = self._carried = CarriedTangents(self._step, by)
        carried.begin(self.state)
        self._tangents = carried
        return carried

    def end_tape(self) -> None:
        """The run is over: tangents read what is left of its tape."""
        self._empty_log(is_last=True)

    def _empty_log(self, answers: Mapping[int, EventStatus] | None = None, is_last: bool = False) -> None:
        records = None if self._tangents is None else self._tangents.take(is_last)
        answered = self._handlers.answers if answers is None else answers
        self.findings += self._events.empty_buffer(self._step, answered, records)

    def _empty_rows(self) -> None:
        if self._rows is not None:
            self.findings += self._rows.empty_buffer(self._step)

    def _empty_full_buffer(self, which: int) -> int:
        """Called from inside a step that has filled a buffer."""
        if which == DRAIN_LOG:
            self._empty_log()
        else:
            self._empty_rows()
        return 0
