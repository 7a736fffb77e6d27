"""The monitor of a simulation, called from inside of compiled steps."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from cosim.preparation.compiled_step import CompiledStep
from cosim.preparation.monitored_steps import MonitoredSteps
from cosim.simulation.interrupt import is_interrupted
from cosim.simulation.monitor import Monitor, call_monitor
from cosim.simulation.status import DID_NOTHING, EventStatus, Severity
from cosim.simulation.stride import PATIENCE
from cosim.step.failures import STEPPED
from cosim.system.state import State


class Monitored:
    """Advances many steps at a call, and calls the monitor after each.

    Parameters
    ----------
    step : CompiledStep
    state : State
        To which the Step is bound.
    monitor : callable
    pop_records : callable
        Called before the monitor, after each step; raises what a handler was interrupted by.
    """

    def __init__(
        self, step: CompiledStep, state: State, monitor: Monitor, pop_records: Callable[[], None]
    ) -> None:
        self.step, self.state, self.monitor, self._take_records = step, state, monitor, pop_records
        self._steps = MonitoredSteps(step, self._follow_step)
        self._answer = DID_NOTHING
        self._error: BaseException | None = None
        self._until, self._accuracy = 0.0, state.accuracy

    def advance(self, target: float, most: int) -> tuple[int, EventStatus | None]:
        """The code of the last step, and what the monitor answered; None where it was not called then."""
        self._error, self._accuracy = None, self.state.accuracy
        self._until = perf_counter() + PATIENCE
        code = self._steps.advance(target, most)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return code, self._answer if code == STEPPED else None

    def stop(self) -> None:
        """Return to the caller after this step."""
        self._until = 0.0

    def _follow_step(self, _: int) -> int:
        """Call the monitor; whether the caller has to act before the next step, as a number."""
        step, state = self.step, self.state
        step.stage_out(state)
        try:
            self._take_records()
            self._answer = call_monitor(state, self.monitor)
        except BaseException as error:
            self._error = error
            return 1
        finally:
            step.stage_in(state)
        goes_on = (
            perf_counter() < self._until
            and not is_interrupted()
            and self._answer.severity < Severity.REACHED_TERMINATION
            and state.accuracy == self._accuracy
            and step.has_arrays_of(state)
        )
        return 0 if goes_on else 1
