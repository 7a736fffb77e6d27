"""Components, each wrong in one way, and their contracts: found by the check of the same name."""

from typing import ClassVar

from wrapped_integers import wrapped_integer

import cosim
from cosim.testing import ComponentContract


class Leak(cosim.Component):
    """Loses its level, and counts. Law: level' = -rate level."""

    rate = cosim.parameter(unit="1/s", minimum=0.0)
    level = cosim.auxiliary_state(unit="m", start=1.0)
    outflow = cosim.output(unit="m/s")
    ticks = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(level, rate, outflow, level_dot):
        outflow[0] = rate * level
        level_dot[0] = -rate * level

    @cosim.every(0.25, does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1


class Silent(Leak):
    """Has a docstring that leaves out its flow."""


class Clamping(Leak):
    """Accepts negative rates. Law: as `Leak`."""

    def __init__(self, **values):
        super().__init__(**{**values, "rate": abs(values.get("rate", 2.0))})


class NotForLong(Leak):
    """Divides by the time that is left. Law: outflow = rate level / (0.8 - t)."""

    @cosim.kernel
    def derivatives(t, level, rate, outflow, level_dot):
        outflow[0] = rate * level / max(0.8 - t, 0.0)
        level_dot[0] = -rate * level


class Idle(cosim.Component):
    """Computes a zero. Law: outflow = 0 rate."""

    rate = cosim.parameter(unit="1/s", minimum=0.0)
    outflow = cosim.output(unit="1/s")

    @cosim.kernel
    def flow(rate, outflow):
        outflow[0] = 0.0 * rate


class Counting(Leak):
    """Depends on how many leaks there were before. Law: as `Leak`, times the number of leaks."""

    made: ClassVar[list] = []

    def __init__(self, **values):
        super().__init__(**values)
        self.made.append(1)
        self.number = len(self.made)

    def derivatives(self, level, rate, outflow, level_dot):
        outflow[0] = self.number * rate * level
        level_dot[0] = -rate * level


class Wearing(Leak):
    """Changes the State while it computes. Law: as `Leak`."""

    wear = cosim.discrete(shape=1)

    def derivatives(self, level, rate, wear, outflow, level_dot):
        wear.fill(wear[0] + 1.0)
        outflow[0] = rate * level
        level_dot[0] = -rate * level


class Hoarding(Leak):
    """Remembers outside the State how often it was computed. Law: as `Leak`, and a little more each time."""

    def derivatives(self, level, rate, outflow, level_dot):
        calls = self.__dict__.setdefault("_calls", [])  # a list: the rules for classes do not see it
        calls.append(1)
        outflow[0] = rate * level + 1e-9 * len(calls)
        level_dot[0] = -rate * level


class Breaking(Leak):
    """Fails when the run is finished. Law: as `Leak`."""

    @cosim.on(cosim.EventCause.TERMINATION, does="publish")
    def farewell(self, state):
        raise RuntimeError("no farewell")


class Overflowing(Leak):
    """Integers that leave 64 bits. Law: outflow = rate level + a number that should always be the same."""

    @cosim.kernel
    def derivatives(level, rate, outflow, level_dot):
        number = wrapped_integer()
        outflow[0] = rate * level + number
        level_dot[0] = -rate * level


class RightCase(ComponentContract):
    make = staticmethod(lambda: Leak(rate=2.0))


class SilentCase(ComponentContract):
    make = staticmethod(lambda: Silent(rate=2.0))


class ClampingCase(ComponentContract):
    make = staticmethod(lambda: Clamping(rate=2.0))


class NotForLongCase(ComponentContract):
    make = staticmethod(lambda: NotForLong(rate=2.0))


class IdleCase(ComponentContract):
    make = staticmethod(lambda: Idle(rate=2.0))


class CountingCase(ComponentContract):
    make = staticmethod(lambda: Counting(rate=2.0))


class WearingCase(ComponentContract):
    make = staticmethod(lambda: Wearing(rate=2.0))


class HoardingCase(ComponentContract):
    make = staticmethod(lambda: Hoarding(rate=2.0))


class BreakingCase(ComponentContract):
    make = staticmethod(lambda: Breaking(rate=2.0))


class OverflowingCase(ComponentContract):
    make = staticmethod(lambda: Overflowing(rate=2.0))
