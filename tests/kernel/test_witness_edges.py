"""Crossings at the end of a call or of a run, and in States that are written or replaced between calls."""

import math

import pytest
from kernel_parts import system_of
from mover_parts import ACCURACY, WINDOW, Crosser, Mover, Sawtooth, simulator_of

import cosim


def test_a_crossing_at_the_end_of_a_call_is_one_event():
    simulator = simulator_of(Crosser)
    for end in (1.0, 1.0, 2.0):
        simulator.advance_to(end)
    assert simulator.state["part.hits"] == 1
    assert [event.time for event in simulator.events] == pytest.approx([1.0], abs=WINDOW)


def test_a_crossing_at_the_final_time_is_not_lost():
    """Rounding decides whether it comes before the run ends, or after that where the run is continued."""
    simulator = simulator_of(Crosser, final_time=1.0)
    simulator.advance_to(5.0)
    assert simulator.state.time == 1.0
    simulator.final_time = math.inf
    simulator.advance_to(2.0)
    assert (simulator.state.time, simulator.state["part.hits"]) == (2.0, 1)


class Logarithm(Mover):
    """Its witness is NaN until x = 0.5, then -infinity, and zero at x = 1.5."""

    hits = cosim.discrete(dtype=int)

    @cosim.witness
    def logarithm(x):
        return math.log(x - 0.5) if x > 0.5 else math.nan

    @cosim.on(logarithm, does="discrete")
    def hit(hits, hits_next):
        hits_next[0] = hits + 1


def test_a_witness_that_becomes_a_number_crosses_only_at_its_zero():
    simulator = simulator_of(Logarithm)
    simulator.advance_to(3.0)
    assert [event.time for event in simulator.events] == pytest.approx([1.5], abs=ACCURACY)


class BothDirections(Mover):
    """Two witnesses with the same falling values, of which one asks for rising crossings."""

    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="falling")
    def falling(x):
        return 0.5 - x

    @cosim.witness(direction="rising")
    def rising(x):
        return 0.5 - x

    @cosim.on(falling, does="discrete")
    def fall(hits, hits_next):
        hits_next[0] = hits + 1

    @cosim.on(rising, does="discrete")
    def rise(hits, hits_next):
        hits_next[0] = hits + 100


def test_a_witness_triggers_in_its_direction_alone():
    simulator = simulator_of(BothDirections)
    simulator.advance_to(1.0)
    assert simulator.state["part.hits"] == 1


def test_a_restored_state_has_its_crossing_again():
    simulator = simulator_of(Crosser)
    simulator.advance_to(0.5)
    earlier_state = simulator.state.copy()
    simulator.advance_to(1.5)
    assert simulator.state["part.hits"] == 1
    simulator.replace_state(earlier_state)
    simulator.initialize()
    simulator.advance_to(1.5)
    assert simulator.state["part.hits"] == 1
    assert simulator.state["part.x"] == pytest.approx(1.5, abs=1e-9)


def test_a_state_that_begins_beyond_the_zero_has_not_crossed_it():
    simulator = simulator_of(Crosser)
    simulator.advance_to(0.5)
    state_beyond = simulator.system.default_state()
    state_beyond["part.x"] = 5.0
    simulator.replace_state(state_beyond)
    simulator.initialize()
    simulator.advance_to(1.0)
    assert simulator.state["part.hits"] == 0


def test_a_write_across_the_zero_is_a_crossing_at_that_time():
    simulator = simulator_of(Crosser)
    simulator.advance_to(0.5)
    simulator.state["part.x"] = 1.5
    simulator.advance_to(0.6)
    assert simulator.state["part.hits"] == 1
    assert simulator.events[0].time == 0.5


def test_a_thousand_short_calls_have_the_events_of_a_long_one():
    in_short_calls, in_one_call = simulator_of(Sawtooth), simulator_of(Sawtooth)
    for i in range(1, 1001):
        in_short_calls.advance_to(i * 0.01)
    assert in_short_calls.state["part.resets"] in (9, 10)  # the tenth reset is at the end, up to rounding
    in_one_call.advance_to(10.0)
    travelled = []
    for simulator in (in_short_calls, in_one_call):
        simulator.advance_pending_events()
        travelled.append(simulator.state["part.resets"] + simulator.state["part.x"])
    assert travelled[0] == pytest.approx(travelled[1], abs=ACCURACY)


def test_two_states_of_one_system_do_not_disturb_each_other():
    system = system_of(part=Sawtooth)
    first, second, alone = (cosim.Simulator(system, accuracy=ACCURACY) for _ in range(3))
    for i in range(1, 30):
        first.advance_to(i * 0.1)
        second.advance_to(i * 0.1)
    for i in range(1, 30):
        alone.advance_to(i * 0.1)
    assert first.state.to_bytes() == second.state.to_bytes() == alone.state.to_bytes()


def test_an_event_beside_a_change_of_the_integrator_comes_once():
    simulator = simulator_of(Sawtooth)
    simulator.advance_to(1.0 + 1e-9)
    simulator.reset_integrator("integrators.dormand_prince", accuracy=1e-8)
    simulator.advance_to(2.5)
    assert simulator.state["part.resets"] == 2
