"""Dispatch: which event handlers are due at an instant, in which order they run, what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

from cosim.cause import EventCause
from cosim.errors import SimulationError
from cosim.simulation.agenda import DISCRETE, TIME_ADVANCED, UNRESTRICTED, Agenda, Entry
from cosim.simulation.event_log import EventRecord
from cosim.simulation.statistics import Statistics
from cosim.simulation.status import EventStatus, Severity, worst
from cosim.simulation.update_phase import handler_table, run_handlers, take_over
from cosim.simulation.witness import Located
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

SIGNAL_ROUNDS = 100
COUNTED = (Severity.SUCCEEDED, Severity.REACHED_TERMINATION)
NOTHING = EventStatus.did_nothing()
UPDATES = (
    ("unrestricted", "unrestricted_updates", UNRESTRICTED),
    ("discrete", "discrete_updates", DISCRETE),
)
BITS = {does: bit for does, _, bit in UPDATES}


class Dispatch:
    """Runs the event handlers of a system: kinds first, causes inside a kind.

    Parameters
    ----------
    system : System
    agenda : Agenda
    events : list of EventRecord
        Every handled event is appended.

    Attributes
    ----------
    is_held : callable
        Whether a State holds witnesses at zero: then derivatives in its cache may not be the system's own.
    """

    def __init__(self, system: System, agenda: Agenda, events: list[EventRecord]) -> None:
        self.system = system
        self.agenda = agenda
        self.events = events
        self.statistics = Statistics()
        self.located: Located | None = None
        self.is_held: Callable[[State], object] = lambda state: False
        self._handlers = handler_table(agenda.entries)

    def updates(self, state: State, causes: tuple[EventCause, ...]) -> EventStatus:
        """Unrestricted, then discrete updates; inside each kind by cause.

        The handlers of one cause all read the State as it was when the cause began; a later cause
        reads what the earlier ones wrote.

        Raises
        ------
        SimulationError
            A handler failed; all that its kind wrote at this instant is dropped.
        """
        statuses = []
        # who is due is known before any of them runs: they may move timers and periods
        waiting = {does: {cause: self.due(state, cause, does) for cause in causes} for does in BITS}
        times = {does: self.agenda.timers(state, due) for does, due in waiting.items()}
        for does, count, bit in UPDATES:
            due, timers = waiting[does], times[does]
            if not any(due.values()):
                continue
            backup = state.copy()
            phase = []
            for cause in causes:
                if due[cause]:
                    phase.append(self._run(state, due[cause], does, backup))
            for cause in causes:
                self._done(state, due[cause], timers)
                if cause is EventCause.TIME_ADVANCED:
                    state.agenda[TIME_ADVANCED] &= ~bit
            statuses += phase
            seen = any(not entry.is_private for entries in due.values() for entry in entries)
            if seen and worst(phase).severity in COUNTED:
                setattr(self.statistics, count, getattr(self.statistics, count) + 1)
        return worst(statuses)

    def refresh(self, state: State) -> None:
        """Realize to Acceleration, where a step begins and ends, and before handlers read."""
        if state.stage >= Stage.ACCELERATION:
            return
        if state.touched is None or self.is_held(state):
            self.statistics.realizations += 1
            self.system.realize(state, Stage.ACCELERATION)
            return
        self.statistics.partial_evaluations += 1
        self.statistics.partial_share += self.system.realize_touched(state)

    def take_signals(self, state: State) -> EventStatus:
        """Rounds of signaled updates until no signal is set; `SimulationError` when they never end."""
        flags, statuses = state._arrays["k"], [NOTHING]
        rounds = 0
        while any(flags[offset] for offset in self.agenda.signals) or self._signaled(state):
            if rounds == SIGNAL_ROUNDS:
                names = [p for o in self.agenda.signals if flags[o] for p in self.system.paths_at("k", [o])]
                raise SimulationError(
                    state.time,
                    f"signals raise each other without end: {', '.join(names)} still set after "
                    f"{SIGNAL_ROUNDS} rounds",
                )
            rounds += 1
            for entry in self.agenda.entries:
                if entry.handler.cause is EventCause.SIGNALED:
                    offset = self.system.signal(f"{entry.part}.{entry.handler.signal}").slot.offset
                    state.agenda[entry.index] |= int(flags[offset] != 0)
            for offset in self.agenda.signals:
                flags[offset] = 0
            state.invalidate(Stage.TIME, "signals were taken")
            statuses.append(self.updates(state, (EventCause.SIGNALED,)))
        return worst(statuses)

    def _signaled(self, state: State) -> bool:
        """Whether updates wait whose signal was taken already: a round before has failed."""
        return any(self.due(state, EventCause.SIGNALED, does) for does, _, _ in UPDATES)

    def publishes(self, state: State, causes: tuple[EventCause, ...]) -> EventStatus:
        """Publishes in order of cause; all run, whatever one of them answers."""
        due = {cause: self.due(state, cause, "publish") for cause in causes}
        if not any(due.values()):
            return NOTHING
        self.system.realize(state, Stage.REPORT)
        timers = self.agenda.timers(state, due)
        statuses = [self._handle(state, due[c], "publish") for c in causes if due[c]]
        for cause in causes:
            self._done(state, due[cause], timers)
        status = worst(statuses)
        if status.severity in COUNTED:
            self.statistics.publishes += 1
        return status

    def monitor(self, state: State, monitor: Callable[[State], EventStatus | None]) -> EventStatus:
        """Call the monitor; an exception in it becomes a `SimulationError`."""
        self.system.realize(state, Stage.REPORT)
        time = state.time
        try:
            try:
                answer = monitor(state)
            finally:
                moved = state.time != time
                if moved:
                    state.set_time(time)
            if moved:
                raise SimulationError(time, "a monitor cannot change time")
            if answer is not None and not isinstance(answer, EventStatus):
                raise SimulationError(state.time, f"answers None or an EventStatus, not {answer!r}")
        except Exception as error:
            text = error.reason if isinstance(error, SimulationError) else f"{type(error).__name__}: {error}"
            failure = SimulationError(state.time, f"monitor: {text}")
            failure.status = EventStatus(Severity.FAILED, text, "monitor", error)
            raise failure from error
        return NOTHING if answer is None else EventStatus(answer.severity, answer.message, "monitor")

    def due(self, state: State, cause: EventCause, does: str) -> list[Entry]:
        """The handlers of a cause and kind that are due at the State's time, in order of declaration.

        Publishes of causes that come with every step (or run) are due whenever they are asked for.
        """
        entries = self._handlers.get((cause, does), [])
        if not entries:
            return entries
        if cause in (EventCause.TRIGGERED, EventCause.SIGNALED):
            return [e for e in entries if state.agenda[e.index]]
        if cause is EventCause.SCHEDULED:
            return [e for e in entries if self.agenda.next_time(state, e) <= state.time]
        if cause is EventCause.TIME_ADVANCED and does != "publish":
            return entries if state.agenda[TIME_ADVANCED] & BITS[does] else []
        return entries

    def _done(self, state: State, entries: list[Entry], timers: dict[int, float]) -> None:
        for entry in entries:
            if entry.handler.cause in (EventCause.TRIGGERED, EventCause.SIGNALED):
                state.agenda[entry.index] = 0
            elif entry.handler.cause is EventCause.SCHEDULED:
                self.agenda.serve(state, entry, timers)

    def _run(self, state: State, entries: list[Entry], does: str, backup: State) -> EventStatus:
        try:
            self.refresh(state)
            status = self._handle(state, entries, does)
            if status.severity is Severity.FAILED:
                raise handler_failure(state, status)
        except BaseException:
            take_over(self.system, state, backup)
            self.refresh(state)
            raise
        return status

    def _handle(self, state: State, entries: list[Entry], does: str) -> EventStatus:
        return run_handlers(self.system, state, entries, does, self._log, self.located)

    def _log(self, entry: Entry, record: EventRecord) -> None:
        if entry.is_private:
            return
        self.statistics.events += 1
        self.events.append(record)


def handler_failure(state: State, status: EventStatus) -> SimulationError:
    """The error for a handler that answered *failed*; its `status` says who and why."""
    error = SimulationError(state.time, f"{status.source} failed: {status.message}")
    error.status = status
    error.__cause__ = status.exception
    return error
