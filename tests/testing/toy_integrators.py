"""Integrators, each wrong in one way, and their contracts."""

import cosim
from cosim.testing import IntegratorContract

Merson = cosim.registry().get("integrator", "integrators.runge_kutta_merson")


class Right(Merson):
    """Runge–Kutta–Merson."""


class Silent(Merson):
    pass


class Boasting(Merson):
    """Declares more than it does."""


Boasting.order = 6


class Careless(Merson):
    """Has an accuracy of its own."""

    def __init__(self, **options):
        super().__init__(**({**options, "accuracy": 1e-5} if "accuracy" in options else options))


class Overshooting(Merson):
    """Goes a little too far."""

    def step(self, system, state, t_stop, limit=float("inf")):
        return super().step(system, state, t_stop * (1.0 + 1e-12), limit)


class Straight(Merson):
    """Interpolates with lines."""

    def step(self, system, state, t_stop, limit=float("inf")):
        self.start = state.y.copy()
        code = super().step(system, state, t_stop, limit)
        self.ends = self.previous_time, state.time, state.y.copy()
        return code

    def interpolate(self, t, out):
        a, b, stop = self.ends
        part = (t - a) / (b - a)
        out[:] = stop if t == b else self.start + part * (stop - self.start)


class LateAgain(Merson):
    """Ends elsewhere than at the event."""

    def redo(self, system, state, t_event):
        return super().redo(system, state, t_event - 1e-9)


class Leaving(Merson):
    """Does not put back what it tried."""

    def step(self, system, state, t_stop, limit=float("inf")):
        code = super().step(system, state, t_stop, limit)
        if code != cosim.StepCode.DONE:
            state.set_time(state.time + 1e-9)
        return code


class Counting(Merson):
    """Keeps in itself what belongs into the State: its seventh step is shorter."""

    taken = 0

    def step(self, system, state, t_stop, limit=float("inf")):
        self.taken += 1
        if self.taken == 7:
            limit = 0.99 * (self.fixed_step or state.integrator_memory[0])
        return super().step(system, state, t_stop, limit)


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


class LateAgainCase(IntegratorContract):
    make = LateAgain


class LeavingCase(IntegratorContract):
    make = Leaving


class CountingCase(IntegratorContract):
    make = Counting
