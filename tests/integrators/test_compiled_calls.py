"""Compiled code calls steps and dense output by their addresses; one call can take many steps."""

import math

import numpy as np
import pytest
from block_system import BlockSystem, run

import cosim
from cosim import kit
from cosim.kit import call_dense
from cosim.testing.known_solution import exact, known_system
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson


def oscillator(t, y, p, d, k, h, c, ints, first, count):
    if t > p[0]:
        raise ValueError("past the end")
    c[0] = y[1]
    c[1] = -y[0]
    c[2] += 1.0


SYSTEM = BlockSystem(oscillator, 2)


def first_below(address, begin, end, coefficients, work, y, out):
    """Bisection on the first state, as a witness would be located."""
    for _ in range(60):
        middle = 0.5 * (begin + end)
        call_dense(address, (middle, coefficients, work, y, out))
        if out[0] < 0.0:
            end = middle
        else:
            begin = middle
    return end


def started(method, end=1e9, **options):
    """Return an integrator and its state; evaluations after `end` (s) raise an error."""
    state = SYSTEM.state([1.0, 0.0], parameters=(end,))
    integrator = method(**options)
    integrator.initialize(SYSTEM, state)
    return integrator, state


@pytest.mark.parametrize("method", [RungeKuttaMerson, DormandPrince])
def test_compiled_code_calls_the_dense_output(method) -> None:
    integrator, state = started(method, fixed_step=0.1)
    run(integrator, SYSTEM, state, 1.6)
    dense = integrator.dense()
    find = kit.compile_function(first_below, "iffFFFF>f")
    begin, out = integrator.previous_time, np.zeros(2)
    zero = find(dense.address, begin, state.time, dense.coefficients, dense.work, state.y, out)
    assert zero == pytest.approx(math.pi / 2, abs=1e-6)
    expected = np.zeros(2)
    integrator.interpolate(zero, expected)
    dense.function(zero, dense.coefficients, dense.work, state.y, out)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("options", [{"accuracy": 1e-8}, {"fixed_step": 0.01}])
def test_advance_takes_the_same_steps_as_single_calls(options) -> None:
    stepping, stepped_state = started(DormandPrince, **options)
    run(stepping, SYSTEM, stepped_state, 5.0)
    advancing, advanced_state = started(DormandPrince, **options)
    assert advancing.advance(SYSTEM, advanced_state, 5.0) is kit.StepCode.DONE
    assert advanced_state.time == 5.0
    assert advanced_state.y.tobytes() == stepped_state.y.tobytes()
    assert advancing.statistics == stepping.statistics
    assert advancing.reason is kit.StepReason.TARGET
    assert advancing.advance(SYSTEM, advanced_state, 50.0, most=3) is kit.StepCode.DONE
    assert 5.0 < advanced_state.time < 50.0
    assert advancing.statistics.steps == stepping.statistics.steps + 3


def test_advance_stops_at_the_last_good_step() -> None:
    stepping, stepped_state = started(DormandPrince, end=2.0, fixed_step=0.3)
    while stepping.step(SYSTEM, stepped_state, 5.0) is kit.StepCode.DONE:
        pass
    advancing, advanced_state = started(DormandPrince, end=2.0, fixed_step=0.3)
    assert advancing.advance(SYSTEM, advanced_state, 5.0) is kit.StepCode.BLOCK_FAILED
    assert advanced_state.time == stepped_state.time == pytest.approx(1.8)
    assert advanced_state.y.tobytes() == stepped_state.y.tobytes()
    assert advanced_state.c.tolist()[:2] == [stepped_state.y[1], -stepped_state.y[0]]


def test_the_reason_for_the_length_of_a_step() -> None:
    integrator, state = started(DormandPrince, accuracy=1e-4, maximum_step=0.2)
    integrator.step(SYSTEM, state, 10.0)
    assert integrator.reason is kit.StepReason.METHOD
    integrator.step(SYSTEM, state, 10.0, limit=1e-3)
    assert integrator.reason is kit.StepReason.LIMIT
    for _ in range(20):
        integrator.step(SYSTEM, state, 10.0)
    assert integrator.reason is kit.StepReason.MAXIMUM
    integrator.step(SYSTEM, state, state.time + 0.01)
    assert integrator.reason is kit.StepReason.TARGET


@pytest.mark.parametrize(
    "options",
    [{"accuracy": 1e-8}, {"fixed_step": 0.01}, {"fixed_step": 0.3}, {"accuracy": 1e-3, "maximum_step": 0.1}],
)
def test_advance_to_ends_with_the_bytes_of_single_steps(options) -> None:
    stepping, advancing = (
        cosim.Simulator(known_system(), integrator=DormandPrince, **options) for _ in range(2)
    )
    for target in (0.7, 2.003, 2.0031, 5.0):
        while not stepping.is_initialized or stepping.state.time < target:
            stepping.step(target)
        advancing.advance_to(target)
        assert advancing.state.to_bytes() == stepping.state.to_bytes()
    assert advancing.statistics == stepping.statistics


def test_a_failure_in_advance_to_leaves_the_last_good_step() -> None:
    simulator = cosim.Simulator(known_system(end_of_law=0.5), integrator=DormandPrince, fixed_step=0.03)
    with pytest.raises(cosim.SimulationError, match="law has ended"):
        simulator.advance_to(2.0)
    assert simulator.state.time == pytest.approx(0.48)  # the last multiple of 0.03 before the law ends
    assert np.abs(simulator.state.y - exact(simulator.state.time)).max() < 1e-6
    assert simulator.statistics.integrator_steps == 16
