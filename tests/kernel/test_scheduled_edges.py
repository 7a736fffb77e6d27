"""Scheduled events at the ends of a run, at huge and negative times, and at times that a run changes."""

import math

import pytest
from mover_parts import Mover, simulator_of

import cosim


class StartAndEnd(Mover):
    """A period and a list of times that meet at the start and at 2 s."""

    hits = cosim.discrete(dtype=int)

    @cosim.every(1.0, does="discrete")
    def tick(hits, hits_next):
        hits_next[0] = hits + 1

    @cosim.at([0.0, 2.0], does="discrete")
    def listed(hits, hits_next):
        hits_next[0] = hits + 100


def test_events_at_the_start_and_at_the_end_of_a_run():
    simulator = simulator_of(StartAndEnd)
    simulator.initialize()
    assert simulator.state["part.hits"] == 0
    # both handlers read the State as it was at 0 s, and what the second one writes stays
    simulator.advance_to(0.0)
    assert simulator.state["part.hits"] == 100
    # the updates at the end stay pending until they are asked for, and are done once
    simulator.advance_to(2.0)
    assert simulator.state["part.hits"] == 101
    for _ in range(2):
        simulator.advance_pending_events()
        assert simulator.state["part.hits"] == 201


class Periodic(Mover):
    """Every 0.1 s, the first time at 0.05 s."""

    ticks = cosim.discrete(dtype=int)

    @cosim.every(0.1, offset=0.05, does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1


def test_ticks_at_huge_times_are_offset_and_multiples_of_the_period():
    start, end = 1e9, 1e9 + 1.02
    simulator = simulator_of(Periodic, start)
    simulator.advance_to(end)
    before_start = int((start - 0.05) / 0.1) - 2
    grid = [0.05 + i * 0.1 for i in range(before_start, before_start + 20)]
    expected_times = [time for time in grid if start <= time < end]
    assert len(expected_times) == 10
    assert [event.time for event in simulator.events] == expected_times


class DoublingPeriod(Mover):
    """Doubles its period at each tick."""

    period = cosim.parameter(default=0.1)

    @cosim.every("period", does="unrestricted")
    def tick(self, state, next_state):
        next_state["part.period"] = 2.0 * state["part.period"]


def test_a_handler_that_doubles_its_period_comes_at_the_next_multiple_of_the_new_one():
    simulator = simulator_of(DoublingPeriod)
    simulator.advance_to(2.0)
    assert [event.time for event in simulator.events] == [0.0, 0.2, 0.4, 0.8, 1.6]


class PeriodOfZero(Mover):
    """Sets its period to zero at its first tick."""

    period = cosim.parameter(default=0.1)

    @cosim.every("period", does="unrestricted")
    def tick(self, state, next_state):
        next_state["part.period"] = 0.0


def test_a_period_that_becomes_zero_is_an_error():
    simulator = simulator_of(PeriodOfZero)
    with pytest.raises(cosim.SimulationError, match="period"):
        simulator.advance_to(1.0)
    assert simulator.state.time <= 0.1


class WitnessAndTick(Mover):
    """A witness and a period with one time, 0.5 s; `order` gets a digit from each handler that runs."""

    order = cosim.discrete(dtype=int)

    @cosim.witness
    def half(t):
        return t - 0.5

    @cosim.on(half, does="discrete")
    def triggered(order, order_next):
        order_next[0] = 10 * order + 1

    @cosim.every(0.5, offset=0.5, does="discrete")
    def scheduled(order, order_next):
        order_next[0] = 10 * order + 2

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="publish")
    def each_step(self, state):
        pass


def test_a_triggered_event_comes_before_a_scheduled_one_of_the_same_time():
    simulator = simulator_of(WitnessAndTick)
    simulator.advance_to(0.9)
    assert simulator.state["part.order"] == 12
    times = {event.time for event in simulator.events if event.cause.name != "TIME_ADVANCED"}
    assert times == {0.5}


def test_a_run_from_a_negative_time_has_the_same_events():
    simulator = simulator_of(WitnessAndTick, start_time=-3.0)
    simulator.advance_to(0.75)
    assert simulator.state["part.order"] == 12


class Timer(Mover):
    """A timer that only its user sets."""

    wake = cosim.timer(start=math.inf)
    rings = cosim.discrete(dtype=int)

    @cosim.on(wake, does="discrete")
    def ring(rings, rings_next):
        rings_next[0] = rings + 1


def test_a_timer_may_be_set_to_the_present_time_but_not_to_the_past():
    simulator = simulator_of(Timer)
    simulator.advance_to(1.0)
    simulator.state["part.wake"] = 1.0
    simulator.advance_to(1.5)
    assert simulator.state["part.rings"] == 1
    # a time in the past is an error, and another time mends it
    simulator.state["part.wake"] = 1.2
    with pytest.raises(cosim.SimulationError, match="part.wake"):
        simulator.advance_to(2.0)
    simulator.state["part.wake"] = 1.7
    simulator.advance_to(2.0)
    assert simulator.state["part.rings"] == 2
    # a call that goes no further handles an event of the present time, too
    simulator.state["part.wake"] = 2.0
    simulator.advance_to(2.0)
    assert simulator.state["part.rings"] == 3
