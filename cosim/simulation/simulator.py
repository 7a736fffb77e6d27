"""Simulator: advances a State through time, step by step."""

from __future__ import annotations

import math
import time as wall
from collections.abc import Callable
from typing import Any

from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError, StateError
from cosim.integration.projection import END, PREPARE
from cosim.simulation.agenda import FINISHED
from cosim.simulation.event_log import EventRecord, Finding
from cosim.simulation.interrupt import interrupt_between_steps
from cosim.simulation.statistics import Statistics
from cosim.simulation.status import EventStatus, Reason, Severity, SimulatorStatus
from cosim.simulation.stepping import Monitor, Stepping
from cosim.simulation.witness_watch import POLICIES
from cosim.system.state import State
from cosim.system.system import System


class Simulator:
    """Advances the trajectory of a system; only the State is changed by it.

    A step is: updates that are pending at its start (unrestricted, then discrete, inside each kind by
    cause), integration no further than the next scheduled event, publishes due at its end, the monitor.

    Parameters
    ----------
    system : System
    state : State, optional
        The default State unless given. One that was saved in the middle of a run goes on where it was.
    integrator : str, class or Integrator
        Id of an integrator plugin, its class, or one that is made already.
    accuracy : float, optional
        Of the integration; the isolation window of events follows it.
    final_time : float
        When it is reached the simulation is finished, s.
    endless_events : str
        What to do about a witness whose events chatter or pile up at an instant: "hold" it in its sliding
        mode, only "report" it, or "stop" with an error. All are told in `findings`.
    **options
        For the integrator: ``fixed_step``, ``maximum_step`` …

    Raises
    ------
    LookUpError
        No such integrator.

    References
    ----------
    Drake C++ documentation, class ``Simulator``; Simbody, class ``Event::Cause``.
    """

    def __init__(
        self,
        system: System,
        state: State | None = None,
        integrator: str | type[Integrator] | Integrator = "integrators.runge_kutta_merson",
        accuracy: float | None = None,
        final_time: float = math.inf,
        endless_events: str = "hold",
        **options: Any,
    ) -> None:
        if endless_events not in POLICIES:
            raise ModelError.of(
                "endless_events", f"is {endless_events!r}, needs one of {', '.join(map(repr, POLICIES))}"
            )
        self._system = system
        self._state: State | None = system.default_state() if state is None else self._of_this_system(state)
        self.final_time = final_time
        self.events: list[EventRecord] = []
        self.findings: list[Finding] = []
        self._target_rate = 0.0
        self._is_busy = False
        self._stepping = Stepping(system, endless_events, self.events, self.findings)
        self.reset_integrator(integrator, accuracy=accuracy, **options)
        self._status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, self.state.time, self.state.time)
        self.reset_statistics()
        agenda = self._stepping.agenda
        if agenda.is_started(self.state) and agenda.stamped_time(self.state) == self.state.time:
            self._stepping.refresh(self.state)

    # what it holds

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
        self._not_from_inside()
        accuracy = None if self._state is None else self._state.accuracy
        self._state = None if state is None else self._of_this_system(state)
        self._stepping.dispatch.located = None
        if state is not None and state.accuracy is None:
            state.accuracy = accuracy

    def _of_this_system(self, state: State) -> State:
        if state.system is not self._system and state.system.digest != self._system.digest:
            raise StateError("this State belongs to another system: its parts, connections or options differ")
        return state

    def release_state(self) -> State:
        """Give the State away; the simulator cannot go on without one."""
        self._not_from_inside()
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
        self._not_from_inside()
        if isinstance(integrator, str):
            from cosim.registration.registry import registry

            integrator = registry().get("integrator", integrator)
        if isinstance(integrator, type):
            integrator = (
                integrator(accuracy=accuracy, **options) if accuracy is not None else integrator(**options)
            )
        elif options:
            names = ", ".join(options)
            raise ModelError.of(
                "integrator", f"it is made already: give {names} to {type(integrator).__name__}()"
            )
        corrections = self._system.projection
        if corrections[PREPARE] != corrections[END] and not integrator.capabilities.supports_constraints:
            raise ModelError.of(
                "integrator",
                f"{type(integrator).__name__} cannot keep constraints, and this system has some: choose "
                "a method whose capabilities say supports_constraints.",
            )
        replaced = hasattr(self, "_integrator")
        self._integrator: Integrator = integrator
        self._origin = integrator.statistics
        if self._state is not None:
            if replaced:
                self._state.integrator_memory = self._state.integrator_memory[:0].copy()
                self._stepping.agenda.stop(self._state)
            if accuracy is not None:
                self._state.accuracy = accuracy
        return integrator

    @property
    def status(self) -> SimulatorStatus:
        """How the last call ended."""
        return self._status

    @property
    def statistics(self) -> Statistics:
        """Counts since `initialize` or `reset_statistics`."""
        now, counts = self._integrator.statistics, self._stepping.dispatch.statistics
        counts.integrator_steps = now.steps - self._origin.steps
        counts.rejections = now.rejections - self._origin.rejections
        counts.evaluations = now.evaluations - self._origin.evaluations + counts.realizations
        return counts

    def reset_statistics(self) -> None:
        """Forget the counts, and where the actual real-time rate is measured from."""
        self._origin = self._integrator.statistics
        self._stepping.dispatch.statistics = Statistics()
        self._wall_origin = (wall.perf_counter(), self.state.time)

    # monitor and real time

    @property
    def monitor(self) -> Monitor | None:
        """Called at the end of every step with the State; may answer an `EventStatus`."""
        return self._stepping.monitor

    def set_monitor(self, monitor: Monitor) -> None:
        """Have a function called at the end of every step, after all publishes."""
        self._stepping.monitor = monitor

    def clear_monitor(self) -> None:
        """Remove the monitor."""
        self._stepping.monitor = None

    def watch_steps(
        self, on_step: Callable[[State], None] | None, on_jump: Callable[[State], None] | None
    ) -> None:
        """Have functions called with the State: when a step has ended, and when updates have changed it.

        For recorders: unlike a monitor they answer nothing and see both sides of an event.
        """
        self._stepping.on_step, self._stepping.on_jump = on_step, on_jump

    @property
    def target_realtime_rate(self) -> float:
        """Simulated seconds for each second, at most; 0 means as fast as possible."""
        return self._target_rate

    @target_realtime_rate.setter
    def target_realtime_rate(self, rate: float) -> None:
        self._target_rate = max(0.0, float(rate))

    @property
    def actual_realtime_rate(self) -> float:
        """Simulated seconds a second since `initialize` or `reset_statistics`; NaN before the first step."""
        since, start = self._wall_origin
        return (
            (self.state.time - start) / (wall.perf_counter() - since) if self.state.time > start else math.nan
        )

    @property
    def witness_time_isolation(self) -> float | None:
        """Length of the window to which triggered events are located, s; None when they are not.

        Raises
        ------
        SimulationError
            Under error control without an accuracy in the State.
        """
        return self._stepping.continuous.isolation_window(self.state, self._integrator)

    # advancing

    def initialize(self, *, suppress_initialization_events: bool = False) -> SimulatorStatus:
        """The 0th step: initialization events, then the publishes of this time, then the monitor."""
        self._not_from_inside()
        state = self.state
        state.integrator_memory = state.integrator_memory[:0].copy()
        self.reset_statistics()
        self.events.clear()
        self.findings.clear()
        suppressed = suppress_initialization_events
        status = self._run(state.time, self._stepping.initialize, state, self._integrator, suppressed)
        return self._end_if_asked(self._finish_call(status, state.time))

    def advance_to(self, boundary_time: float) -> SimulatorStatus:
        """Advance until a time is reached, exactly, or a handler asks to stop.

        Parameters
        ----------
        boundary_time : float
            s, not before the State's time.

        Raises
        ------
        SimulationError
            A handler or the integration failed; the State is the last good one.
        """
        status = self._start_if_needed()
        if status is not None and not status.succeeded:
            return status
        target = self._target(boundary_time)
        try:
            with interrupt_between_steps() as check:
                while True:
                    answer = self._stride(target, boundary_time)
                    if answer.severity >= Severity.REACHED_TERMINATION or self.state.time >= target:
                        break
                    check()
        except KeyboardInterrupt:
            self._status = SimulatorStatus(Reason.INTERRUPTED, boundary_time, self.state.time)
            raise
        return self._end_run(self._finish_call(answer, boundary_time))

    def step(self, boundary_time: float = math.inf) -> SimulatorStatus:
        """One step, no further than `boundary_time` (s)."""
        status = self._start_if_needed()
        if status is not None and not status.succeeded:
            return status
        answer = self._step(self._target(boundary_time), boundary_time)
        return self._end_run(self._finish_call(answer, self.state.time))

    def _target(self, boundary_time: float) -> float:
        if math.isnan(boundary_time) or boundary_time < self.state.time:
            raise SimulationError(
                self.state.time, f"cannot advance to {boundary_time:.9g} s, which is in the past"
            )
        return min(boundary_time, self.final_time)

    def _end_run(self, status: SimulatorStatus) -> SimulatorStatus:
        """Issue Termination where the run ends here: at the final time, or because somebody asked to stop."""
        if status.succeeded and self.state.time < self.final_time:
            return status
        if status.succeeded:
            # what is pending at the final time runs first
            wanted = status.boundary_time
            status = self._finish_call(self._step(self.state.time, wanted), wanted)
            while status.succeeded and self.has_pending_updates:
                status = self._finish_call(self._step(self.state.time, wanted), wanted)
        self.finish()
        self._status = status
        return status

    def _end_if_asked(self, status: SimulatorStatus) -> SimulatorStatus:
        """Issue Termination where somebody asked to stop."""
        return status if status.succeeded else self._end_run(status)

    def advance_pending_events(self) -> SimulatorStatus:
        """Do the updates that are pending now, without advancing time: a step of length zero."""
        self._start_if_needed()
        time = self.state.time
        return self._end_if_asked(self._finish_call(self._step(time, time), time))

    def finish(self) -> SimulatorStatus:
        """Issue the cause Termination, once for each end of a run.

        Signals that its handlers raise stay set in the final State.
        """
        self._start_if_needed()
        state = self.state
        if state.agenda[FINISHED]:
            return self._status
        return self._finish_call(self._run(state.time, self._stepping.finish, state), state.time)

    def _step(self, target: float, wanted: float) -> EventStatus:
        if self._target_rate > 0.0:
            self._pace()
        return self._run(wanted, self._stepping.step, self.state, self._integrator, target)

    def _stride(self, target: float, wanted: float) -> EventStatus:
        if self._target_rate > 0.0:
            return self._step(target, wanted)
        return self._run(wanted, self._stepping.stride, self.state, self._integrator, target)

    def _run(self, wanted: float, part: Callable[..., EventStatus], *arguments: Any) -> EventStatus:
        """Do a part of a simulation toward `wanted` (s); when it fails, the status says so."""
        self._not_from_inside()
        self._is_busy = True
        try:
            return part(*arguments)
        except SimulationError as error:
            why = error.status
            reason = Reason.INTEGRATION_FAILED if why is None else Reason.EVENT_HANDLER_FAILED
            source, message = ("", error.reason) if why is None else (why.source, why.message)
            self._status = SimulatorStatus(reason, wanted, self.state.time, source, message)
            raise
        except KeyboardInterrupt:
            self._status = SimulatorStatus(Reason.INTERRUPTED, wanted, self.state.time)
            raise
        finally:
            self._is_busy = False

    def _not_from_inside(self) -> None:
        if self._is_busy:
            raise SimulationError(
                self.state.time,
                "this simulator is in the middle of a step: a handler or monitor cannot advance it, nor "
                "replace its State or integrator; do so when the call has come back",
            )

    @property
    def is_initialized(self) -> bool:
        """Whether `initialize` was called for this State, possibly in another process."""
        return self._stepping.agenda.is_started(self.state)

    @property
    def has_pending_updates(self) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        return self._stepping.has_pending_updates(self.state)

    # the rest

    def _start_if_needed(self) -> SimulatorStatus | None:
        state = self.state
        if not self._stepping.agenda.is_started(state):
            return self.initialize()
        if self._stepping.agenda.stamped_time(state) != state.time:
            raise SimulationError(
                state.time, "the time of the State has changed since the last step: call initialize() first"
            )
        return None

    def _pace(self) -> None:
        since, start = self._wall_origin
        wait = (self.state.time - start) / self._target_rate - (wall.perf_counter() - since)
        if wait > 0.0:
            wall.sleep(wait)

    def _finish_call(self, status: EventStatus, boundary: float) -> SimulatorStatus:
        reason, source, message = Reason.REACHED_BOUNDARY_TIME, "", ""
        if status.severity is Severity.REACHED_TERMINATION:
            reason, source, message = Reason.REACHED_TERMINATION, status.source, status.message
        self._status = SimulatorStatus(reason, boundary, self.state.time, source, message)
        return self._status
