"""Calls of the Step, the monitor between them, and how each call has ended."""

from __future__ import annotations

import time as wall
from collections.abc import Callable

from cosim.errors import SimulationError
from cosim.simulation.bound_step import BoundStep
from cosim.simulation.monitor import Monitor, call_monitor
from cosim.simulation.pace import Pace
from cosim.simulation.status import EventStatus, Reason, Severity, SimulatorStatus, worst
from cosim.stage import Stage
from cosim.step import failures

FIRST_STRIDE, LONGEST_STRIDE = 16, 1_000_000  # steps in one call of the Step
MOST_VALUES = 2**17  # recorded in one stride, 1 MB: a run that is streamed needs no more
PATIENCE = 0.1  # s, wall-clock time, that such a call may take: who presses Ctrl-C waits for it


class Steps:
    """Takes steps; one call takes many where nothing has to be looked at between them.

    Attributes
    ----------
    bound : BoundStep
    monitor : callable or None
    pace : Pace
    status : SimulatorStatus
        How the last call has ended.
    has_arrived : bool
        Whether the Step has answered that the boundary is reached.
    """

    def __init__(self, time: float) -> None:
        self.bound: BoundStep
        self.monitor: Monitor | None = None
        self.pace = Pace(time)
        self.status = SimulatorStatus(Reason.REACHED_BOUNDARY_TIME, time, time)
        self._stride, self._is_busy = FIRST_STRIDE, False
        self.has_arrived = False

    @property
    def time(self) -> float:
        """Of the State, s."""
        return self.bound.state.time

    def one(self, target: float, wanted: float) -> EventStatus:
        """One step toward `target`, then the monitor; `wanted` is what was asked for, s."""
        if self.pace.target > 0.0:
            self.pace.wait(self.time)
        answer = self.call("advance", target, wanted)
        if self.monitor is None or self.bound.state.agenda.updates_done != 0:
            return answer  # where an update has asked to stop there was no step
        return worst((answer, self.ask_monitor(wanted)))

    def some(self, target: float, wanted: float) -> EventStatus:
        """A tenth of a second of steps or 1 MB of rows, or one step with a monitor or a rate to keep."""
        if self.pace.target > 0.0 or self.monitor is not None:
            return self.one(target, wanted)
        began = wall.perf_counter()
        before = self.bound.recorded_values
        answer = self.call("advance", target, wanted, most=self._stride)
        took = wall.perf_counter() - began
        recorded = self.bound.recorded_values - before
        longer = min(16.0, PATIENCE / max(took, 1e-6), MOST_VALUES / max(recorded, 1))
        self._stride = min(max(1, int(self._stride * longer)), LONGEST_STRIDE)
        return answer

    def call(
        self, entry: str, target: float, wanted: float, most: int = 1, suppressed: bool = False
    ) -> EventStatus:
        """Call an entry point of the Step; where it fails, the status says so."""
        self.refuse_from_inside()
        return self._noted(
            lambda: self.checked(self.bound.call(entry, target, most, suppressed), wanted), wanted
        )

    def _noted(self, act: Callable[[], EventStatus], wanted: float) -> EventStatus:
        """Do something inside a step; where it fails or is interrupted, the status says so."""
        self._is_busy = True
        try:
            return act()
        except SimulationError as error:
            self.note_failure(error, wanted)
            raise
        except KeyboardInterrupt:
            self.note_interrupt(wanted)
            raise
        finally:
            self._is_busy = False

    def checked(self, code: int, wanted: float) -> EventStatus:
        """The answer that a code of the Step stands for; an error where it has failed."""
        self.has_arrived = code == failures.REACHED
        if code >= failures.FAILED:
            raise self.bound.failure(code, wanted)
        return self.bound.answer()

    def ask_monitor(self, wanted: float) -> EventStatus:
        """Call the monitor; an exception in it becomes a `SimulationError`."""
        monitor, state = self.monitor, self.bound.state
        if monitor is None:
            return EventStatus.did_nothing()

        def ask() -> EventStatus:
            if state.stage < Stage.REPORT and (code := self.bound.step.call("evaluate", state.time)) != 0:
                self.bound.explain(code, wanted)
                self.checked(code, wanted)
            return call_monitor(state, monitor)

        return self._noted(ask, wanted)

    def refuse_from_inside(self) -> None:
        """A handler or monitor is running: nothing else may use the Step."""
        if self._is_busy:
            raise SimulationError(
                self.time,
                "this simulator is in the middle of a step: a handler or monitor cannot advance it, nor "
                "replace its State or integrator; do so when the call has come back",
            )

    # how it has ended

    def end(self, answer: EventStatus, wanted: float) -> SimulatorStatus:
        """The status of a call that has come back."""
        reason, source, message = Reason.REACHED_BOUNDARY_TIME, "", ""
        if answer.severity is Severity.REACHED_TERMINATION:
            reason, source, message = Reason.REACHED_TERMINATION, answer.source, answer.message
        self.status = SimulatorStatus(reason, wanted, self.time, source, message)
        return self.status

    def note_failure(self, error: SimulationError, wanted: float) -> None:
        """The status of a call that has failed."""
        why = error.status
        reason = Reason.INTEGRATION_FAILED if why is None else Reason.EVENT_HANDLER_FAILED
        source, message = ("", error.reason) if why is None else (why.source, why.message)
        self.status = SimulatorStatus(reason, wanted, self.time, source, message)

    def note_interrupt(self, wanted: float) -> None:
        """The status of a call that Ctrl-C has ended."""
        self.status = SimulatorStatus(Reason.INTERRUPTED, wanted, self.time)
