"""Held witnesses that are sums of states and time: their slopes are free of the rounding of constants."""

from __future__ import annotations

import dataclasses
import math

import pytest
from kernel_parts import system_of
from zero_parts import EitherWayBall, FloorBall

import cosim
from cosim.preparation import witness_entry

MOST_STEPS = {  # of each method for two seconds at rest, at an accuracy of 1e-6
    **dict.fromkeys(("bogacki_shampine", "dormand_prince", "dormand_prince_853", "esdirk43"), 50),
    **dict.fromkeys(("radau3", "radau5", "runge_kutta_3", "runge_kutta_merson", "tsitouras"), 50),
    **dict.fromkeys(("bdf", "generalized_alpha", "heun", "implicit_euler", "trapezoid"), 500),
}


class CurvedFloorBall(FloorBall):
    """The same, with a witness that is no sum."""

    @cosim.witness(direction="falling")
    def floor(h, floor_height):
        return h * h - floor_height * floor_height

    @cosim.on(floor, does="unrestricted")
    def bounce(v, restitution, floor_height, h_next, v_next):
        h_next[0] = floor_height
        v_next[0] = -restitution * v if v < 0.0 else v


class Lift(cosim.Component):
    """A ball on a floor that rises at a constant speed."""

    h = cosim.position(start=3.3)
    v = cosim.speed()
    rises = cosim.parameter(default=0.25)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(v, h_dot, v_dot):
        h_dot[0] = v
        v_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(t, h, rises):
        return h - 3.3 - rises * t

    @cosim.on(floor, does="unrestricted")
    def bounce(v, rises, hits, v_next, hits_next):
        v_next[0] = rises - 0.5 * (v - rises)
        hits_next[0] = hits + 1


class Slide(cosim.Component):
    """A relay: x' = v, v' = +-5, which slides on x - 2.5 + v = 0."""

    x = cosim.position(start=3.5)
    v = cosim.speed()
    force = cosim.discrete(start=-5.0)

    @cosim.kernel
    def derivatives(v, force, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = force

    @cosim.witness
    def surface(x, v):
        return x - 2.5 + v

    @cosim.on(surface, does="discrete")
    def turn(force, force_next):
        force_next[0] = -force


class Clamp(cosim.Component):
    """What grows like time is set back to its limit."""

    x = cosim.auxiliary_state(start=40.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0

    @cosim.witness(direction="rising")
    def full(x):
        return x - 40.3

    @cosim.on(full, does="unrestricted")
    def set_back(x_next):
        x_next[0] = 40.3


def run(parts, method, accuracy=1e-6, until=2.0):
    """A simulator of parts that has advanced to a time, s."""
    simulator = cosim.Simulator(system_of(**parts), integrator=f"integrators.{method}", accuracy=accuracy)
    simulator.advance_to(until)
    return simulator


@pytest.mark.by_turns
@pytest.mark.parametrize("height", [0.0726, 3.3, -40.0])
@pytest.mark.parametrize("method", MOST_STEPS)
def test_a_ball_at_rest_takes_few_steps_at_any_height(method, height):
    part = FloorBall(floor_height=height)
    system = system_of(ball=part)
    state = system.default_state()
    state["ball.h"] = height
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.advance_to(2.0)
    assert simulator.state["ball.h"] == pytest.approx(height, abs=1e-6)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]
    assert simulator.statistics.steps < MOST_STEPS[method]


@pytest.mark.parametrize("method", ["runge_kutta_merson", "radau5"])
def test_a_ball_on_a_rising_floor_has_its_speed(method):
    simulator = run({"lift": Lift()}, method, until=4.0)
    assert simulator.state["lift.h"] == pytest.approx(3.3 + 0.25 * 4.0, abs=1e-7)
    assert simulator.state["lift.v"] == pytest.approx(0.25, abs=1e-7)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]
    assert simulator.statistics.steps < 60


@pytest.mark.parametrize("method", ["dormand_prince", "bdf"])
def test_a_relay_slides_on_a_sum_of_states(method):
    until = 0.75
    simulator = run({"relay": Slide()}, method, 1e-8, until)
    assert [finding.kind for finding in simulator.findings] == ["chattering", "held"]
    x, v = simulator.state["relay.x"], simulator.state["relay.v"]
    reached = -1.0 + math.sqrt(1.4)  # where 1 - 2.5 t^2 - 5 t = 0
    distance = 1.0 - 2.5 * reached * reached
    assert x - 2.5 == pytest.approx(distance * math.exp(reached - until), abs=1e-6)
    assert x - 2.5 + v == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("method", ["runge_kutta_merson", "esdirk43"])
def test_a_clamp_stays_at_its_limit(method):
    simulator = run({"clamp": Clamp()}, method)
    assert simulator.state["clamp.x"] == pytest.approx(40.3, abs=1e-12)
    assert simulator.statistics.steps < 60


@pytest.mark.parametrize("method", ["runge_kutta_merson", "radau5"])
def test_straight_and_curved_witnesses_are_held_together(method):
    """Two witnesses of one block, one of another block, and one that is no sum: each has its own slopes."""
    parts = {
        "a": FloorBall(floor_height=1.5),
        "b": CurvedFloorBall(floor_height=0.5),
        "c": FloorBall(floor_height=0.25),
    }
    system = system_of(**parts, lift=Lift(rises=0.0))
    state = system.default_state()
    heights = {"a": 1.5, "b": 0.5, "c": 0.25, "lift": 3.3}
    for name, height in heights.items():
        state[f"{name}.h"] = height + 0.01
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.advance_to(2.0)
    assert {name: simulator.state[f"{name}.h"] for name in heights} == pytest.approx(heights, abs=1e-6)
    assert sorted(finding.witness for finding in simulator.findings if finding.kind == "held") == [
        f"{name}.floor" for name in heights
    ]


def test_which_witnesses_are_straight():
    system = system_of(a=FloorBall(), b=CurvedFloorBall(), c=FloorBall(), d=EitherWayBall(), lift=Lift())
    witnesses = witness_entry.list_witnesses(system)
    assert [witness.path for witness in witnesses if not witness.is_straight] == ["b.floor"]
    blocks = {witness.path: witness.own_block for witness in witnesses}
    assert blocks["a.floor"] == blocks["c.floor"] >= 0
    assert blocks["d.floor"] >= 0 and blocks["lift.floor"] >= 0
    assert len(set(blocks.values())) == 4


def height_and_steps(height):
    """The height above its floor of a ball that was dropped onto it from 1 cm, and the number of steps."""
    system = system_of(ball=FloorBall(floor_height=height))
    state = system.default_state()
    state["ball.h"] = height + 0.01
    simulator = cosim.Simulator(system, state, accuracy=1e-6)
    simulator.advance_to(3.0)
    return simulator.state["ball.h"] - height, simulator.statistics.steps


def test_slopes_by_differences_give_the_same_run_but_for_rounding(monkeypatch):
    """Differences are the way of curved witnesses: at a height of 3.3 they take many more steps."""
    straight = {height: height_and_steps(height) for height in (0.0, 3.3)}
    witness_class = witness_entry.WitnessEntry
    monkeypatch.setattr(
        witness_entry,
        "WitnessEntry",
        lambda *fields: dataclasses.replace(witness_class(*fields), own_block=-1),
    )
    differences = {height: height_and_steps(height) for height in (0.0, 3.3)}
    assert straight[0.0][0] == pytest.approx(differences[0.0][0], abs=1e-9)
    assert straight[3.3][0] == pytest.approx(differences[3.3][0], abs=1e-7)
    assert straight[3.3][1] < differences[3.3][1] - 100
