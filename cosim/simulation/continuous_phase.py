"""The continuous phase of a step: integrate toward a time, end just past a witness that crosses zero."""

from __future__ import annotations

import math
from typing import Any

from cosim.contracts.integrator import Integrator
from cosim.contracts.step_code import StepCode
from cosim.errors import SimulationError
from cosim.simulation.agenda import Agenda
from cosim.simulation.isolation import Probe, first_crossing
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

CHARACTERISTIC_TIME = 1.0  # s; the isolation window is 0.01 * accuracy * this, as in Drake's Simulator

SLIVER = 1e-9  # of a fixed step: less than that before a boundary is rounding, not a step

Window = tuple[float, float]


class ContinuousPhase:
    """Advances time and the continuous state of a State by at most one step of an integrator.

    Parameters
    ----------
    system : System
    agenda : Agenda
    """

    def __init__(self, system: System, agenda: Agenda) -> None:
        self.system = system
        self.agenda = agenda
        self._probe = Probe(system, agenda) if agenda.witnesses else None

    def advance(
        self, state: State, integrator: Integrator, event_time: float, boundary: float
    ) -> Window | None:
        """One step toward an event or a boundary; the window of the triggered events that ended it, if any.

        Parameters
        ----------
        event_time : float
            The next scheduled event, s: a fixed step may be stretched a little to end on it.
        boundary : float
            Where to stop at the latest, s; no step is stretched for its sake.

        Raises
        ------
        SimulationError
            The integrator cannot go on; the State is that of the last good step.
        """
        before = self._probe.now(state).copy() if self._probe else None
        start, fixed = state.time, integrator.fixed_step
        stop = min(event_time, boundary)
        if fixed is not None and self.system.ny and start + fixed < boundary - SLIVER * fixed:
            stop = start + fixed if boundary < event_time else event_time
        if self.system.ny == 0 and not math.isfinite(min(stop, integrator.maximum_step)):
            raise SimulationError(
                start, "nothing here takes time: no states and no scheduled event; give a finite time"
            )
        code = integrator.step(self.system, state, stop)
        if code is not StepCode.DONE:
            raise self._failure(state, integrator, code)
        if self._probe is None:
            return None
        return self._trigger(state, integrator, start, before)

    def isolation_window(self, state: State, integrator: Integrator) -> float | None:
        """To which length triggered events are located, s; None when they are not.

        Raises
        ------
        SimulationError
            Under error control without an accuracy in the State.
        """
        accuracy, fixed = state.accuracy, integrator.fixed_step
        if accuracy is None:
            if fixed is not None:
                return None
            raise SimulationError(
                state.time,
                "the accuracy is not set, so events cannot be located: give the Simulator an accuracy",
            )
        shortest = max(1e-14, 1e-14 * abs(state.time))
        return max(shortest, 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed is None else fixed))

    def _trigger(self, state: State, integrator: Integrator, start: float, before: Any) -> Window | None:
        """End the step just past the first witness that crosses, and note what it triggers."""
        assert self._probe is not None
        crossed = self._crossed(before, self._probe.now(state))
        window: Window = (start, state.time)
        if state.accuracy is not None or (self.system.ny and crossed):
            length = self.isolation_window(state, integrator)
            if length is not None:
                found = first_crossing(self._probe, self.agenda.witnesses, state, integrator, before, length)
                if found is not None:
                    window, crossed = self._go_to(state, integrator, found, before, length)
        for entry in self.agenda.entries:
            witness = entry.handler.witness
            if witness is not None and f"{entry.part}.{witness.name}" in crossed:
                state.agenda[entry.index] = 1
        return window if crossed else None

    def _go_to(
        self, state: State, integrator: Integrator, found: Window, before: Any, length: float
    ) -> tuple[Window, set[str]]:
        """Take the step again so that it ends just past the crossing; the window and who crossed."""
        assert self._probe is not None
        low, high = found
        stop = state.time
        at_low, at_high = before, self._probe.now(state).copy()
        if low > integrator.previous_time:
            at_low = self._probe.at(state, integrator, low).copy()
        if high < stop:
            at_high = self._probe.at(state, integrator, high).copy()
        crossed = self._crossed(at_low, at_high)
        reach = length
        while high < stop:
            self._redo(state, integrator, high)
            # dense output and a step of its own differ a little: go on until the crossing has happened
            if crossed <= self._crossed(at_low, self._probe.now(state)):
                break
            high, reach = min(high + reach, stop), 2.0 * reach
            if high >= stop:
                self._redo(state, integrator, stop)
        return (low, state.time), crossed | self._crossed(before, self._probe.now(state))

    def _redo(self, state: State, integrator: Integrator, time: float) -> None:
        code = integrator.redo(self.system, state, time)
        if code is not StepCode.DONE:
            raise self._failure(state, integrator, code)

    def _crossed(self, before: Any, after: Any) -> set[str]:
        pairs = zip(self.agenda.witnesses, before, after, strict=True)
        return {w.path for w, a, b in pairs if w.triggers(a, b)}

    def _failure(self, state: State, integrator: Integrator, code: StepCode) -> SimulationError:
        if code is StepCode.BLOCK_FAILED and integrator.failed_at is not None:
            failed = state.copy()
            time, failed._arrays["y"][:] = integrator.failed_at
            failed.set_time(time)
            try:
                failed.realize(Stage.ACCELERATION)
            except SimulationError as error:
                return error
        worst_state = getattr(integrator, "worst_state", -1)
        name = f" ({self.system.paths_at('y', [worst_state])[0]})" if worst_state >= 0 else ""
        return SimulationError(state.time, f"{code.sentence}{name} The State is that of the last good step.")
