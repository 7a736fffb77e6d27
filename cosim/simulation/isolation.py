"""Finding when a witness changed sign inside a step, on the integrator's dense output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cosim.contracts.integrator import Integrator
from cosim.simulation.agenda import Agenda, Witness
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES = 8  # inside a step: a witness that crosses and comes back between two samples is not seen


class Probe:
    """Values of all witnesses at times inside the last step; touches nothing but its own arrays."""

    def __init__(self, system: System, agenda: Agenda) -> None:
        self.system = system
        self.offsets = np.array([w.offset for w in agenda.witnesses], dtype=np.int64)
        stages = [system.stage_of_cache(int(o)) for o in self.offsets]
        self.range = system.block_range(Stage.TIME, max(stages, default=Stage.TIME))
        self.scratch = system.default_state()

    def at(self, state: State, integrator: Integrator, time: float) -> NDArray[np.float64]:
        """Witness values at a time of the last step, from its dense output."""
        mine, theirs = self.scratch._arrays, state._arrays
        for name in "pdkh":
            mine[name] = theirs[name]
        mine["c"][:] = theirs["c"]
        integrator.interpolate(time, mine["y"])
        self.scratch._time = time
        failed = self.system.walk(self.scratch, *self.range)
        if failed:
            raise self.system.failure(self.scratch, failed - 1)
        return self.now(self.scratch)

    def now(self, state: State) -> NDArray[np.float64]:
        """Witness values of a realized State."""
        values: NDArray[np.float64] = state._arrays["c"][self.offsets]
        return values


def first_crossing(
    probe: Probe,
    witnesses: list[Witness],
    state: State,
    integrator: Integrator,
    before: NDArray[np.float64],
    window: float,
) -> tuple[float, float] | None:
    """The earliest interval, no longer than `window`, in which a witness triggers; None when none does.

    Parameters
    ----------
    before : ndarray
        Witness values at the start of the step.
    window : float
        s

    Notes
    -----
    The dense output is sampled inside the step, so that a witness that crosses zero twice in one step
    is seen; the first bracket is narrowed by the Illinois variant of regula falsi, kept away from the
    ends of the bracket so that both sides close in.
    """
    start, stop = integrator.previous_time, state.time
    times = [start + (stop - start) * i / SAMPLES for i in range(1, SAMPLES)] + [stop]
    low, low_values = start, before
    for time in times:
        values = probe.now(state) if time == stop else probe.at(state, integrator, time)
        if any(w.triggers(a, b) for w, a, b in zip(witnesses, low_values, values, strict=True)):
            return _narrow(probe, witnesses, state, integrator, (low, low_values), (time, values), window)
        low, low_values = time, values
    return None


def _narrow(
    probe: Probe,
    witnesses: list[Witness],
    state: State,
    integrator: Integrator,
    low: tuple[float, NDArray[np.float64]],
    high: tuple[float, NDArray[np.float64]],
    window: float,
) -> tuple[float, float]:
    (a, at_a), (b, at_b) = low, high
    shrink = 0
    while b - a > window:
        guesses = [
            a + (b - a) * va / (va - vb)
            for w, va, vb in zip(witnesses, at_a, at_b, strict=True)
            if w.triggers(va, vb) and np.isfinite(va) and np.isfinite(vb) and va != vb
        ]
        middle = 0.5 * (a + b)
        # every third point bisects, so that the bracket shrinks however the witness is shaped
        guess = min(guesses, default=middle) if shrink % 3 < 2 else middle
        margin = 0.5 * window if shrink % 3 < 2 else 0.1 * (b - a)
        guess = min(max(guess + (0.25 * window if shrink % 2 else -0.25 * window), a + margin), b - margin)
        if not a < guess < b:
            break
        values = probe.at(state, integrator, guess)
        if any(w.triggers(x, v) for w, x, v in zip(witnesses, at_a, values, strict=True)):
            b, at_b = guess, values
        else:
            a, at_a = guess, values
        shrink += 1
    return a, b
