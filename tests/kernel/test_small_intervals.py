"""advance_to in small intervals, as co-simulations call it: the same trajectory, at nearly the same cost."""

import pytest
from kernel_parts import Oscillator, system_of

import cosim

UNTIL = 10.0


def run(method, intervals):
    """A simulator that has advanced to `UNTIL` in equal intervals."""
    simulator = cosim.Simulator(system_of(o=Oscillator), integrator=f"integrators.{method}", accuracy=1e-7)
    for i in range(1, intervals + 1):
        simulator.advance_to(UNTIL * i / intervals)
    return simulator


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince"])
def test_small_intervals_take_few_more_evaluations(method):
    one_interval = run(method, 1)
    steps, evaluations = one_interval.statistics.steps, one_interval.statistics.evaluations
    for natural_steps in (5, 10):
        several = run(method, steps // natural_steps)
        assert several.statistics.evaluations <= 1.3 * evaluations
        assert several.state["o.x"] == pytest.approx(one_interval.state["o.x"], abs=2e-6)
    # shorter than a natural step: one step each, after the first ones have grown to that length
    intervals = 2 * steps
    first_steps = 8
    many = run(method, intervals)
    stages = evaluations / steps
    assert many.statistics.steps <= intervals + first_steps
    assert many.statistics.evaluations <= (intervals + first_steps) * stages * 1.01 + 3
    assert many.state["o.x"] == pytest.approx(one_interval.state["o.x"], abs=2e-6)


def test_what_is_written_between_intervals_costs_one_evaluation():
    simulator = cosim.Simulator(
        system_of(o=Oscillator), integrator="integrators.dormand_prince", accuracy=1e-6
    )
    simulator.advance_to(1.0)
    step = 1e-3
    counts = []
    for i in range(1, 21):
        before = simulator.statistics.evaluations
        simulator.advance_to(1.0 + i * step)
        counts.append(simulator.statistics.evaluations - before)
    assert counts == [6] * 20  # the stages of a step; its last one is the first one of the next step
    # the new derivative is walked by realize(), which is not an evaluation of the integrator's
    simulator.state["o.force"] = 1.0
    before = simulator.statistics.evaluations
    simulator.advance_to(1.0 + 21 * step)
    assert simulator.statistics.evaluations - before == 7
