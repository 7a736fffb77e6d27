"""One step of a simulation: updates, integration, publishes, monitor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cosim.cause import EventCause
from cosim.contracts.compiled_integrator import SMOOTH_UNTIL, slots_named
from cosim.contracts.integrator import Integrator
from cosim.simulation.agenda import BOTH, FINISHED, INITIALIZED, TIME_ADVANCED, UPDATES_DONE, Agenda, Entry
from cosim.simulation.assembler import assemble
from cosim.simulation.continuous_phase import ContinuousPhase
from cosim.simulation.dispatch import NOTHING, Dispatch, handler_failure
from cosim.simulation.event_log import EventRecord, Finding
from cosim.simulation.status import EventStatus, Severity, worst
from cosim.simulation.status_watch import StatusWatch
from cosim.simulation.step_interior import StepInterior
from cosim.simulation.witness_watch import WitnessWatch
from cosim.system.history_buffer import AFTER_ARRIVAL, AFTER_EVENT, BEFORE, margin
from cosim.system.state import State
from cosim.system.system import BREAK_ORDER, System

if TYPE_CHECKING:
    from numpy.typing import NDArray

UPDATE_CAUSES = (EventCause.TRIGGERED, EventCause.SCHEDULED, EventCause.TIME_ADVANCED)
PUBLISH_CAUSES = (*UPDATE_CAUSES, EventCause.SIGNALED)
FIRST_PUBLISH_CAUSES = (EventCause.SCHEDULED, EventCause.TIME_ADVANCED, EventCause.SIGNALED)
MOST = 10_000  # steps in a stride: what somebody who stops a run waits for at most
Monitor = Callable[[State], EventStatus | None]


class Stepping:
    """What a step consists of; whatever it remembers lies in the State.

    Parameters
    ----------
    system : System
    policy : str
        About witnesses whose events do not end: "hold", "report" or "stop".
    events, findings : list
        Records are appended.

    Attributes
    ----------
    monitor : callable or None
        Called with the State at the end of every step.
    on_step, on_jump : callable or None
        Called with the State when time has advanced (before publishes), and when updates have changed it.
    """

    def __init__(
        self, system: System, policy: str, events: list[EventRecord], findings: list[Finding]
    ) -> None:
        self.system = system
        self.agenda = Agenda(system)
        self.dispatch = Dispatch(system, self.agenda, events)
        self.watch = None
        if self.agenda.witnesses:
            self.watch = WitnessWatch(system, self.agenda, policy, findings.append)
            self.dispatch.is_held = self.watch.sliding
        self.status_watch = StatusWatch(system, findings.append)
        self.continuous = ContinuousPhase(system, self.watch)
        self.monitor: Monitor | None = None
        self.on_step: Callable[[State], None] | None = None
        self.on_jump: Callable[[State], None] | None = None
        self._kinks = np.array(slots_named(system, SMOOTH_UNTIL), dtype=np.int64)
        self._breaks = np.array(slots_named(system, BREAK_ORDER), dtype=np.int64)
        self._interior = StepInterior(system)

    def initialize(self, state: State, integrator: Integrator, suppressed: bool = False) -> EventStatus:
        """The 0th step; with `suppressed` events of cause Initialization are left out."""
        self.agenda.start(state)
        assemble(self.system, state)
        statuses = [] if suppressed else [self.dispatch.updates(state, (EventCause.INITIALIZATION,))]
        statuses.append(self.dispatch.take_signals(state))
        self.agenda.schedule_periods(state, self.agenda.following)
        self.agenda.check_timers(state)
        assemble(self.system, state)
        # Twice: a derivative that depends on a delayed value is known once there is a past.
        self._auto_update(state, integrator, BEFORE)
        self._auto_update(state, integrator, BEFORE)
        integrator.initialize(self.system, state)
        state.jumped = False
        self.status_watch.start()
        self.status_watch.look(state)
        if self.watch is not None:
            self.watch.start(state)
        state.agenda[INITIALIZED] = 1
        state.agenda[TIME_ADVANCED] = BOTH
        self.agenda.stamp(state)
        if worst(statuses).severity < Severity.REACHED_TERMINATION:
            first = () if suppressed else (EventCause.INITIALIZATION,)
            statuses.append(self._end_of_step(state, (*first, *FIRST_PUBLISH_CAUSES)))
        return worst(statuses)

    def stride(self, state: State, integrator: Integrator, boundary: float) -> EventStatus:
        """As `step`, but many of them in one call of the integrator where nothing looks in between."""
        ranges = self.system.update_ranges.values()
        looks = self.watch is not None or self.monitor is not None or self.on_step is not None
        looks = looks or bool(self.agenda.in_steps or self.agenda.signals) or self.status_watch.looks
        looks = looks or self._kinks.size > 0
        if looks or self.system.ny == 0 or any(first != last for first, last in ranges):
            return self.step(state, integrator, boundary)
        return self.step(state, integrator, boundary, MOST)

    def step(self, state: State, integrator: Integrator, boundary: float, most: int = 1) -> EventStatus:
        """Updates at the start, integration no further than `boundary` (s), publishes at the end."""
        agenda, dispatch = self.agenda, self.dispatch
        agenda.follow_parameters(state)
        agenda.check_timers(state)
        self.refresh(state)
        status = NOTHING
        if state.jumped or not state.agenda[UPDATES_DONE]:
            if state.jumped:
                status = self._note_jump(state, integrator)
            if agenda.in_steps or any(state._arrays["k"][offset] for offset in agenda.signals):
                status = worst([status, self._start_of_step(state, integrator)])
                if status.severity >= Severity.REACHED_TERMINATION:
                    state.agenda[UPDATES_DONE] = 1
                    return status
        state.agenda[UPDATES_DONE] = 0
        start, event_time = state.time, boundary
        before = integrator.steps if most > 1 else 0
        if agenda.scheduled:
            agenda.follow_parameters(state)
            agenda.check_timers(state)
            event_time = agenda.next_event_time(state)
        dispatch.located = None
        kink = float(state._arrays["c"][self._kinks].min(initial=math.inf))
        if start < kink < min(event_time, boundary) - margin(start):
            event_time = kink
        arrived = math.inf
        if start < min(event_time, boundary):
            try:
                dispatch.located = self.continuous.advance(state, integrator, event_time, boundary, most)
            finally:
                agenda.stamp(state)
        if state.time > start:
            state.agenda[TIME_ADVANCED], state.agenda[FINISHED] = BOTH, 0
            arrived = self._remember_step(state, integrator)
            if most > 1:
                self.dispatch.statistics.steps += integrator.steps - before - 1
        status = self._close(state, status)
        if arrived < integrator.order and not integrator.capabilities.restarts_cheaply:
            self.refresh(state)
            integrator.restart(self.system, state)
        return status

    def finish(self, state: State) -> EventStatus:
        """Termination; signals that its handlers raise stay set."""
        state.agenda[FINISHED] = 1
        statuses = [self.dispatch.updates(state, (EventCause.TERMINATION,))]
        self.refresh(state)
        statuses.append(_checked(state, self.dispatch.publishes(state, (EventCause.TERMINATION,))))
        return worst(statuses)

    def refresh(self, state: State) -> None:
        """Realize to Acceleration, where a step begins and ends."""
        self.dispatch.refresh(state)

    def has_pending_updates(self, state: State) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        causes, kinds = (EventCause.TRIGGERED, EventCause.SCHEDULED), ("unrestricted", "discrete")
        if state.agenda.size == 0:
            return False
        self.agenda.follow_parameters(state)
        return any(self.dispatch.due(state, cause, does) for cause in causes for does in kinds)

    # parts of a step

    def _remember_step(self, state: State, integrator: Integrator) -> float:
        """Append to histories what the step has brought; the order of a delayed break that has arrived.

        Where one has, whoever remembers a signal that follows it keeps both sides of this instant.
        """
        self.refresh(state)
        arrived = float(state._arrays["c"][self._breaks].min(initial=math.inf))
        self._interior.remember(state, integrator)
        self._auto_update(state, integrator, BEFORE)
        if arrived < math.inf:
            self._auto_update(state, integrator, AFTER_ARRIVAL, arrived)
        return arrived

    def _start_of_step(self, state: State, integrator: Integrator) -> EventStatus:
        """The updates that are due, and those that their signals cause."""
        before, derivative = list(state.versions), state.y_dot.copy()
        watch, known = self.watch, len(self.dispatch.events)
        waiting: list[Entry] = []
        arrays = state._arrays
        if watch is not None:
            watch.release(state)
            self.refresh(state)
            before = list(state.versions)
            waiting = watch.pending(state)
            arrays = {name: state._arrays[name].copy() for name in "ypdk"}
        try:
            statuses = [self.dispatch.updates(state, UPDATE_CAUSES), self.dispatch.take_signals(state)]
        finally:  # where some have failed, what others have done before stays
            self.refresh(state)
            if state.versions != before:
                self._follow_updates(state, integrator, derivative)
                if watch is not None:
                    fired = {entry.flag for entry in waiting if not state.agenda[entry.index]}
                    watch.drop(state, arrays)
                    watch.turned(state, arrays["y"], fired, self.dispatch.events[known:])
        return worst(statuses)

    def _follow_updates(self, state: State, integrator: Integrator, derivative: NDArray[np.float64]) -> None:
        """Updates have changed the State, realized again; `derivative`: the one before they did."""
        same = np.array_equal(derivative, state.y_dot, equal_nan=True)
        self._auto_update(state, integrator, AFTER_EVENT, math.inf if same else 2.0)
        integrator.restart(self.system, state)
        if self.on_jump is not None:
            self.on_jump(state)

    def _close(self, state: State, status: EventStatus) -> EventStatus:
        self.status_watch.look(state)
        self.dispatch.statistics.steps += 1
        if self.on_step is not None:
            self.on_step(state)
        if not self.agenda.in_steps and self.monitor is None:
            return status
        return worst([status, self._end_of_step(state, PUBLISH_CAUSES)])

    def _end_of_step(self, state: State, causes: tuple[EventCause, ...]) -> EventStatus:
        """Publishes, then the monitor."""
        status = self.dispatch.publishes(state, causes)
        if self.monitor is not None:
            status = worst([status, self.dispatch.monitor(state, self.monitor)])
        return _checked(state, status)

    def _auto_update(
        self, state: State, integrator: Integrator, side: float, smoothness: float = math.inf
    ) -> None:
        """Run the auto-updates: histories and other memories get the present values."""
        self.refresh(state)
        first, last = self.system.update_ranges["end"]
        if first != last:
            self.system.run_auto_updates(state, side, smoothness, tracked=integrator.order)
            self.refresh(state)

    def _note_jump(self, state: State, integrator: Integrator) -> EventStatus:
        """What was written since the last step is a jump at this instant; it may make witnesses cross."""
        assemble(self.system, state)
        self._auto_update(state, integrator, AFTER_EVENT, 2.0)
        state.jumped = False
        located = None if self.watch is None else self.watch.jumps(state)
        if self.watch is None or located is None:
            return NOTHING
        self.dispatch.located = located
        self.watch.fire(state, located, 0.0)
        return _checked(state, self.dispatch.publishes(state, (EventCause.TRIGGERED,)))


def _checked(state: State, status: EventStatus) -> EventStatus:
    """The status, unless a publish or the monitor has failed: `SimulationError`."""
    if status.severity is Severity.FAILED:
        raise handler_failure(state, status)
    return status
