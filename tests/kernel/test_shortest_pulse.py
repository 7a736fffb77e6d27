"""Witnesses that are positive for much less than a step: `shortest_pulse` says how short."""

import inspect
import math

import pytest
from kernel_parts import system_of

import cosim
from cosim.component.witness_decorator import WitnessOptions

WIDTH = 2e-3  # s


class Pulse(cosim.Component):
    """A smooth bump above zero, 2 ms long, around t = `middle`; nothing else moves."""

    x = cosim.auxiliary_state(start=1.0)
    middle = cosim.parameter(unit="s", default=0.6180339)
    seen = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.001 * x

    @cosim.witness(direction="rising", shortest_pulse=WIDTH)
    def high(t, middle):
        away = (t - middle) / 1e-3
        return math.exp(-away * away) - math.exp(-1.0)

    @cosim.on(high, does="discrete")
    def count(seen, seen_next):
        seen_next[0] = seen + 1


class Undeclared(Pulse):
    """The same without `shortest_pulse`."""

    @cosim.witness(direction="rising")
    def high(t, middle):
        away = (t - middle) / 1e-3
        return math.exp(-away * away) - math.exp(-1.0)

    @cosim.on(high, does="discrete")
    def count(seen, seen_next):
        seen_next[0] = seen + 1


class ShortPulse(Pulse):
    """A bump of 30 ns."""

    @cosim.witness(direction="rising", shortest_pulse=3e-8)
    def high(t, middle):
        away = (t - middle) / 1.5e-8
        return math.exp(-away * away) - math.exp(-1.0)

    @cosim.on(high, does="discrete")
    def count(seen, seen_next):
        seen_next[0] = seen + 1


@pytest.mark.by_turns
@pytest.mark.parametrize("middle", [0.3, 0.5, 0.6180339, 0.70001, 0.9137])
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5"])
def test_a_pulse_of_the_declared_width_is_found(middle, integrator):
    simulator = cosim.Simulator(
        system_of(part=Pulse(middle=middle)), integrator=f"integrators.{integrator}", accuracy=1e-6
    )
    simulator.advance_to(1.0)
    assert simulator.state["part.seen"] == 1
    assert simulator.events[0].time == pytest.approx(middle - 0.5 * WIDTH, abs=1e-8)


@pytest.mark.parametrize("middle", [0.3, 0.5, 0.6180339, 0.70001, 0.9137])
def test_a_pulse_of_the_declared_width_is_found_with_fixed_steps(middle):
    simulator = cosim.Simulator(
        system_of(part=Pulse(middle=middle)),
        integrator="integrators.runge_kutta_4",
        fixed_step=0.25,
        accuracy=1e-6,
    )
    simulator.advance_to(1.0)
    assert simulator.state["part.seen"] == 1
    assert simulator.events[0].time == pytest.approx(middle - 0.5 * WIDTH, abs=1e-8)


def test_a_declared_width_costs_no_steps():
    """Without the declaration the pulse is missed, with as many steps."""
    steps, seen = {}, {}
    for part in (Pulse, Undeclared):
        simulator = cosim.Simulator(system_of(part=part), accuracy=1e-6)
        simulator.advance_to(1.0)
        steps[part], seen[part] = simulator.statistics.steps, simulator.state["part.seen"]
    assert steps[Pulse] < 20 and steps[Undeclared] < 20
    assert seen == {Pulse: 1, Undeclared: 0}


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan])
def test_a_width_that_is_not_positive_is_refused(wrong):
    with pytest.raises(cosim.ContractError, match="shortest_pulse"):
        cosim.witness(shortest_pulse=wrong)


@pytest.mark.parametrize("middle", [1.1e-7, 3.4e-7, 5.6e-7, 7.9e-7])
def test_a_pulse_is_found_in_steps_of_less_than_a_hundred_isolation_windows(middle):
    simulator = cosim.Simulator(system_of(part=ShortPulse(middle=middle)), accuracy=1e-6, maximum_step=9e-7)
    assert simulator.witness_time_isolation == 1e-8
    simulator.advance_to(1e-6)
    assert simulator.state["part.seen"] == 1


def test_each_option_of_a_witness_is_a_field_that_the_step_reads():
    options = set(inspect.signature(cosim.witness).parameters) - {"function", "direction", "when", "unless"}
    assert options == set(WitnessOptions.declared)
    simulator = cosim.Simulator(system_of(one=Pulse, other=ShortPulse, third=Undeclared), accuracy=1e-6)
    rows = simulator.compiled_step.arrays.witness_options
    pulses = sorted(row.shortest_pulse for row in rows)
    assert pulses == [3e-8, WIDTH, math.inf]
