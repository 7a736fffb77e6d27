"""Simulator: advances a State through time, step by step."""

from __future__ import annotations

import math
import time as wall
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

from cosim.argument_checks import check_callable, check_choice, check_whole, read_seconds
from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError
from cosim.html_table import html_table
from cosim.options import check_options, option_names
from cosim.preparation.run_tables import POLICIES
from cosim.run_data.records.clock import UPDATES_WAIT
from cosim.simulation import stride
from cosim.simulation.chosen_integrator import chosen_integrator, integrator_options
from cosim.simulation.given_start import GivenStart
from cosim.simulation.interrupt import interrupt_between_steps
from cosim.simulation.monitor import Monitor, call_monitor
from cosim.simulation.monitored import Monitored
from cosim.simulation.passed_timers import passed_timers
from cosim.simulation.real_time import RealTime
from cosim.simulation.solver_notices import solver_notices
from cosim.simulation.statistics import reset_counters
from cosim.simulation.status import EventStatus, Severity, SimulatorStatus, worst
from cosim.simulation.step_calls import StepCalls
from cosim.simulation.step_errors import NO_ACCURACY
from cosim.stage import Stage
from cosim.step import failures
from cosim.step.witnesses import CHARACTERISTIC_TIME
from cosim.system.state import State
from cosim.system.system import System, check_system
from cosim.value_text import quote
from cosim_compiler.native import is_plain

EVENT_LIMIT = 100_000
OF_INTEGRATORS = (
    *("initial_step", "minimum_step", "maximum_step", "fixed_step"),
    *("relative_tolerance", "absolute_tolerance"),
)


class Simulator(StepCalls):
    """Advances the trajectory of a system; only the State is changed by it.

    The Step itself is a `CompiledStep`, of the system, the integrator and the State, which can be replaced;
    `StepCalls` calls it, with errors and records. The Simulator goes on from step to step, with options, the
    monitor and real time.

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
        "findings": "read it: what was noticed stands there",
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
        super().__init__(system, state, endless_events, event_limit)
        self._accuracy = accuracy
        self._monitor: Monitor | None = None
        self._monitored: Monitored | None = None
        self._stride = stride.FIRST_STRIDE
        self._real_time = RealTime(self.state.time)
        self.final_time = final_time
        self._use_integrator(chosen_integrator(integrator, system, accuracy, options), accuracy)
        self._start_events(event_limit)

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

    # where a run begins and ends

    def reset_run(self, state: State) -> None:
        """Take another State, with which no run has begun, and clear all that was recorded or set before.

        `initialize` comes next.
        """
        self._reset_step(state)
        if self._accuracy is not None:
            state.accuracy = self._accuracy
        self._monitor = self._monitored = None
        self._stride = stride.FIRST_STRIDE
        self._real_time = RealTime(state.time)

    def _bind(self, state: State) -> None:
        self._monitored = None
        super()._bind(state)

    @property
    def final_time(self) -> float:
        """When it is reached the simulation is finished, s."""
        return self._final_time

    @final_time.setter
    def final_time(self, time: float | str) -> None:
        final = read_seconds(time, "final_time")
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
            text = f"is {quote(rate)}, needs a number of simulated seconds for each second; 0 for no limit"
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
        self._clear_records()
        state.agenda.initialized = 0
        self._bind(state)
        self.reset_statistics()
        if type(self._integrator).check is not Integrator.check:
            self._integrator.check(self._system, state.copy().realize(Stage.ACCELERATION))
        given_start, time = GivenStart(state), state.time
        self._attempt(time, self._call_step, "initialize", time, suppressed=suppress_initialization_events)
        answer = self._handlers.worst_answer()
        self._findings += given_start.findings(state)
        self._findings += passed_timers(state, step.tables.events.entries)
        try:
            self._findings += self._attempt(time, lambda target: solver_notices(step, state))
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
        """Advance toward a time, for about a tenth of a second of wall-clock time (one step at least)."""
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
        boundary_time = read_seconds(boundary_time, "boundary_time")
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
        """Where steps toward a boundary go, s: the final time at most."""
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

    # many steps; `wanted` is the time where the call was to go, s

    def _advance_stride(self, target: float, requested: float) -> bool:
        """A tenth of a second of steps or 1 MB of rows, or one step with a rate to keep."""
        if self._real_time.target_rate > 0.0:
            return self._advance(target, requested)
        began, recorded_before = wall.perf_counter(), self.recorded_values
        has_arrived = self._advance(target, requested, self._stride)
        recorded = self.recorded_values - recorded_before
        self._stride = stride.next_stride(self._stride, wall.perf_counter() - began, recorded)
        return has_arrived

    def _advance(self, target: float, requested: float, most_steps: int = 1) -> bool:
        """Up to `most_steps` steps toward `target`, then the monitor; whether it was reached."""
        if self._real_time.target_rate > 0.0:
            self._real_time.wait(self.state.time)
        code, answer = failures.GROW, None
        if self._monitor is not None and most_steps > 1 and not is_plain():
            code, answer = self._attempt(requested, self._advance_monitored, target, most_steps)
        if code == failures.GROW:
            most_steps = most_steps if self._monitor is None else 1
            code = self._attempt(requested, self._call_step, "advance", target, most_steps)
        if answer is None:
            answer = self._handlers.worst_answer()
            if self._monitor is not None and self.state.agenda.next_start == UPDATES_WAIT:
                # where an update has asked to stop there was no step
                answer = worst((answer, self._attempt(requested, self._call_monitor, self._monitor)))
        self._report(answer, requested)
        return bool(code == failures.REACHED)

    def _advance_monitored(
        self, requested: float, target: float, most_steps: int
    ) -> tuple[int, EventStatus | None]:
        """Up to `most_steps` steps; the monitor is called after each that ends as steps do."""
        if self._monitored is None:
            assert self._monitor is not None
            self._monitored = Monitored(self._step, self.state, self._monitor, self._collect_records)
        code, answer = self._monitored.advance(target, most_steps)
        if code != failures.GROW:
            self._check_code(requested, code)
        return code, answer

    def _collect_records(self) -> None:
        """Collect events and interrupts after a step that succeeded."""
        if self._step.arrays.output.log_used > 0 or self._handlers.interrupted is not None:
            self._check_code(math.nan, failures.STEPPED)

    def _call_monitor(self, requested: float, monitor: Monitor) -> EventStatus:
        """Call the monitor; an exception in it becomes a `SimulationError`."""
        state = self.state
        if state.stage < Stage.REPORT:
            self._check_code(requested, self._step.call("evaluate", state.time))
        return call_monitor(state, monitor)

    def reset_statistics(self) -> None:
        """Set all counts to 0, and where the actual real-time rate is measured from."""
        self._origin = self._integrator.counts
        reset_counters(self._step)
        self._real_time.start(self.state.time)
