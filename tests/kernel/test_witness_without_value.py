"""A witness whose value is not a number does not trigger, and a finding says so."""

import math

import pytest

import cosim


class Fuel(cosim.Component):
    """What is left in a tank; a witness of its logarithm, which ends where the tank is empty."""

    left = cosim.auxiliary_state(start=1.0)
    fired = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(left_dot):
        left_dot[0] = -1.0

    @cosim.witness(direction="falling")
    def low(left):
        return math.log(left) + 1.0 if left > 0.0 else math.nan

    @cosim.on(low, does="discrete")
    def count(fired, fired_next):
        fired_next[0] = fired + 1


class Refilled(Fuel):
    """Is refilled long before it is empty."""

    @cosim.on(Fuel.low, does="unrestricted")
    def refill(left_next):
        left_next[0] = 1.0


class Gap(cosim.Component):
    """A witness without a value in the middle of a step."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 0.0

    @cosim.witness
    def close(t):
        return math.sqrt(abs(t - 0.5) - 0.2) + 1.0 if abs(t - 0.5) > 0.2 else math.nan

    @cosim.on(close, does="discrete")
    def count(t):
        pass


def simulator_of(part: type, **options: object) -> cosim.Simulator:
    """A simulator of one part, ``fuel``."""
    model = cosim.Model("tank")
    model.add(part, "fuel")
    return cosim.Simulator(model.build(), **options)


def nan_findings(simulator: cosim.Simulator) -> list[tuple[float, str]]:
    """The times and witnesses of the findings about values that are no numbers."""
    return [(f.time, f.witness) for f in simulator.findings if f.kind == "not a number"]


@pytest.mark.parametrize(
    "options", [{"accuracy": 1e-6}, {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.25}]
)
def test_a_witness_that_becomes_nan_is_named_once(options: dict[str, object]) -> None:
    simulator = simulator_of(Fuel, **options)
    for end in (0.5, 2.0, 3.0, 4.0):
        simulator.advance_to(end)
    [(time, witness)] = nan_findings(simulator)
    assert witness == "fuel.low"
    assert 1.0 <= time <= 2.0
    assert "number (NaN)" in str(next(f for f in simulator.findings if f.witness == witness))
    assert simulator.state["fuel.fired"] == 1  # before that


def test_a_witness_without_a_value_at_the_start_is_named() -> None:
    simulator = simulator_of(Fuel, accuracy=1e-6)
    simulator.state["fuel.left"] = -1.0
    simulator.initialize()
    assert nan_findings(simulator) == [(0.0, "fuel.low")]


def test_a_value_that_an_event_prevents_is_not_reported() -> None:
    """The step in which the tank would have become empty ends at the refill."""
    simulator = simulator_of(Refilled, accuracy=1e-3)
    simulator.advance_to(10.0)
    assert simulator.state["fuel.fired"] >= 15
    assert nan_findings(simulator) == []


def test_a_gap_of_values_inside_a_step_is_found() -> None:
    simulator = simulator_of(Gap, accuracy=1e-6, integrator="integrators.runge_kutta_4", fixed_step=1.0)
    simulator.advance_to(1.0)
    [(time, witness)] = nan_findings(simulator)
    assert witness == "fuel.close"
    assert 0.3 <= time <= 0.7


def test_a_result_has_the_finding() -> None:
    model = cosim.Model("tank")
    model.add(Fuel, "fuel")
    result = model.simulate(until=2.0, accuracy=1e-6)
    assert any(f.witness == "fuel.low" and f.kind == "not a number" for f in result.findings)
