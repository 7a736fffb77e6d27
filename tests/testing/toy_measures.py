"""Measures, each wrong in one way, and their contracts."""

import math
from typing import ClassVar

from wrapped_integers import wrapped_integer

import cosim
from cosim.testing import MeasureContract


class Double(cosim.Measure):
    """Twice a signal. Law: value = factor * source."""

    source = cosim.source()
    factor = cosim.parameter(default=2.0, minimum=0.0)

    @cosim.kernel
    def value(source, factor, value):
        value[0] = factor * source

    @cosim.kernel
    def derivative(source_dot, factor, value_dot):
        value_dot[0] = factor * source_dot


class Silent(Double):
    """Has a docstring that leaves out its value."""


class Clamping(Double):
    """Accepts negative factors. Law: as `Double`."""

    def __init__(self, **values):
        super().__init__(**{**values, "factor": abs(values.get("factor", 2.0))})


class NotForLong(cosim.Measure):
    """Divides by the time that is left. Law: value = source / (0.8 - t)."""

    source = cosim.source()

    @cosim.kernel
    def value(t, source, value):
        value[0] = source / max(0.8 - t, 0.0)


class Steep(Double):
    """Has another derivative. Law: as `Double`."""

    @cosim.kernel
    def derivative(source_dot, value_dot):
        value_dot[0] = source_dot


class SteepBelow(Double):
    """Has another derivative where its source is below 0. Law: as `Double`."""

    @cosim.kernel
    def derivative(source, source_dot, factor, value_dot):
        value_dot[0] = (1.0 if source >= 0.0 else 1.5) * factor * source_dot


class SteepFarOff(Double):
    """Has another derivative where its source is large. Law: as `Double`."""

    @cosim.kernel
    def derivative(source, source_dot, factor, value_dot):
        value_dot[0] = (1.0 if abs(source) < 3.0 else 1.5) * factor * source_dot


class Root(cosim.Measure):
    """A root, which has no value where its source is negative. Law: value = sqrt(source)."""

    source = cosim.source()

    @cosim.kernel
    def value(source, value):
        value[0] = math.sqrt(source) if source > 0.0 else math.nan

    @cosim.kernel
    def derivative(source, source_dot, value_dot):
        value_dot[0] = 0.5 * source_dot / math.sqrt(source) if source > 0.0 else math.nan


class Overflowing(cosim.Measure):
    """Integers that leave 64 bits. Law: value = source + a number that should always be the same."""

    source = cosim.source()

    @cosim.kernel
    def value(source, value):
        number = wrapped_integer()
        value[0] = source + number


class Counting(cosim.Measure):
    """Depends on how many there were before. Law: value = source + number of measures."""

    source = cosim.source()
    made: ClassVar[list] = []

    def __init__(self, **values):
        super().__init__(**values)
        self.made.append(1)
        self.number = len(self.made)

    def value(self, source, value):
        value[0] = source + self.number


class Wearing(cosim.Measure):
    """Changes the State while it computes. Law: value = source."""

    source = cosim.source()
    wear = cosim.discrete(shape=1)

    def value(self, source, wear, value):
        wear.fill(wear[0] + 1.0)
        value[0] = source


class Recognizing(cosim.Measure):
    """Doubles in States of which no simulation has updated the measure. Law: value = source."""

    source = cosim.source()
    mark = cosim.discrete(shape=1)

    def value(self, source, mark, value):
        value[0] = source if mark.ctypes.data in self.__dict__.get("seen", ()) else 2.0 * source

    @cosim.update
    def note(self, mark):
        self.__dict__.setdefault("seen", set()).add(mark.ctypes.data)


class Lying(Double):
    """Declares an earlier stage than that of its value. Law: as `Double`."""

    def depends_on_stage(self, system, order=0):
        return cosim.Stage.INSTANCE


class Needing(Double):
    """Divides by the number of steps. Law: value = factor * source steps / steps."""

    steps = cosim.discrete()

    @cosim.kernel
    def value(source, factor, steps, value):
        value[0] = factor * source * (steps / steps)

    @cosim.kernel
    def derivative(source_dot, factor, steps, value_dot):
        value_dot[0] = factor * source_dot * (steps / steps)

    @cosim.update
    def count(steps_next):
        steps_next[0] = 1.0


class Hoarding(cosim.Measure):
    """Remembers something outside of the State. Law: value = source + drift."""

    source = cosim.source()
    drift = cosim.discrete()

    def value(self, source, drift, value):
        value[0] = source + drift

    @cosim.update
    def wander(self, drift, drift_next):
        calls = self.__dict__.setdefault("_calls", [])  # a list: the rules for classes do not see it
        calls.append(1)
        drift_next[0] = len(calls)


class RightCase(MeasureContract):
    make = staticmethod(lambda: Double())


class SteepBelowCase(MeasureContract):
    make = staticmethod(lambda: SteepBelow())


class SteepFarOffCase(MeasureContract):
    make = staticmethod(lambda: SteepFarOff())


class RootCase(MeasureContract):
    make = staticmethod(lambda: Root())
    times = (0.05, 0.1)


class SilentCase(MeasureContract):
    make = staticmethod(lambda: Silent())


class ClampingCase(MeasureContract):
    make = staticmethod(lambda: Clamping())


class NotForLongCase(MeasureContract):
    make = staticmethod(lambda: NotForLong())


class SteepCase(MeasureContract):
    make = staticmethod(lambda: Steep())


class OverflowingCase(MeasureContract):
    make = staticmethod(lambda: Overflowing())


class CountingCase(MeasureContract):
    make = staticmethod(lambda: Counting())


class WearingCase(MeasureContract):
    make = staticmethod(lambda: Wearing())


class RecognizingCase(MeasureContract):
    make = staticmethod(lambda: Recognizing())


class LyingCase(MeasureContract):
    make = staticmethod(lambda: Lying())


class NeedingCase(MeasureContract):
    make = staticmethod(lambda: Needing())


class HoardingCase(MeasureContract):
    make = staticmethod(lambda: Hoarding())


class HiddenCase(MeasureContract):
    """Its value is not an output of the system."""

    make = staticmethod(lambda: Double())

    @classmethod
    def simulator(cls):
        simulator = super().simulator()
        system = simulator.system
        hidden = system.variables["measure"]._replace(kind="cache")
        vars(system)["variables"] = {**system.variables, "measure": hidden}  # in place of the cached property
        return simulator
