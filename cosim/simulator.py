"""Simulator: advances a State through time, step by step."""

from __future__ import annotations

import math
import time as wall
from collections.abc import Callable
from typing import Any

from cosim.agenda import INITIALIZED, TIME_ADVANCED, UPDATES_DONE, Agenda, Entry
from cosim.cause import EventCause
from cosim.contracts.integrator import Integrator, StepCode
from cosim.errors import SimulationError
from cosim.event_log import EventRecord
from cosim.isolation import Probe, first_crossing
from cosim.stage import Stage
from cosim.state import State
from cosim.statistics import Statistics
from cosim.status import EventStatus, Reason, Severity, SimulatorStatus, worst
from cosim.system import System
from cosim.update_phase import handler_table, run_handlers, take_over

UPDATE_CAUSES = (EventCause.TRIGGERED, EventCause.SCHEDULED, EventCause.TIME_ADVANCED)
PUBLISH_CAUSES = (*UPDATE_CAUSES, EventCause.SIGNALED)
SIGNAL_ROUNDS = 100
CHARACTERISTIC_TIME = 1.0  # s; the isolation window is 0.01 * accuracy * this, as in Drake's Simulator
NOTHING = EventStatus.did_nothing()
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
        self._state: State | None = system.default_state() if state is None else state
        self.final_time = final_time
        self.events: list[EventRecord] = []
        self.on_step: Callable[[State], None] | None = None
        self.on_jump: Callable[[State], None] | None = None
        self._monitor: Monitor | None = None
        self._target_rate = 0.0
        self._agenda = Agenda(system)
        self._handlers = handler_table(self._agenda.entries)
        self._probe = Probe(system, self._agenda) if self._agenda.witnesses else None
        self._window: tuple[float, float] | None = None
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
        """Take another State of the same system; call `initialize` before going on."""
        self._state = state

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

        A State that goes on from a saved one keeps the memory that fits the new integrator.
        """
        if isinstance(integrator, str):
            from cosim.registry import registry

            integrator = registry().get("integrator", integrator)
        if isinstance(integrator, type):
            integrator = (
                integrator(accuracy=accuracy, **options) if accuracy is not None else integrator(**options)
            )
        replaced = hasattr(self, "_integrator")
        self._integrator: Integrator = integrator
        if self._state is not None:
            if replaced:
                self._state.integrator_memory = self._state.integrator_memory[:0].copy()
                self._state.agenda = self._state.agenda[:0].copy()
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
        now = self._integrator.statistics
        self._statistics.rejections = now.rejections - self._origin[0]
        self._statistics.evaluations = now.evaluations - self._origin[1]
        return self._statistics

    def reset_statistics(self) -> None:
        """Forget the counts, and where the actual real-time rate is measured from."""
        now = self._integrator.statistics
        self._origin = (now.rejections, now.evaluations)
        self._statistics = Statistics()
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
        accuracy, fixed = self.state.accuracy, self._integrator.fixed_step
        smallest = max(1e-14, 1e-14 * abs(self.state.time))
        if accuracy is None:
            if fixed is not None:
                return None
            raise SimulationError(
                self.state.time,
                "the accuracy is not set, so events cannot be located: give the Simulator an accuracy",
            )
        return max(smallest, 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed is None else fixed))

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
            statuses = [self._run_updates((EventCause.INITIALIZATION,))]
        self._take_signals(statuses)
        self._refresh()
        self._append("after" if statuses else "before")
        self._integrator.initialize(self._system, state)
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
            statuses.append(self._publish(causes))
        state.agenda[TIME_ADVANCED] = 1
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
            return status
        if math.isnan(boundary_time) or boundary_time < self.state.time:
            raise SimulationError(
                self.state.time, f"cannot advance to {boundary_time:.9g} s, which is in the past"
            )
        target = min(boundary_time, self.final_time)
        while True:
            answer = self._step(target)
            if answer.severity >= Severity.REACHED_TERMINATION or self.state.time >= target:
                break
        status = self._finish_call(answer, boundary_time)
        if self.state.time >= self.final_time or not status.succeeded:
            if status.succeeded:
                self.advance_pending_events()
            self.finish()
            self._status = status
        return status

    def step(self, boundary_time: float = math.inf) -> SimulatorStatus:
        """One step, no further than `boundary_time` (s)."""
        status = self._start_if_needed()
        if status is not None and not status.succeeded:
            return status
        return self._finish_call(self._step(min(boundary_time, self.final_time)), self.state.time)

    def advance_pending_events(self) -> SimulatorStatus:
        """Do the updates that are pending now, without advancing time: a step of length zero."""
        self._start_if_needed()
        return self._finish_call(self._step(self.state.time), self.state.time)

    def finish(self) -> SimulatorStatus:
        """Issue the cause Termination; signals that its handlers raise stay set in the final State."""
        self._start_if_needed()
        statuses = [self._run_updates((EventCause.TERMINATION,))]
        self._refresh()
        statuses.append(self._run_publishes((EventCause.TERMINATION,)))
        return self._finish_call(worst(statuses), self.state.time)

    # one step

    def _step(self, boundary: float) -> EventStatus:
        state, agenda = self.state, self._agenda
        if self._target_rate > 0.0:
            self._pace()
        self._refresh()
        status = NOTHING
        if not state.agenda[UPDATES_DONE]:
            self._append("before")
            if agenda.entries:
                status = self._start_of_step()
                if status.severity >= Severity.REACHED_TERMINATION:
                    state.agenda[UPDATES_DONE] = 1
                    return status
        state.agenda[UPDATES_DONE] = 0
        start = state.time
        stop = min(boundary, self._next_scheduled()) if agenda.scheduled else boundary
        self._window = self._integrate(stop) if start < stop else None
        if state.time > start:
            state.agenda[TIME_ADVANCED] = 1
        agenda.stamp(state)
        self._statistics.steps += 1
        if self.on_step is not None:
            self.on_step(state)
        if not agenda.entries and self._monitor is None:
            return status
        return worst([status, self._publish(PUBLISH_CAUSES)])

    def _start_of_step(self) -> EventStatus:
        """The updates that are due, and the signals that they raise."""
        state = self.state
        before = list(state.versions)
        statuses = [self._run_updates(UPDATE_CAUSES)]
        self._take_signals(statuses)
        self._refresh()
        if state.versions != before:
            self._append("after")
            self._integrator.restart(self._system, state)
            if self.on_jump is not None:
                self.on_jump(state)
        return worst(statuses)

    def _integrate(self, stop: float) -> tuple[float, float] | None:
        """One step of the integrator toward `stop`; the window of a triggered event that ended it."""
        state, system = self.state, self._system
        before = self._probe.now(state).copy() if self._probe else None
        start = state.time
        if system.ny == 0:
            if not math.isfinite(stop):
                raise SimulationError(
                    start, "nothing here takes time: no states and no scheduled event; give a finite time"
                )
            state.set_time(stop)
            self._refresh()
        else:
            code = self._integrator.step(system, state, stop)
            if code is not StepCode.DONE:
                raise self._step_failure(code)
        if self._probe is None or before is None:
            return None
        return self._trigger(start, before)

    def _trigger(self, start: float, before: Any) -> tuple[float, float] | None:
        """End the step just past the first witness that crosses, and note what it triggers."""
        assert self._probe is not None
        state, agenda = self.state, self._agenda
        crossed = self._crossed(before, self._probe.now(state))
        window = (start, state.time)
        fixed_without_accuracy = self._integrator.fixed_step is not None and state.accuracy is None
        if self._system.ny and not fixed_without_accuracy and (crossed or state.accuracy is not None):
            length = self.witness_time_isolation
            assert length is not None
            found = first_crossing(self._probe, agenda.witnesses, state, self._integrator, before, length)
            if found is not None:
                window, crossed = self._go_to(found, before, length)
        for entry in agenda.entries:
            witness = entry.handler.witness
            if witness is not None and f"{entry.part}.{witness.name}" in crossed:
                state.agenda[entry.index] = 1
        return window if crossed else None

    def _crossed(self, before: Any, after: Any) -> set[str]:
        pairs = zip(self._agenda.witnesses, before, after, strict=True)
        return {w.path for w, a, b in pairs if w.triggers(a, b)}

    def _go_to(
        self, found: tuple[float, float], before: Any, length: float
    ) -> tuple[tuple[float, float], set[str]]:
        """Take the step again so that it ends just past the crossing; the window and who crossed."""
        assert self._probe is not None
        state, integrator = self.state, self._integrator
        low, high = found
        stop = state.time
        at_low = before if low <= integrator.previous_time else self._probe.at(state, integrator, low).copy()
        at_high = (
            self._probe.at(state, integrator, high).copy() if high < stop else self._probe.now(state).copy()
        )
        crossed = self._crossed(at_low, at_high)
        reach = length
        while high < stop:
            code = integrator.redo(self._system, state, high)
            if code is not StepCode.DONE:
                raise self._step_failure(code)
            # dense output and the step of its own differ a little: go on until the crossing has happened
            if crossed <= self._crossed(at_low, self._probe.now(state)):
                break
            high, reach = min(high + reach, stop), 2.0 * reach
            if high >= stop:
                integrator.redo(self._system, state, stop)
        return (low, state.time), crossed | self._crossed(before, self._probe.now(state))

    def _step_failure(self, code: StepCode) -> SimulationError:
        state, integrator = self.state, self._integrator
        if code is StepCode.BLOCK_FAILED:
            index = getattr(integrator, "failed_block", -1)
            if index >= 0:
                return self._system.failure(state, index)
        worst_state = getattr(integrator, "worst_state", -1)
        name = self._system.paths_at("y", [worst_state])[0] if worst_state >= 0 else ""
        where = f" ({name})" if name else ""
        return SimulationError(state.time, f"{code.sentence}{where} The State is that of the last good step.")

    # events

    def _run_updates(self, causes: tuple[EventCause, ...]) -> EventStatus:
        """Unrestricted, then discrete updates; inside each kind by cause. A failure drops its kind whole."""
        statuses = []
        for does, count in (("unrestricted", "unrestricted_updates"), ("discrete", "discrete_updates")):
            due = {cause: self._due(cause, does) for cause in causes}
            if not any(due.values()):
                continue
            backup = self.state.copy()
            phase = []
            for cause in causes:
                if not due[cause]:
                    continue
                self._refresh()
                phase.append(self._run(due[cause], does, backup))
            for cause in causes:
                self._done(due[cause])
            if EventCause.TIME_ADVANCED in causes and does == "discrete":
                self.state.agenda[TIME_ADVANCED] = 0
            statuses += phase
            if worst(phase).severity in (Severity.SUCCEEDED, Severity.REACHED_TERMINATION):
                setattr(self._statistics, count, getattr(self._statistics, count) + 1)
        return worst(statuses)

    def _run(self, entries: list[Entry], does: str, backup: State) -> EventStatus:
        try:
            status = run_handlers(self._system, self.state, entries, does, self._log, self._window)
        except SimulationError:
            take_over(self._system, self.state, backup)
            self._refresh()
            raise
        if status.severity is Severity.FAILED:
            take_over(self._system, self.state, backup)
            self._refresh()
            raise self._failed(status)
        return status

    def _take_signals(self, statuses: list[EventStatus]) -> None:
        """Rounds of signaled updates until no signal is set."""
        state = self.state
        rounds = 0
        while any(state._arrays["k"][offset] for offset in self._agenda.signals):
            if rounds == SIGNAL_ROUNDS:
                names = [
                    p
                    for o in self._agenda.signals
                    if state._arrays["k"][o]
                    for p in self._system.paths_at("k", [o])
                ]
                raise SimulationError(state.time, f"signals raise each other without end: {', '.join(names)}")
            rounds += 1
            for entry in self._agenda.entries:
                if entry.handler.cause is EventCause.SIGNALED:
                    offset = self._system.signal(f"{entry.part}.{entry.handler.signal}").slot.offset
                    state.agenda[entry.index] = max(
                        int(state.agenda[entry.index]), int(bool(state._arrays["k"][offset]))
                    )
            for offset in self._agenda.signals:
                state._arrays["k"][offset] = 0
            state.invalidate(Stage.TIME, "signals taken")
            self._refresh()
            statuses.append(self._run_updates((EventCause.SIGNALED,)))

    def _publish(self, causes: tuple[EventCause, ...]) -> EventStatus:
        status = self._run_publishes(causes)
        if self._monitor is not None:
            status = worst([status, self._call_monitor()])
        if status.severity is Severity.FAILED:
            raise self._failed(status)
        return status

    def _run_publishes(self, causes: tuple[EventCause, ...]) -> EventStatus:
        due = {cause: self._due(cause, "publish") for cause in causes}
        if not any(due.values()):
            return EventStatus.did_nothing()
        self._system.realize(self.state, Stage.REPORT)
        statuses = [
            run_handlers(self._system, self.state, due[c], "publish", self._log, self._window)
            for c in causes
            if due[c]
        ]
        for cause in causes:
            self._done(due[cause])
        status = worst(statuses)
        if status.severity in (Severity.SUCCEEDED, Severity.REACHED_TERMINATION):
            self._statistics.publishes += 1
        return status

    def _call_monitor(self) -> EventStatus:
        assert self._monitor is not None
        self._system.realize(self.state, Stage.REPORT)
        try:
            answer = self._monitor(self.state)
        except SimulationError:
            raise
        except Exception as error:
            raise SimulationError(self.state.time, f"monitor: {type(error).__name__}: {error}") from error
        if answer is None:
            return EventStatus.did_nothing()
        return EventStatus(answer.severity, answer.message, "monitor")

    def _due(self, cause: EventCause, does: str) -> list[Entry]:
        entries = self._handlers.get((cause, does), [])
        if not entries:
            return entries
        state = self.state
        if cause in (EventCause.TRIGGERED, EventCause.SIGNALED):
            return [e for e in entries if state.agenda[e.index]]
        if cause is EventCause.SCHEDULED:
            return [e for e in entries if self._agenda.next_time(state, e) <= state.time]
        if cause is EventCause.TIME_ADVANCED and does != "publish":
            return entries if state.agenda[TIME_ADVANCED] else []
        return entries

    def _done(self, entries: list[Entry]) -> None:
        for entry in entries:
            if entry.handler.cause in (EventCause.TRIGGERED, EventCause.SIGNALED):
                self.state.agenda[entry.index] = 0
            elif entry.handler.cause is EventCause.SCHEDULED:
                while self._agenda.next_time(self.state, entry) <= self.state.time:
                    self.state.agenda[entry.index] += 1

    def _next_scheduled(self) -> float:
        state, agenda = self.state, self._agenda
        return min((agenda.next_time(state, e) for e in agenda.scheduled), default=math.inf)

    @property
    def has_pending_updates(self) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        causes = (EventCause.TRIGGERED, EventCause.SCHEDULED)
        return any(self._due(cause, does) for cause in causes for does in ("unrestricted", "discrete"))

    # the rest

    def _refresh(self) -> None:
        """Realize to Acceleration, where a step begins and ends."""
        state = self.state
        if state.stage < Stage.ACCELERATION:
            self._system.realize(state, Stage.ACCELERATION)

    def _append(self, side: str) -> None:
        """Auto-updates: histories get the present values; storage grows until all fit."""
        first, last = self._system.update_range
        if first == last:
            return
        self._refresh()
        self._system.append_histories(self.state, 0.0 if side == "before" else 1.0)
        self._refresh()

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

    def _log(self, record: EventRecord) -> None:
        self._statistics.events += 1
        self.events.append(record)

    def _failed(self, status: EventStatus) -> SimulationError:
        self._status = SimulatorStatus(
            Reason.EVENT_HANDLER_FAILED, math.nan, self.state.time, status.source, status.message
        )
        return SimulationError(self.state.time, f"{status.source} failed: {status.message}")

    def _finish_call(self, status: EventStatus, boundary: float) -> SimulatorStatus:
        reason = Reason.REACHED_BOUNDARY_TIME
        source = message = ""
        if status.severity is Severity.REACHED_TERMINATION:
            reason, source, message = Reason.REACHED_TERMINATION, status.source, status.message
        elif status.severity is Severity.FAILED:
            raise self._failed(status)
        self._status = SimulatorStatus(reason, boundary, self.state.time, source, message)
        return self._status
