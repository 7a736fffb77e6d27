"""A state whose handler sets its witness back to zero again and again is clamped there."""

from __future__ import annotations

import pytest
from gradient_checks import check_against_tangents, model_of
from kernel_parts import system_of

import cosim

HELD = ["zeno", "held"]
EVENTS = 11
"""The events until a state is clamped: the first one, and ten that repeat it."""
EXACT = 1e-12
METHODS = [
    *((method, None) for method in ("dormand_prince", "runge_kutta_merson", "bdf", "radau5", "scipy_lsoda")),
    *((method, 0.01) for method in ("explicit_euler", "runge_kutta_merson", "bdf", "generalized_alpha")),
]


class Clamp(cosim.Component):
    """Law: x' = rate - pull x; as soon as x is above its limit, it is set to `below` below the limit."""

    x = cosim.auxiliary_state()
    rate = cosim.discrete(start=1.0)
    pull = cosim.parameter(unit="1/s", default=0.0)
    limit = cosim.parameter(unit="1", default=0.5)
    below = cosim.parameter(unit="1", default=0.0)
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, rate, pull, x_dot):
        x_dot[0] = rate - pull * x

    @cosim.witness(direction="rising")
    def top(x, limit):
        return x - limit

    @cosim.on(top, does="unrestricted")
    def set_back(limit, below, events, x_next, events_next):
        x_next[0] = limit - below
        events_next[0] = events + 1


class FallingClamp(Clamp):
    """A clamp that limits x from below."""

    @cosim.witness(direction="falling")
    def top(x, limit):
        return x - limit

    @cosim.on(top, does="unrestricted")
    def set_back(limit, events, x_next, events_next):
        x_next[0] = limit
        events_next[0] = events + 1


class TwoSided(Clamp):
    """A clamp that sets x to its limit from either side."""

    @cosim.witness
    def top(x, limit):
        return x - limit

    @cosim.on(top, does="unrestricted")
    def set_back(limit, events, x_next, events_next):
        x_next[0] = limit
        events_next[0] = events + 1


class FallingBody(cosim.Component):
    """A falling body whose handler sets its height to 0 and leaves its speed."""

    height = cosim.position(start=0.5)
    speed = cosim.speed(start=-1.0)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -2.0

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    def lift(height_next):
        height_next[0] = 0.0


def simulator_of(part, method="dormand_prince", step=None, **options):
    """A simulator of one part, ``part``, with error control or a fixed step."""
    options |= {"fixed_step": step} if step else {}
    return cosim.Simulator(system_of(part=part), integrator=f"integrators.{method}", accuracy=1e-6, **options)


def finding_kinds(simulator):
    return [finding.kind for finding in simulator.findings]


@pytest.mark.by_turns
@pytest.mark.parametrize(("method", "step"), METHODS)
@pytest.mark.parametrize("pull", [0.0, 1.0])
def test_a_clamped_state_stays_on_its_limit(method, step, pull):
    simulator = simulator_of(Clamp(pull=pull), method, step)
    for until in (0.8, 2.0, 10.0):
        simulator.advance_to(until)
        assert simulator.state["part.x"] == pytest.approx(0.5, abs=EXACT)
        assert simulator.state["part.events"] == EVENTS
    assert finding_kinds(simulator) == HELD


def test_a_state_is_clamped_from_above_at_a_limit_of_zero():
    simulator = simulator_of(FallingClamp(limit=0.0))
    simulator.state["part.x"], simulator.state["part.rate"] = 1.0, -2.0
    simulator.advance_to(3.0)
    assert simulator.state["part.x"] == pytest.approx(0.0, abs=EXACT)
    assert (simulator.state["part.events"], finding_kinds(simulator)) == (EVENTS, HELD)


def test_a_start_at_the_limit_is_clamped_at_once():
    simulator = simulator_of(Clamp(limit=0.0))
    simulator.advance_to(1.0)
    assert simulator.state["part.x"] == pytest.approx(0.0, abs=EXACT)
    assert (simulator.state["part.events"], finding_kinds(simulator)) == (EVENTS, HELD)


def test_a_clamp_is_released_when_the_rate_changes_its_sign_and_holds_again():
    simulator = simulator_of(Clamp())
    simulator.advance_to(1.0)
    simulator.state["part.rate"] = 3.0  # still toward the limit
    simulator.advance_to(1.5)
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=EXACT)
    assert (simulator.state["part.events"], finding_kinds(simulator)) == (EVENTS, HELD)
    simulator.state["part.rate"] = -1.0
    simulator.advance_to(2.0)
    assert simulator.state["part.x"] == pytest.approx(0.0, abs=EXACT)
    assert (simulator.state["part.events"], finding_kinds(simulator)) == (EVENTS, [*HELD, "released"])
    simulator.state["part.rate"] = 1.0
    simulator.advance_to(4.0)
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=EXACT)
    assert (simulator.state["part.events"], finding_kinds(simulator)) == (
        2 * EVENTS,
        [*HELD, "released", *HELD],
    )


def test_a_clamped_state_with_a_rate_of_zero_stays_at_its_limit():
    simulator = simulator_of(Clamp())
    simulator.advance_to(1.0)
    simulator.state["part.rate"] = 0.0
    simulator.advance_to(2.0)
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=EXACT)
    assert simulator.state["part.events"] == EVENTS


@pytest.mark.parametrize("rate", [-1.0, 1.0])
def test_a_two_sided_clamp_stays_at_its_limit_for_rates_of_either_sign(rate):
    simulator = simulator_of(TwoSided())
    simulator.advance_to(1.0)
    simulator.state["part.rate"] = rate
    simulator.advance_to(2.0)
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=EXACT)
    is_held_again = rate < 0.0
    assert finding_kinds(simulator) == (HELD + ["released", *HELD] if is_held_again else HELD)


@pytest.mark.parametrize("below", [1e-9, 5e-8])
def test_a_state_that_is_set_back_by_less_than_ten_windows_is_clamped(below):
    simulator = simulator_of(Clamp(below=below))
    simulator.advance_to(3.0)
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=1e-6)
    assert finding_kinds(simulator) == HELD


def test_a_state_that_is_set_back_further_has_an_event_each_time():
    """It reaches 0.5 at 0.5 s and then every 0.125 s, for the 13th time at 2 s."""
    simulator = simulator_of(Clamp(below=0.125))
    simulator.advance_to(2.0625)
    assert (simulator.state["part.events"], finding_kinds(simulator)) == (13, [])
    assert simulator.state["part.x"] == pytest.approx(0.4375, abs=1e-6)


def test_the_speed_of_a_body_with_a_clamped_height_still_grows():
    simulator = simulator_of(FallingBody())
    simulator.advance_to(2.0)
    assert simulator.state["part.height"] == pytest.approx(0.0, abs=EXACT)
    assert simulator.state["part.speed"] == pytest.approx(-5.0, abs=EXACT)
    assert finding_kinds(simulator) == HELD


def test_a_clamp_is_part_of_the_state():
    simulator = simulator_of(Clamp(pull=1.0))
    simulator.advance_to(1.0)
    assert finding_kinds(simulator) == HELD
    restored_state = simulator.system.state_from_bytes(simulator.state.to_bytes())
    options = {"integrator": "integrators.dormand_prince", "accuracy": 1e-6}
    restored = cosim.Simulator(simulator.system, restored_state, **options)
    for each in (simulator, restored):
        each.advance_to(2.0)
    assert restored.state.to_bytes() == simulator.state.to_bytes()
    assert restored.state["part.x"] == pytest.approx(0.5, abs=EXACT)


def test_without_holds_there_is_an_event_in_each_window():
    simulator = simulator_of(Clamp(), endless_events="report")
    simulator.advance_to(0.5 + 1e-6)
    assert simulator.state["part.events"] >= 50
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=2e-8)
    assert finding_kinds(simulator) == ["zeno"]


def test_derivatives_of_a_clamped_state_are_those_of_its_limit():
    by = ["x.limit", "x.rate", "x.pull"]
    options = {"until": 3.0, "output_interval": 1.5, "accuracy": 1e-9}
    gradient = model_of(Clamp(pull=1.0)).gradient("x.x", by, **options)
    assert gradient.vector == pytest.approx([1.0, 0.0, 0.0], abs=1e-8)
    check_against_tangents(model_of(Clamp(pull=1.0)), by, until=2.0, output_interval=0.4, close=1e-9)
