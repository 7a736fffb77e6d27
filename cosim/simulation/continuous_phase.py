"""The continuous phase of a step: integrate toward a time, end just past a witness that crosses zero."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.contracts.compiled_integrator import CompiledIntegrator
from cosim.contracts.integrator import Integrator
from cosim.contracts.step_code import StepCode
from cosim.errors import SimulationError
from cosim.integration.layout import NEXT_STEP
from cosim.simulation.assembler import unmet
from cosim.simulation.witness import Located
from cosim.simulation.witness_watch import NEAR, WitnessWatch
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHARACTERISTIC_TIME = 1.0  # s; the isolation window is 0.01 * accuracy * this, as in Drake's Simulator
SLIVER = 1e-9  # of a fixed step: less than that before a boundary is rounding, not a step
EXAMINED = (StepCode.BLOCK_FAILED, StepCode.NOT_FINITE, StepCode.CONSTRAINTS_NOT_MET)
NEARLY = 0.5  # of the window: so near to the end of a step an event is at its end
AIM = 0.01  # of the window: so far behind a zero that was foreseen the step toward it ends
CORRECTIONS = 80  # of the time of an event, where dense output and a step of its own differ
SECANTS = 4  # of them by the rates of the witnesses alone; then every second one makes the bracket smaller
REPEATED = 1e-7  # s; closer events of one witness repeat each other where the step is much longer,
LONGER = 1e4  # so many times: shorter flights are lost in the rounding of coordinates that are not small


class ContinuousPhase:
    """Advances time and the continuous state of a State by at most one step of an integrator.

    Parameters
    ----------
    system : System
    watch : WitnessWatch or None
        Where there are witnesses.
    """

    def __init__(self, system: System, watch: WitnessWatch | None) -> None:
        self.system, self.watch = system, watch

    def advance(
        self, state: State, integrator: Integrator, event_time: float, boundary: float, most: int = 1
    ) -> Located | None:
        """One step toward an event or a boundary; the triggered events that ended it, if any.

        Parameters
        ----------
        event_time : float
            The next scheduled event, s: a fixed step may be stretched a little to end on it.
        boundary : float
            Where to stop at the latest, s; no step is stretched for its sake.
        most : int
            So many steps at most, where nothing looks at the State between them.

        Raises
        ------
        SimulationError
            The integrator cannot go on; the State is that of the last good step.
        """
        start, fixed = state.time, integrator.fixed_step
        before = None if self.watch is None else self.watch.begin(state)
        stop = min(event_time, boundary)
        if fixed is not None and most > 1:
            # the last steps before the end one by one: none of them is stretched
            most = int(min(most, (stop - start) / fixed - 2.0))
        if most > 1 and self._flow(state) is self.system:
            code = integrator.advance(self.system, state, stop, most=most)
            if code is not StepCode.DONE:
                raise self._failure(state, integrator, code)
            return None
        if fixed is not None and self.system.ny and start + fixed < boundary - SLIVER * fixed:
            stop = start + fixed if boundary < event_time else event_time
        if self.system.ny == 0 and not math.isfinite(min(stop, integrator.maximum_step)):
            raise SimulationError(
                start, "nothing here takes time: no states and no scheduled event; give a finite time"
            )
        system = self._flow(state)
        if system is not self.system:
            system.realize(state)
        if self.watch is not None and self._foresees(state, integrator):
            stop = min(stop, self.watch.next_expected(state))
        code = integrator.step(system, state, stop)
        if code is StepCode.NOT_INITIALIZED:
            # the memory of an implicit method has another size while witnesses are held
            integrator.initialize(system, state)
            code = integrator.step(system, state, stop)
        if code is not StepCode.DONE:
            raise self._failure(state, integrator, code)
        return None if before is None else self._trigger(state, integrator, start, before)

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

    def _trigger(
        self, state: State, integrator: Integrator, start: float, before: NDArray[np.float64]
    ) -> Located | None:
        """End the step just past the first witness that crosses, and note what it triggers."""
        assert self.watch is not None
        isolation = self.watch.isolation
        level, length, attempted = isolation.level[:, 0], None, state.time - start
        crossed, located = [], None
        if state.accuracy is None:
            after = isolation.values(state)
            crossed = isolation.crossed(before - level, after - level)
        if state.accuracy is not None or (self.system.ny and crossed):
            length = self.isolation_window(state, integrator)
        if length is not None:
            found = isolation.first_crossing(state, integrator, before, length)
            stop, dense = state.time, integrator.dense() if self._foresees(state, integrator) else None
            if found is not None:
                if dense is not None:
                    dense = replace(dense, work=dense.work.copy())
                located = self._go_to(state, integrator, found, length)
            if dense is not None:
                horizon = min(float(state.integrator_memory[NEXT_STEP]), integrator.maximum_step)
                self.watch.foresee(state, dense, (start, stop), horizon, AIM * length)
        elif crossed:
            located = Located((start, state.time), before, after, crossed)
        if located is not None:
            length = length or attempted
            self.watch.fire(state, located, max(NEAR * length, min(REPEATED, attempted / LONGER)))
        self.watch.note(state)
        return located

    def _go_to(
        self, state: State, integrator: Integrator, found: tuple[float, float], length: float
    ) -> Located | None:
        """Take the step again so that it ends just past the crossing; None when it does not cross there.

        Dense output and a step of the method itself may differ about the zero: then it is bracketed on
        steps. For most methods the first or second one is right.
        """
        assert self.watch is not None
        isolation, stop, window = self.watch.isolation, state.time, found
        level = isolation.level[:, 0].copy()
        low, high = isolation.at_window
        crossed = set(isolation.crossed(low, high))
        time, reach, before = found[1], length, integrator.previous_time
        if stop - time <= NEARLY * length:
            time = stop  # the step ends there already
        latest = before  # at which not all have crossed
        earliest = (
            stop if crossed <= set(isolation.crossed(low, isolation.values(state) - level)) else math.inf
        )
        for n in range(CORRECTIONS):
            if state.time != time:
                self._redo(state, integrator, time)
            now = isolation.values(state) - level
            missing = bool(crossed - set(isolation.crossed(low, now)))
            if missing:
                latest = time
            else:
                earliest = time
            rates = isolation.rates(state, min(1e-6, 1e-3 * (stop - before)))
            with np.errstate(all="ignore"):
                shifts = [-now[i] / rates[i] for i in crossed if np.isfinite(now[i] / rates[i])]
            shift = max(shifts, default=0.0)
            if time >= stop or (not missing and (shift >= -length or earliest - latest <= length)):
                break
            guess = time + shift + 0.25 * length
            if not latest < guess < earliest or (n >= SECANTS and n % 2 == 0):
                guess = 0.5 * (latest + earliest)
                if missing and latest + reach < earliest:
                    guess, reach = latest + reach, 4.0 * reach
            if guess in (latest, earliest):
                break
            time = min(guess, stop)
            window = (max(time - length, before), time)
        if missing and earliest < math.inf:
            self._redo(state, integrator, earliest)
        after = isolation.values(state)
        crossed = set(isolation.crossed(low, after - level))
        if not crossed:
            return None
        return Located((min(window[0], state.time), state.time), low + level, after, sorted(crossed))

    def _foresees(self, state: State, integrator: Integrator) -> bool:
        """Whether steps may be made to end where an event is foreseen.

        Not where steps are fixed, nor with a method to which short steps are dear, nor while one is held.
        """
        cheap = integrator.fixed_step is None and integrator.capabilities.restarts_cheaply
        return cheap and isinstance(integrator, CompiledIntegrator) and self._flow(state) is self.system

    def _flow(self, state: State) -> Any:
        """What the integrator integrates: the system, or the one with what holds witnesses."""
        return self.system if self.watch is None else self.watch.sliding(state) or self.system

    def _redo(self, state: State, integrator: Integrator, time: float) -> None:
        code = integrator.redo(self._flow(state), state, time)
        if code is not StepCode.DONE:
            raise self._failure(state, integrator, code)

    def _failure(self, state: State, integrator: Integrator, code: StepCode) -> SimulationError:
        """What went wrong, with the component or the state variable that it began with."""
        where = ""
        # without a finite derivative where the step begins there was none that could fail
        begun = np.isfinite(state._arrays["c"][: self.system.ny]).all()
        at = integrator.failed_at if begun else (state.time, state.y)
        if code in EXAMINED and at is not None:
            failed = state.copy()
            failed._time, failed._arrays["y"][:] = at
            time = failed.time
            try:
                self.system.realize(failed, Stage.ACCELERATION)
            except SimulationError as error:
                return error
            if code is StepCode.CONSTRAINTS_NOT_MET:
                missed = unmet(self.system, failed)
                where = f"At t = {time:.9g} s: {missed}. " if missed else ""
            else:
                where = self._not_finite(failed, state)
        worst_state = getattr(integrator, "worst_state", -1)
        if not where and worst_state >= 0 and code is not StepCode.CONSTRAINTS_NOT_MET:
            where = f"{self.system.paths_at('y', [worst_state])[0]} has the largest error. "
        last = f"The State is that of the last good step, t = {state.time:.9g} s."
        return SimulationError(state.time, f"{where}{code.sentence} {last}")

    def _not_finite(self, failed: State, good: State) -> str:
        """The state variable with which it began that not everything was finite."""
        y = failed._arrays["y"].copy()
        # What the first derivative that is not finite has spoilt since is no culprit: with good values again
        failed._arrays["y"][:] = np.where(np.isfinite(y), y, good._arrays["y"])
        failed.invalidate(Stage.TIME, "a step that failed")
        try:
            self.system.realize(failed, Stage.ACCELERATION)
        except SimulationError as error:
            return f"{error.reason}. "
        for values, words in ((failed._arrays["c"][: self.system.ny], "its derivative is"), (y, "it is")):
            wrong = np.flatnonzero(~np.isfinite(values))
            if wrong.size:
                path = self.system.paths_at("y", [int(wrong[0])])[0]
                return f"{path}: {words} {values[wrong[0]]} at t = {failed.time:.9g} s. "
        return ""
