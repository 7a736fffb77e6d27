"""Integrators, each wrong in one way, and their contracts."""

from dataclasses import replace

import numpy as np

import cosim
from cosim import kit
from cosim.testing import IntegratorContract

Merson = cosim.registry().get("integrator", "integrators.runge_kutta_merson")


class Right(Merson):
    """Runge–Kutta–Merson."""


class Silent(Merson):
    pass


class Coarse(Merson):
    """Declares a dense output that is too coarse for its order."""


Coarse.capabilities = replace(Merson.capabilities, dense_order=2)


class Modest(Merson):
    """Declares less than it does."""


Modest.order = 3


class Boasting(Merson):
    """Declares more than it does."""


Boasting.order = 6


class Disturbed(Merson):
    """Adds something of the order of its error to the last state."""

    def step(self, system, state, t_stop, limit=float("inf")):
        code = super().step(system, state, t_stop, limit)
        if code == kit.StepCode.DONE:
            y = state.y.copy()
            y[-1] += 1e-3 * (state.time - self.previous_time) ** 5
            state.set_y(y)
            state.realize(cosim.Stage.ACCELERATION)
            self._method.end[-1] = y[-1]
        return code


class Careless(Merson):
    """Replaces the accuracy that it is given."""

    def __init__(self, **options):
        if options.get("accuracy", 1.0) > 1e-10 and "accuracy" in options:
            options["accuracy"] = 1e-5
        super().__init__(**options)


class Overshooting(Merson):
    """Steps a little beyond the target, after 1 s."""

    def step(self, system, state, t_stop, limit=float("inf")):
        return super().step(system, state, t_stop * (1.0 + 1e-12) if t_stop > 1.0 else t_stop, limit)


class Shortening(Merson):
    """Takes fixed steps that are a little too short."""

    def step(self, system, state, t_stop, limit=float("inf")):
        return super().step(system, state, t_stop, min(limit, 0.98 * (self.fixed_step or limit)))


class Unlimited(Merson):
    """Ignores the limit of a step."""

    def step(self, system, state, t_stop, limit=float("inf")):
        return super().step(system, state, t_stop)


class Accepting(Merson):
    """Has no smallest step."""

    def __init__(self, **options):
        super().__init__(**{**options, "minimum_step": 0.0})


class Extrapolating(Merson):
    """Interpolates outside the last step, too."""

    def interpolate(self, t, out):
        super().interpolate(min(max(t, self.previous_time), self._last.end), out)


class NotesRepetitions(Merson):
    """Knows whether its last step was repeated."""

    is_again = False

    def step(self, *arguments):
        self.is_again = False
        return super().step(*arguments)

    def redo(self, *arguments):
        self.is_again = True
        return super().redo(*arguments)


class Straight(NotesRepetitions):
    """Interpolates with lines inside a step that was not repeated."""

    def interpolate(self, t, out):
        super().interpolate(t, out)
        if self.is_again:
            return
        start, stop = np.zeros_like(out), np.zeros_like(out)
        super().interpolate(self.previous_time, start)
        super().interpolate(self._last.end, stop)
        part = (t - self.previous_time) / (self._last.end - self.previous_time)
        out[:] = stop if part == 1.0 else start + part * (stop - start)


class EarlyRepetition(Merson):
    """Repeats a step up to 1 ns before the event."""

    def redo(self, system, state, t_event):
        return super().redo(system, state, t_event - 1e-9)


class Leaving(Merson):
    """Does not restore the State when a component fails."""

    def step(self, system, state, t_stop, limit=float("inf")):
        code = super().step(system, state, t_stop, limit)
        if code == kit.StepCode.BLOCK_FAILED:
            state.set_time(state.time + 1e-9)
        return code


class Counting(Merson):
    """Counts its steps in itself and not in the State: the seventh one is shorter."""

    taken = 0

    def step(self, system, state, t_stop, limit=float("inf")):
        self.taken += 1
        if self.taken == 7 and self.fixed_step in (None, 0.07):
            limit = 0.99 * (self.fixed_step or state.integrator_memory[0])
        return super().step(system, state, t_stop, limit)


class Rounding(Merson):
    """Restarts from a State that it has rounded."""

    def restart(self, system, state):
        state.set_y(np.float32(state.y).astype(float))
        state.realize(cosim.Stage.ACCELERATION)
        super().restart(system, state)


class OneWay(Merson):
    """Says that it is symmetric."""


OneWay.capabilities = replace(Merson.capabilities, symmetric=True)


class Leaking(Merson):
    """Says that it keeps the energy."""


Leaking.capabilities = replace(Merson.capabilities, symplectic=True)


class Changing(Merson):
    """Changes the end of each step; a subclass says how."""

    def changed(self, y, state):
        return y

    def step(self, system, state, t_stop, limit=float("inf")):
        code = super().step(system, state, t_stop, limit)
        changed = self.changed(state.y.copy(), state)
        if code == kit.StepCode.DONE and np.any(changed != state.y):
            state.set_y(changed)
            state.realize(cosim.Stage.ACCELERATION)
            self._method.end[: changed.size] = changed
        return code


class WrongLate(Changing):
    """Is wrong after 500 s, where all other checks are over."""

    def changed(self, y, state):
        return 1.001 * y if state.time > 500.0 else y


class WrongEarly(Changing):
    """Is wrong before time 0."""

    def changed(self, y, state):
        return 1.001 * y if state.time < -1.0 else y


class Clipping(Changing):
    """Keeps states within bounds."""

    def changed(self, y, state):
        return np.clip(y, -100.0, 100.0)


class Forgetting(Changing):
    """Sets small states to 0."""

    def changed(self, y, state):
        return np.where(np.abs(y) < 1e-5, 0.0, y)


class WrongNinth(Changing):
    """Is wrong from the ninth state on."""

    def changed(self, y, state):
        return np.concatenate([y[:8], 1.001 * y[8:]])


class RepeatsOnce(Merson):
    """Repeats a step once; the second repetition ends elsewhere."""

    times = 0

    def step(self, *arguments):
        self.times = 0
        return super().step(*arguments)

    def redo(self, system, state, t_event):
        self.times += 1
        code = super().redo(system, state, t_event)
        if self.times == 2:
            state.set_y(1.0001 * state.y)
            state.realize(cosim.Stage.ACCELERATION)
        return code


class WrongInside(NotesRepetitions):
    """Interpolates wrongly inside a step that was repeated."""

    def interpolate(self, t, out):
        super().interpolate(t, out)
        if self.is_again and t < self._last.end:
            out *= 1.001


class Drifting(Merson):
    """Says that it keeps constraints and corrects nothing."""

    def _prepare(self, system):
        super()._prepare(system)
        for name in kit.Corrections.declared:
            setattr(self._method.corrections, name, 0)


class RightCase(IntegratorContract):
    make = Right


class SilentCase(IntegratorContract):
    make = Silent


class BoastingCase(IntegratorContract):
    make = Boasting


class CarelessCase(IntegratorContract):
    make = Careless


class OvershootingCase(IntegratorContract):
    make = Overshooting


class StraightCase(IntegratorContract):
    make = Straight


class EarlyRepetitionCase(IntegratorContract):
    make = EarlyRepetition


class LeavingCase(IntegratorContract):
    make = Leaving


class CountingCase(IntegratorContract):
    make = Counting


class CoarseCase(IntegratorContract):
    make = Coarse


class ModestCase(IntegratorContract):
    make = Modest


class DisturbedCase(IntegratorContract):
    make = Disturbed


class ShorteningCase(IntegratorContract):
    make = Shortening


class UnlimitedCase(IntegratorContract):
    make = Unlimited


class AcceptingCase(IntegratorContract):
    make = Accepting


class ExtrapolatingCase(IntegratorContract):
    make = Extrapolating


class RoundingCase(IntegratorContract):
    make = Rounding


class OneWayCase(IntegratorContract):
    make = OneWay


class LeakingCase(IntegratorContract):
    make = Leaking


class DriftingCase(IntegratorContract):
    make = Drifting


class WrongLateCase(IntegratorContract):
    make = WrongLate


WRONG_ELSEWHERE = {
    toy.__name__: type(f"{toy.__name__}Case", (IntegratorContract,), {"make": toy})
    for toy in (WrongLate, WrongEarly, Clipping, Forgetting, WrongNinth)
}
"""Cases that are wrong at other times, sizes and numbers of states than those of most checks."""
WRONG_REPETITIONS = {
    toy.__name__: type(f"{toy.__name__}Case", (IntegratorContract,), {"make": toy})
    for toy in (RepeatsOnce, WrongInside)
}
"""Cases whose repetitions of a step, up to an event, are wrong."""
