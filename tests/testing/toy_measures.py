"""Measures, each wrong in one way, and their contracts."""

from typing import ClassVar

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
    """Does something."""


class Clamping(Double):
    """Takes what it should refuse. Law: as `Double`."""

    def __init__(self, **values):
        super().__init__(**{**values, "factor": abs(values.get("factor", 2.0))})


class NotAtZero(Double):
    """Divides by the time. Law: value = source / t."""

    @cosim.kernel
    def value(t, source, factor, value):
        value[0] = factor * source / t

    @cosim.kernel
    def derivative(t, source, source_dot, factor, value_dot):
        value_dot[0] = factor * (source_dot / t - source / (t * t))


class Steep(Double):
    """Has another derivative. Law: as `Double`."""

    @cosim.kernel
    def derivative(source_dot, value_dot):
        value_dot[0] = source_dot


class Overflowing(cosim.Measure):
    """Integers that leave 64 bits. Law: value = source + a number that should always be the same."""

    source = cosim.source()

    @cosim.kernel
    def value(source, value):
        number = 1
        for _ in range(80):
            number = number * 7 + 1
        value[0] = source + number % 1000


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
    """Doubles in every other State than the first one with this value. Law: value = source."""

    source = cosim.source()

    def value(self, source, value):
        seen = self.__dict__.setdefault("seen", {})
        first = seen.setdefault(source, value.ctypes.data)
        value[0] = source if first == value.ctypes.data else 2.0 * source


class RightCase(MeasureContract):
    make = staticmethod(lambda: Double())


class SilentCase(MeasureContract):
    make = staticmethod(lambda: Silent())


class ClampingCase(MeasureContract):
    make = staticmethod(lambda: Clamping())


class NotAtZeroCase(MeasureContract):
    make = staticmethod(lambda: NotAtZero())


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
