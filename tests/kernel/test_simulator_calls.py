"""Calls of a Simulator at their limits: suppressed initialization, impossible times, runs without an end."""

import math

import pytest
from mover_parts import WINDOW, Crosser, Mover, simulator_of

import cosim


class Initialized(Mover):
    """Counts initializations by 1, and by 10 the signals that they set."""

    count = cosim.discrete(dtype=int)
    flag = cosim.signal()

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(count, count_next, flag_next):
        count_next[0] = count + 1
        flag_next[0] = 1

    @cosim.on(flag, does="discrete")
    def signaled(count, count_next):
        count_next[0] = count + 10


def test_initialization_events_can_be_suppressed():
    simulator = simulator_of(Initialized)
    simulator.initialize(suppress_initialization_events=True)
    assert simulator.state["part.count"] == 0
    simulator.initialize()
    assert simulator.state["part.count"] == 11


def test_advancing_to_the_past_or_to_nan_is_refused_and_to_the_present_does_nothing():
    simulator = simulator_of(Crosser)
    simulator.advance_to(1.5)
    for impossible_time in (1.0, math.nan, -math.inf):
        with pytest.raises(cosim.SimulationError):
            simulator.advance_to(impossible_time)
    assert simulator.advance_to(1.5).succeeded
    assert (simulator.state.time, simulator.state["part.hits"]) == (1.5, 1)


class StoppingPublish(Mover):
    """Asks to stop at 3 s."""

    @cosim.every(1.0, does="publish")
    def watch(self, state):
        return cosim.EventStatus.reached_termination("over") if state.time >= 3.0 else None


def test_an_infinite_run_ends_where_a_handler_or_a_monitor_asks_to_stop():
    stopped_by_handler = simulator_of(StoppingPublish)
    status = stopped_by_handler.advance_to(math.inf)
    assert status.reason is cosim.Reason.REACHED_TERMINATION
    assert stopped_by_handler.state.time == 3.0
    stopped_by_monitor = simulator_of(Mover)
    stopped_by_monitor.set_monitor(
        lambda state: cosim.EventStatus.reached_termination("late") if state.time > 1e3 else None
    )
    assert stopped_by_monitor.advance_to(math.inf).reason is cosim.Reason.REACHED_TERMINATION


class Cascade(cosim.Component):
    """A signal that sets itself again until it was handled `rounds` times."""

    count = cosim.discrete(dtype=int)
    rounds = cosim.parameter(default=100.0)
    repeat = cosim.signal()

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(repeat_next):
        repeat_next[0] = 1

    @cosim.on(repeat, does="discrete")
    def again(count, rounds, count_next, repeat_next):
        count_next[0] = count + 1
        repeat_next[0] = 1 if count + 1 < rounds else 0


def test_signals_have_at_most_a_hundred_rounds():
    simulator = simulator_of(Cascade(rounds=100.0))
    simulator.initialize()
    assert simulator.state["part.count"] == 100
    with pytest.raises(cosim.SimulationError, match="part.repeat"):
        simulator_of(Cascade(rounds=101.0)).initialize()


def test_steps_are_bounded_and_events_are_located_all_the_same():
    short_steps = simulator_of(Crosser, maximum_step=0.01)
    short_steps.advance_to(2.0)
    assert short_steps.statistics.integrator_steps >= 200
    assert short_steps.state["part.hits"] == 1
    long_steps = simulator_of(Crosser, minimum_step=0.3, initial_step=0.3)
    long_steps.advance_to(2.0)
    assert long_steps.events[0].time == pytest.approx(1.0, abs=WINDOW)


def test_a_simulator_without_a_state_needs_one_before_it_goes_on():
    simulator = simulator_of(Mover)
    simulator.advance_to(1.0)
    state = simulator.release_state()
    with pytest.raises(cosim.SimulationError):
        simulator.advance_to(2.0)
    simulator.replace_state(state)
    simulator.initialize()
    simulator.advance_to(2.0)
    assert simulator.state.time == 2.0


class AskingToStop(Mover):
    """Asks to stop at 1 s, and at the start if `at_once`; counts its termination events."""

    at_once = cosim.parameter(default=0.0)
    farewells = cosim.discrete(dtype=int)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(at_once):
        return 2 if at_once > 0.0 else 1  # 2: reached termination

    @cosim.at([1.0], does="discrete")
    def later(t):
        return 2

    @cosim.on(cosim.EventCause.TERMINATION, does="discrete")
    def end(farewells, farewells_next):
        farewells_next[0] = farewells + 1


def test_every_call_that_a_handler_stops_issues_termination():
    simulator = simulator_of(AskingToStop(at_once=1.0))
    assert simulator.initialize().reason is cosim.Reason.REACHED_TERMINATION
    assert simulator.state["part.farewells"] == 1
    simulator.advance_to(1.0)
    assert simulator.advance_pending_events().reason is cosim.Reason.REACHED_TERMINATION
    assert simulator.state["part.farewells"] == 2
