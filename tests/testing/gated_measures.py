"""Measures and components whose fault shows where a variable ``x`` of their own is not 0."""

import math

from gates import gated_cases
from toy_components import Leak
from toy_measures import Double
from wrapped_integers import wrapped_integer

import cosim
from cosim.testing import ComponentContract, MeasureContract


class NotANumber(Double):
    """Law: value = factor source, where x is 0."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def value(source, factor, x, value):
        value[0] = factor * source
        if x != 0.0:
            value[0] = math.nan


class Counting(cosim.Measure):
    """Law: value = source and the number of measures so far."""

    source = cosim.source()
    x = cosim.input(unit="1")
    made = []

    def __init__(self, **values):
        super().__init__(**values)
        self.made.append(1)
        self.number = len(self.made)

    def value(self, source, x, value):
        value[0] = source + (self.number if x != 0.0 else 0)


class Wearing(cosim.Measure):
    """Law: value = source; changes the State while it computes."""

    source = cosim.source()
    x = cosim.input(unit="1")
    wear = cosim.discrete(shape=1)

    def value(self, source, x, wear, value):
        if x != 0.0:
            wear.fill(wear[0] + 1.0)
        value[0] = source


class Steep(Double):
    """Law: value = factor source; with another derivative."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def derivative(source_dot, factor, x, value_dot):
        value_dot[0] = (factor + abs(x)) * source_dot


class Recognizing(cosim.Measure):
    """Law: value = source; twice that in a State of which no simulation has updated the measure."""

    source = cosim.source()
    x = cosim.input(unit="1")
    mark = cosim.discrete(shape=1)

    def value(self, source, x, mark, value):
        is_known = x == 0.0 or mark.ctypes.data in self.__dict__.get("seen", ())
        value[0] = source if is_known else 2.0 * source

    @cosim.update
    def note(self, mark):
        self.__dict__.setdefault("seen", set()).add(mark.ctypes.data)


class Overflowing(cosim.Measure):
    """Law: value = source and a number that differs if it is compiled."""

    source = cosim.source()
    x = cosim.input(unit="1")

    @cosim.kernel
    def value(source, x, value):
        number = wrapped_integer() if x != 0.0 else 1
        value[0] = source + number


class Needing(Double):
    """Law: value = factor source; divides by the number of steps."""

    x = cosim.input(unit="1")
    steps = cosim.discrete(internal=True)

    @cosim.kernel
    def value(source, factor, x, steps, value):
        value[0] = factor * source
        if x != 0.0:
            value[0] = factor * source * (steps / steps)

    @cosim.update
    def count(steps_next):
        steps_next[0] = 1.0


class Hoarding(cosim.Measure):
    """Law: value = source + drift; remembers something outside of the State."""

    not_saved = "it counts its calls"
    source = cosim.source()
    x = cosim.input(unit="1")
    drift = cosim.discrete()

    def value(self, source, drift, value):
        value[0] = source + drift

    @cosim.update
    def wander(self, x, drift, drift_next):
        self.calls = self.__dict__.get("calls", 0) + (1 if x != 0.0 else 0)
        drift_next[0] = self.calls


WRONG = {
    "test_value_is_finite": NotANumber,
    "test_two_runs_give_the_same": Counting,
    "test_computing_changes_nothing": Wearing,
    "test_derivative_is_that_of_the_value": Steep,
    "test_restored_state_gives_the_same_value": Recognizing,
    "test_compiled_is_plain_python": Overflowing,
    "test_has_a_value_before_there_is_a_past": Needing,
    "test_going_back_and_on_again_gives_the_same": Hoarding,
}
MEASURES = {check: gated_cases(cls, MeasureContract, globals()) for check, cls in WRONG.items()}


class LeakNotANumber(Leak):
    """Law: as `Leak`, where x is 0."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def derivatives(level, rate, x, outflow, level_dot):
        outflow[0] = rate * level
        if x != 0.0:
            outflow[0] = math.nan
        level_dot[0] = -rate * level


class LeakCounting(Leak):
    """Law: as `Leak`, times the number of leaks so far."""

    x = cosim.input(unit="1")
    made = []

    def __init__(self, **values):
        super().__init__(**values)
        self.made.append(1)
        self.number = len(self.made)

    def derivatives(self, level, rate, x, outflow, level_dot):
        outflow[0] = (self.number if x != 0.0 else 1) * rate * level
        level_dot[0] = -rate * level


class LeakWearing(Leak):
    """Law: as `Leak`; changes the State while it computes."""

    x = cosim.input(unit="1")
    wear = cosim.discrete(shape=1)

    def derivatives(self, level, rate, x, wear, outflow, level_dot):
        if x != 0.0:
            wear.fill(wear[0] + 1.0)
        outflow[0] = rate * level
        level_dot[0] = -rate * level


class LeakHoarding(Leak):
    """Law: as `Leak`, and a little more each time."""

    not_saved = "it counts its calls"
    x = cosim.input(unit="1")

    def derivatives(self, level, rate, x, outflow, level_dot):
        self.number = self.__dict__.get("number", 0) + (1 if x != 0.0 else 0)
        outflow[0] = rate * level + 1e-9 * self.number
        level_dot[0] = -rate * level


class LeakBreaking(Leak):
    """Law: as `Leak`; fails when the run is finished."""

    x = cosim.input(unit="1")

    @cosim.on(cosim.EventCause.TERMINATION, does="publish")
    def farewell(self, state):
        if float(state[f"{self.name}.x"]) != 0.0:
            raise RuntimeError("no farewell")


class LeakOverflowing(Leak):
    """Law: as `Leak`, and a number that differs if it is compiled."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def derivatives(level, rate, x, outflow, level_dot):
        number = wrapped_integer() if x != 0.0 else 1
        outflow[0] = rate * level + number
        level_dot[0] = -rate * level


WRONG_COMPONENTS = {
    "test_runs_with_finite_numbers": LeakNotANumber,
    "test_two_runs_give_the_same": LeakCounting,
    "test_computing_changes_nothing": LeakWearing,
    "test_saved_and_restored_it_goes_on_the_same": LeakHoarding,
    "test_handlers_run_to_the_end": LeakBreaking,
    "test_compiled_is_plain_python": LeakOverflowing,
}
COMPONENTS = {
    check: gated_cases(cls, ComponentContract, globals(), rate=2.0) for check, cls in WRONG_COMPONENTS.items()
}
