"""Witnesses at exactly zero: which events they raise there, and once, with any method and step."""

from __future__ import annotations

import pytest
from how_many import FACTOR
from kernel_parts import system_of
from zero_methods import EVERY
from zero_parts import (
    Bystander,
    Cradle,
    Downward,
    EitherWayBall,
    FloorBall,
    FromLevel,
    Gate,
    Mixture,
    Passage,
    Ramp,
    Relay,
    Tank,
    Turned,
    TurnedAndBack,
    Upward,
    simulator_of,
)

import cosim


@pytest.mark.few(16)
@pytest.mark.parametrize(("method", "step"), EVERY)
@pytest.mark.parametrize("part", [Tank, Mixture])
def test_a_level_that_stays_on_its_threshold_closes_its_valve_once(part, method, step):
    for until in (2.0, 10.0):
        simulator = simulator_of(part(), f"integrators.{method}", step)
        simulator.advance_to(until)
        assert simulator.state["part.closed"] == 1
        assert not simulator.findings


@pytest.mark.by_turns
@pytest.mark.parametrize("height", [0.0, 0.0726])
@pytest.mark.parametrize("part", [FloorBall, EitherWayBall])
@pytest.mark.parametrize(
    "method", ["bogacki_shampine", "dormand_prince", "runge_kutta_merson", "bdf", "radau5"]
)
def test_a_ball_on_the_floor_stays_there(part, height, method):
    # at rest, and moving down, from the start
    for speed in (0.0, -1.0):
        simulator = simulator_of(part(floor_height=height), f"integrators.{method}", h=height, v=speed)
        simulator.advance_to(2.0)
        assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)
        assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]

    # put there by a periodic handler
    simulator = simulator_of(part(floor_height=height, put_at=0.5), f"integrators.{method}", h=height + 2.0)
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)

    # put there by a user
    simulator = simulator_of(part(floor_height=height), f"integrators.{method}", h=height + 2.0)
    simulator.advance_to(0.1)
    simulator.state["part.h"], simulator.state["part.v"] = height, 0.0
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)


@pytest.mark.parametrize("method", ["bogacki_shampine", "dormand_prince", "tsitouras"])
def test_steps_of_a_ball_on_the_floor_may_more_than_double(method):
    """The slope of its witness has no measured noise, so none limits how fast steps grow."""
    simulator = simulator_of(FloorBall(floor_height=0.0726), f"integrators.{method}", h=0.0726)
    growths = []
    while simulator.state.time < 2.0:
        before = simulator.state.time
        simulator.step(2.0)
        if simulator.state.time > 0.01:
            growths.append(simulator.state.integrator_memory[0] / (simulator.state.time - before))
    assert max(growths) > 2.1


@pytest.mark.by_turns
@pytest.mark.parametrize("step", [0.15, 0.08, 0.037, 0.003])
@pytest.mark.parametrize("height", [0.0726, 3.3, 7e5])
@pytest.mark.parametrize(
    "method",
    [
        *("bdf", "esdirk43", "generalized_alpha", "implicit_euler", "radau3", "radau5"),
        *("runge_kutta_4", "trapezoid", "velocity_verlet", "yoshida_4"),
    ],
)
def test_a_ball_stays_on_a_floor_with_fixed_steps(method, height, step):
    """The rates of a held witness are differences with noise, which a fixed step cannot make smaller."""
    simulator = simulator_of(FloorBall(floor_height=height), f"integrators.{method}", step, h=height)
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, rel=1e-8, abs=1e-8)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]


def test_a_ball_that_starts_below_the_floor_is_a_finding():
    simulator = simulator_of(FloorBall(), h=-1e-12)
    simulator.advance_to(0.5)
    assert [finding.kind for finding in simulator.findings] == ["wrong side"]


def test_a_ball_whose_start_is_below_the_floor_by_rounding_stays_there():
    height = 0.1 + 0.2
    simulator = simulator_of(FloorBall(floor_height=height), h=0.3)
    assert simulator.state["part.h"] < height
    simulator.advance_to(2.0)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-6)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["bogacki_shampine", "dormand_prince", "bdf", "radau5"])
@pytest.mark.parametrize("kick", [0.0, 1.0, -0.1, -1e-3])
@pytest.mark.parametrize(
    ("part", "side"), [(Upward, 1.0), (Downward, -1.0), (FromLevel, 1.0), (FromLevel, -1.0)]
)
def test_a_level_at_which_a_run_starts_triggers_once_when_it_is_left(part, side, kick, method):
    """Its handler changes how fast the level moves on, or nothing."""
    for level in (0.0, 0.7, -3e4):
        simulator = simulator_of(part(level=level, pace=side, kick=kick), f"integrators.{method}", x=level)
        simulator.advance_to(1.0)
        assert simulator.state["part.passages"] == 1
        assert not simulator.findings


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ["runge_kutta_4", "radau5"])
@pytest.mark.parametrize("factor", [1.0, 0.97, 0.0])
def test_a_passage_is_one_event_whatever_else_is_updated_then(method, factor):
    """A speed passes zero, is turned round by its handler and passes where that was: two events."""
    system = system_of(part=TurnedAndBack(), other=Bystander(factor=factor))
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", fixed_step=0.05)
    simulator.advance_to(1.0)
    passed = [event for event in simulator.events if event.handler == "part.turn"]
    assert [round(event.time, 9) for event in passed] == [0.05, 0.55]
    assert [event.witness_values[1] > 0.0 for event in passed] == [True, True]
    assert not simulator.findings


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-9, 1e100])
@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "radau5"])
def test_a_passage_is_one_event_however_small_its_numbers(method, unit):
    """Products of rates as small as that are 0, which is no change of sign."""
    part = Passage(rate=unit, height=0.5 * unit)
    simulator = simulator_of(part, f"integrators.{method}")
    simulator.advance_to(1.0)
    assert simulator.state["part.events"] == 1
    assert not simulator.findings


@pytest.mark.by_turns
@pytest.mark.parametrize("step", [None, 0.1, 0.013])
@pytest.mark.parametrize("diameter", [0.2, 0.25])
def test_three_bodies_that_touch_pass_a_blow_on(diameter, step):
    """Whether the distance of those that touch is zero, or a unit of rounding from it, on either side."""
    for x3 in (0.1 + diameter, 0.1 + diameter + 5e-17, 0.1 + diameter - 5e-17):
        simulator = simulator_of(Cradle(diameter=diameter), step=step, x3=x3)
        simulator.advance_to(3.0)
        assert simulator.state["part.blows"] == 1001
        speeds = [simulator.state[f"part.v{i}"] for i in (1, 2, 3)]
        assert speeds == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


def test_a_user_who_writes_zero_has_the_event_when_it_is_left():
    simulator = simulator_of(Ramp())
    simulator.advance_to(0.25)
    simulator.state["part.x"], simulator.state["part.rate"] = 0.7, 0.0
    simulator.advance_to(0.5)
    assert simulator.state["part.events"] == 0
    simulator.state["part.rate"] = 1.0
    simulator.advance_to(0.75)
    assert simulator.state["part.events"] == 1
    assert simulator.events[0].time == pytest.approx(0.5, abs=1e-7)
    simulator.advance_to(2.0)
    assert simulator.state["part.events"] == 1


def test_a_step_that_ends_short_of_zero_by_rounding_has_come_to_it():
    """It triggers once whether it then goes on, rests or turns back."""
    for next_rate in (1.0, 0.0, -1.0):
        simulator = simulator_of(Ramp(), x=0.7 - 0.3)
        simulator.advance_to(0.1)
        simulator.advance_to(0.2)
        simulator.advance_to(0.30000000000000004 - 5e-17)
        simulator.state["part.rate"] = next_rate
        simulator.advance_to(0.5)
        simulator.advance_to(0.6)
        assert simulator.state["part.events"] == 1


def test_replacing_the_integrator_at_zero_raises_no_second_event():
    simulator = simulator_of(Ramp(), "integrators.runge_kutta_4", 0.0625, x=0.7 - 0.5)
    simulator.advance_to(0.5)
    simulator.advance_pending_events()
    assert simulator.state["part.events"] == 1
    simulator.reset_integrator("integrators.dormand_prince")
    simulator.advance_to(1.0)
    assert simulator.state["part.events"] == 1


def test_an_input_that_is_written_to_its_threshold_triggers():
    simulator = simulator_of(Gate())
    values_and_events = [(0.5, 0), (1.0, 1), (2.0, 1), (1.0, 1), (0.0, 1), (1.0, 2)]
    for number, (value, expected) in enumerate(values_and_events):
        simulator.state["part.signal"] = value
        simulator.advance_to(0.25 * (number + 1))
        assert simulator.state["part.events"] == expected


@pytest.mark.by_turns
@pytest.mark.parametrize("step", [None, 0.1, 0.125])
@pytest.mark.parametrize("limit", [0.7, 0.75])
def test_a_witness_of_both_directions_triggers_for_either(step, limit):
    simulator = simulator_of(Turned(limit=limit), step=step)
    simulator.advance_to(2.0)
    counts = [simulator.state[f"part.{name}"] for name in ("turns", "rises", "falls", "passages")]
    assert counts == [1, 1, 1, 2]


@pytest.mark.by_turns
@pytest.mark.parametrize("accuracy", [1e-6, 1e-10, 1e-12])
@pytest.mark.parametrize("method", ["dormand_prince", "tsitouras", "runge_kutta_merson"])
def test_a_relay_that_is_switched_at_its_very_surface_slides_on_it(method, accuracy):
    simulator = simulator_of(Relay(), f"integrators.{method}", accuracy=accuracy)
    # held since t = 0.7, where each step is searched in all its parts: at small accuracies for many seconds
    simulator.advance_to(3.0 if accuracy == 1e-6 or FACTOR > 1 else 1.0)
    state = simulator.state
    assert [finding.kind for finding in simulator.findings] == ["chattering", "held"]
    assert abs(state["part.x"] + state["part.v"]) < 1e-12


@pytest.mark.parametrize("part", [Tank(), Mixture(), FloorBall(put_at=0.5), Cradle(spring=20.0)], ids=repr)
def test_stopped_and_resumed_runs_give_the_same_bytes(part):
    system = system_of(part=part)
    options = {"integrator": "integrators.runge_kutta_merson", "accuracy": 1e-6}

    def start():
        state = system.default_state()
        if isinstance(part, FloorBall):
            state["part.h"] = 1.0
        return state

    uninterrupted, resumed = (cosim.Simulator(system, start(), **options) for _ in range(2))
    for step in range(1, 13):
        uninterrupted.advance_to(0.125 * step)
        resumed = cosim.Simulator(system, system.state_from_bytes(resumed.state.to_bytes()), **options)
        resumed.advance_to(0.125 * step)
        assert uninterrupted.state.to_bytes() == resumed.state.to_bytes()
