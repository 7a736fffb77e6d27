"""Timers and periods that are moved: by handlers of one instant, by users, between saving and resuming."""

import math

import pytest

import cosim
from cosim import EventCause


class Base(cosim.Component):
    """x' = 1, and a period."""

    x = cosim.auxiliary_state()
    period = cosim.parameter(unit="s", default=1.0)
    ticks = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0


def simulator_of(part, time=0.0, **options):
    """A simulator of one part, ``part``, from a time on."""
    model = cosim.Model("m")
    model.add(part, "part")
    system = model.build()
    state = system.default_state()
    state.set_time(time)
    return cosim.Simulator(system, state, accuracy=1e-6, **options)


def times(simulator, handler="part.tick"):
    """When a handler ran."""
    return [event.time for event in simulator.events if event.handler == handler]


class MovesItsOwnTime(Base):
    """The first handler of a timer, and of a period, moves it; the second one runs all the same."""

    wake = cosim.timer(start=1.0)

    @cosim.on(wake, does="unrestricted")
    def move_wake(self, state, next_state):
        next_state["part.wake"] = state.time + 1.0

    @cosim.on(wake, does="discrete")
    def ring(self, state, next_state):
        pass

    @cosim.every("period", offset=0.5, does="unrestricted")
    def double_period(self, state, next_state):
        next_state["part.period"] = 2.0 * state["part.period"]

    @cosim.every("period", offset=0.5, does="discrete")
    def tick(self, state, next_state):
        pass


def test_a_handler_that_moves_its_time_does_not_keep_the_other_handlers_from_running():
    simulator = simulator_of(MovesItsOwnTime)
    simulator.advance_to(3.5)
    assert times(simulator, "part.move_wake") == times(simulator, "part.ring") == [1.0, 2.0, 3.0]
    assert times(simulator, "part.double_period") == times(simulator, "part.tick") == [0.5, 2.5]


class Ticking(Base):
    """Ticks with its period."""

    @cosim.every("period", does="discrete")
    def tick(self, state, next_state):
        pass


@pytest.mark.parametrize("is_resumed", [False, True])
@pytest.mark.parametrize(
    "start, period, expected",
    [
        (10.2, 0.25, [10.25, 10.5, 10.75]),
        (10.2, 3.0, [12.0]),
        (10.0, 0.25, [10.0, 10.25, 10.5, 10.75]),  # what was due before the period was written runs
        (10.0, 3.0, [10.0, 12.0]),
    ],
)
def test_a_period_that_is_written_between_calls(start, period, expected, is_resumed):
    simulator = simulator_of(Ticking, 9.5)
    simulator.advance_to(start)
    simulator.state["part.period"] = period
    simulator.events.clear()
    if is_resumed:
        data = simulator.state.to_bytes()
        system = simulator.system
        simulator = cosim.Simulator(system, system.state_from_bytes(data), accuracy=1e-6)
    assert simulator.has_pending_updates == (start in expected)
    simulator.advance_to(11.0 if period < 1.0 else 13.0)
    assert times(simulator) == expected


class Shrinking(Base):
    """Its first tick makes its period very short."""

    @cosim.every("period", does="unrestricted")
    def tick(self, state, next_state):
        next_state["part.period"] = 2.0**-40


def test_a_period_may_shrink_to_a_million_millionth():
    simulator = simulator_of(Shrinking, 0.5)
    simulator.advance_to(1.0)
    simulator.advance_to(1.0 + 2.5 * 2.0**-40)
    assert times(simulator) == [1.0, 1.0 + 2.0**-40, 1.0 + 2.0**-39]


def test_a_period_that_is_too_short_for_time_to_advance_is_an_error():
    simulator = simulator_of(Ticking, 0.5)
    simulator.advance_to(0.75)
    simulator.state["part.period"] = 1e-300
    with pytest.raises(cosim.SimulationError, match=r"part\.tick.*1e-300 s, needs"):
        simulator.advance_to(1.0)
    simulator.state["part.period"] = 1.0
    simulator.advance_to(1.0)
    assert simulator.has_pending_updates


class SetAtStart(Ticking):
    """Its period is set at initialization."""

    @cosim.on(EventCause.INITIALIZATION, does="unrestricted")
    def begin(self, state, next_state):
        next_state["part.period"] = 0.25


@pytest.mark.parametrize("start, expected", [(10.0, [10.0, 10.25, 10.5]), (10.2, [10.25, 10.5])])
def test_a_period_that_is_set_at_initialization(start, expected):
    simulator = simulator_of(SetAtStart, start)
    simulator.advance_to(10.6)
    assert times(simulator) == expected


class SetNow(Base):
    """An update names the present time for a timer."""

    alarm = cosim.timer(start=math.inf)

    @cosim.every("period", does="discrete")
    def tick(self, state, next_state):
        next_state["part.alarm"] = state.time

    @cosim.on(alarm, does="discrete")
    def ring(self, state, next_state):
        pass


def test_a_timer_that_is_set_to_the_present_time_rings_at_once_also_at_the_final_time():
    simulator = simulator_of(SetNow, final_time=2.0)
    simulator.advance_to(5.0)
    assert times(simulator, "part.ring") == [0.0, 1.0, 2.0]
