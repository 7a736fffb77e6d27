"""Simulator: advances a State through time, step by step."""

from __future__ import annotations

import math
import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from cosim.cause import EventCause
from cosim.contracts.compiled_integrator import SMOOTH_UNTIL
from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError, StateError
from cosim.simulation.agenda import BOTH, FINISHED, INITIALIZED, TIME_ADVANCED, UPDATES_DONE, Agenda
from cosim.simulation.continuous_phase import ContinuousPhase
from cosim.simulation.dispatch import NOTHING, Dispatch, handler_failure
from cosim.simulation.event_log import EventRecord
from cosim.simulation.statistics import Statistics
from cosim.simulation.status import EventStatus, Reason, Severity, SimulatorStatus, worst
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

UPDATE_CAUSES = (EventCause.TRIGGERED, EventCause.SCHEDULED, EventCause.TIME_ADVANCED)
PUBLISH_CAUSES = (*UPDATE_CAUSES, EventCause.SIGNALED)
BEFORE, AFTER = 0.0, 1.0  # sides of an instant
Monitor = Callable[[State], EventStatus | None]


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
        **options: Any,
    ) -> None:
        self._system = system
        self._state: State | None = system.default_state() if state is None else self._of_this_system(state)
        self.final_time = final_time
        self.events: list[EventRecord] = []
        self.on_step: Callable[[State], None] | None = None
        self.on_jump: Callable[[State], None] | None = None
        self._monitor: Monitor | None = None
        self._target_rate = 0.0
        self._agenda = Agenda(system)
        self._dispatch = Dispatch(system, self._agenda, self.events)
        self._continuous = ContinuousPhase(system, self._agenda)
        kinks = [v.slot.offset for v in system.variables.values() if v.path.endswith(f".{SMOOTH_UNTIL}")]
        self._kinks = np.array(kinks, dtype=np.int64)
        self.reset_integrator(integrator, accuracy=accuracy, **options)
        self._status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, self.state.time, self.state.time)
        self.reset_statistics()
        if self._agenda.is_started(self.state) and self._agenda.stamped_time(self.state) == self.state.time:
            self._refresh()

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
        accuracy = None if self._state is None else self._state.accuracy
        self._state = None if state is None else self._of_this_system(state)
        if state is not None and state.accuracy is None:
            state.accuracy = accuracy

    def _of_this_system(self, state: State) -> State:
        if state.system is not self._system and state.system.digest != self._system.digest:
            raise StateError("this State belongs to another system: its parts, connections or options differ")
        return state

    def release_state(self) -> State:
        """Give the State away; the simulator cannot go on without one."""
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
        replaced = hasattr(self, "_integrator")
        self._integrator: Integrator = integrator
        if self._state is not None:
            if replaced:
                self._state.integrator_memory = self._state.integrator_memory[:0].copy()
                self._agenda.stop(self._state)
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
        now, counts = self._integrator.statistics, self._dispatch.statistics
        counts.rejections = now.rejections - self._origin[0]
        counts.evaluations = now.evaluations - self._origin[1]
        return counts

    def reset_statistics(self) -> None:
        """Forget the counts, and where the actual real-time rate is measured from."""
        now = self._integrator.statistics
        self._origin = (now.rejections, now.evaluations)
        self._dispatch.statistics = Statistics()
        self._wall_origin = (wall.perf_counter(), self.state.time)

    # monitor and real time

    @property
    def monitor(self) -> Monitor | None:
        """Called at the end of every step with the State; may answer an `EventStatus`."""
        return self._monitor

    def set_monitor(self, monitor: Monitor) -> None:
        """Have a function called at the end of every step, after all publishes."""
        self._monitor = monitor

    def clear_monitor(self) -> None:
        """Remove the monitor."""
        self._monitor = None

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
        return self._continuous.isolation_window(self.state, self._integrator)

    # advancing

    def initialize(self, *, suppress_initialization_events: bool = False) -> SimulatorStatus:
        """The 0th step: initialization events, then the publishes of this time, then the monitor."""
        state = self.state
        self._agenda.start(state)
        state.integrator_memory = state.integrator_memory[:0].copy()
        self.reset_statistics()
        self.events.clear()
        self._refresh()
        statuses = []
        if not suppress_initialization_events:
            statuses = [self._dispatch.updates(state, (EventCause.INITIALIZATION,))]
        statuses.append(self._dispatch.take_signals(state))
        # Twice: a derivative that depends on a delayed value is known once there is a past.
        self._auto_update(BEFORE)
        self._auto_update(BEFORE)
        self._integrator.initialize(self._system, state)
        state.jumped = False
        state.agenda[INITIALIZED] = 1
        self._agenda.stamp(state)
        if worst(statuses).severity < Severity.REACHED_TERMINATION:
            causes: tuple[EventCause, ...] = (
                EventCause.SCHEDULED,
                EventCause.TIME_ADVANCED,
                EventCause.SIGNALED,
            )
            if not suppress_initialization_events:
                causes = (EventCause.INITIALIZATION, *causes)
            statuses.append(self._end_of_step(causes))
        state.agenda[TIME_ADVANCED] = BOTH
        return self._finish_call(worst(statuses), state.time)

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
            return self._end_run(status)
        target = self._target(boundary_time)
        while True:
            answer = self._step(target)
            if answer.severity >= Severity.REACHED_TERMINATION or self.state.time >= target:
                break
        return self._end_run(self._finish_call(answer, boundary_time))

    def step(self, boundary_time: float = math.inf) -> SimulatorStatus:
        """One step, no further than `boundary_time` (s)."""
        status = self._start_if_needed()
        if status is not None and not status.succeeded:
            return self._end_run(status)
        answer = self._step(self._target(boundary_time))
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
            answer = self._step(self.state.time)  # what is pending at the final time runs first
            status = self._finish_call(answer, status.boundary_time)
        self.finish()
        self._status = status
        return status

    def advance_pending_events(self) -> SimulatorStatus:
        """Do the updates that are pending now, without advancing time: a step of length zero."""
        self._start_if_needed()
        return self._finish_call(self._step(self.state.time), self.state.time)

    def finish(self) -> SimulatorStatus:
        """Issue the cause Termination, once for each end of a run.

        Signals that its handlers raise stay set in the final State.
        """
        self._start_if_needed()
        state = self.state
        if state.agenda[FINISHED]:
            return self._status
        state.agenda[FINISHED] = 1
        statuses = [self._dispatch.updates(state, (EventCause.TERMINATION,))]
        self._refresh()
        statuses.append(self._dispatch.publishes(state, (EventCause.TERMINATION,)))
        return self._finish_call(worst(statuses), self.state.time)

    # one step

    def _step(self, boundary: float) -> EventStatus:
        state, agenda = self.state, self._agenda
        if self._target_rate > 0.0:
            self._pace()
        self._refresh()
        status = NOTHING
        if not state.agenda[UPDATES_DONE]:
            self._note_outside_writes()
            if agenda.entries:
                status = self._start_of_step()
                if status.severity >= Severity.REACHED_TERMINATION:
                    state.agenda[UPDATES_DONE] = 1
                    return status
        state.agenda[UPDATES_DONE] = 0
        start = state.time
        agenda.follow_parameters(state)
        event_time = min((agenda.next_time(state, e) for e in agenda.scheduled), default=math.inf)
        self._dispatch.window = None
        kink = state._arrays["c"][self._kinks].min(initial=math.inf)
        try:
            if start < min(event_time, boundary):
                self._dispatch.window = self._continuous.advance(
                    state, self._integrator, event_time, boundary
                )
        finally:
            agenda.stamp(state)
        if state.time > start:
            state.agenda[TIME_ADVANCED], state.agenda[FINISHED] = BOTH, 0
            self._auto_update(BEFORE)
            if state.time >= kink - 1e-14 * max(1.0, abs(state.time)):
                # a delayed signal has jumped just now: whoever remembers it keeps both sides
                self._auto_update(AFTER)
        self._dispatch.statistics.steps += 1
        if self.on_step is not None:
            self.on_step(state)
        if not agenda.entries and self._monitor is None:
            return status
        return worst([status, self._end_of_step(PUBLISH_CAUSES)])

    def _start_of_step(self) -> EventStatus:
        """The updates that are due, and those that their signals cause."""
        state = self.state
        before = list(state.versions)
        statuses = [self._dispatch.updates(state, UPDATE_CAUSES), self._dispatch.take_signals(state)]
        self._refresh()
        if state.versions != before:
            self._auto_update(AFTER)
            self._integrator.restart(self._system, state)
            if self.on_jump is not None:
                self.on_jump(state)
        return worst(statuses)

    def _end_of_step(self, causes: tuple[EventCause, ...]) -> EventStatus:
        """Publishes, then the monitor."""
        status = self._dispatch.publishes(self.state, causes)
        if self._monitor is not None:
            status = worst([status, self._dispatch.monitor(self.state, self._monitor)])
        if status.severity is Severity.FAILED:
            raise self._failed(status)
        return status

    @property
    def is_initialized(self) -> bool:
        """Whether `initialize` was called for this State, possibly in another process."""
        return self._agenda.is_started(self.state)

    @property
    def has_pending_updates(self) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        causes, kinds = (EventCause.TRIGGERED, EventCause.SCHEDULED), ("unrestricted", "discrete")
        return any(self._dispatch.due(self.state, cause, does) for cause in causes for does in kinds)

    # the rest

    def _refresh(self) -> None:
        """Realize to Acceleration, where a step begins and ends."""
        state = self.state
        if state.stage < Stage.ACCELERATION:
            self._system.realize(state, Stage.ACCELERATION)

    def _auto_update(self, side: float) -> None:
        """Run the auto-updates: histories and other memories get the present values."""
        self._refresh()
        first, last = self._system.update_range
        if first != last:
            self._system.run_auto_updates(self.state, side)
            self._refresh()

    def _note_outside_writes(self) -> None:
        """What was written to the State since the last step is a jump at this instant."""
        if self.state.jumped:
            self._auto_update(AFTER)
            self.state.jumped = False

    def _start_if_needed(self) -> SimulatorStatus | None:
        state = self.state
        if not self._agenda.is_started(state):
            return self.initialize()
        if self._agenda.stamped_time(state) != state.time:
            raise SimulationError(
                state.time, "the time of the State has changed since the last step: call initialize() first"
            )
        return None

    def _pace(self) -> None:
        since, start = self._wall_origin
        wait = (self.state.time - start) / self._target_rate - (wall.perf_counter() - since)
        if wait > 0.0:
            wall.sleep(wait)

    def _failed(self, status: EventStatus) -> SimulationError:
        self._status = SimulatorStatus(
            Reason.EVENT_HANDLER_FAILED, math.nan, self.state.time, status.source, status.message
        )
        return handler_failure(self.state, status)

    def _finish_call(self, status: EventStatus, boundary: float) -> SimulatorStatus:
        reason = Reason.REACHED_BOUNDARY_TIME
        source = message = ""
        if status.severity is Severity.REACHED_TERMINATION:
            reason, source, message = Reason.REACHED_TERMINATION, status.source, status.message
        elif status.severity is Severity.FAILED:
            raise self._failed(status)
        self._status = SimulatorStatus(reason, boundary, self.state.time, source, message)
        return self._status
