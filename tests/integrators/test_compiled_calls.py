"""Steps and dense outputs called by address from compiled code, and many steps in one call."""

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


SYSTEM = BlockSystem(oscillator, 2)


def started(method, end=1e9, **options):
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
    found = find(dense.address, begin, state.time, dense.coefficients, dense.work, state.y, out)
    assert found == pytest.approx(math.pi / 2, abs=1e-6)
    expected = np.zeros(2)
    integrator.interpolate(found, expected)
    dense.function(found, dense.coefficients, dense.work, state.y, out)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("options", [{"accuracy": 1e-8}, {"fixed_step": 0.01}])
def test_advancing_takes_the_same_steps(options) -> None:
    one, state = started(DormandPrince, **options)
    run(one, SYSTEM, state, 5.0)
    many, other = started(DormandPrince, **options)
    assert many.advance(SYSTEM, other, 5.0) is kit.StepCode.DONE
    assert other.time == 5.0
    assert other.y.tobytes() == state.y.tobytes()
    assert many.statistics == one.statistics
    assert many.reason is kit.StepReason.TARGET
    assert many.advance(SYSTEM, other, 50.0, most=3) is kit.StepCode.DONE
    assert 5.0 < other.time < 50.0
    assert many.statistics.steps == one.statistics.steps + 3


def test_advancing_stops_at_the_last_good_step() -> None:
    one, state = started(DormandPrince, end=2.0, fixed_step=0.3)
    while one.step(SYSTEM, state, 5.0) is kit.StepCode.DONE:
        pass
    many, other = started(DormandPrince, end=2.0, fixed_step=0.3)
    assert many.advance(SYSTEM, other, 5.0) is kit.StepCode.BLOCK_FAILED
    assert other.time == state.time == pytest.approx(1.8)
    assert other.y.tobytes() == state.y.tobytes()
    assert other.c.tolist()[:2] == [state.y[1], -state.y[0]]


def test_why_a_step_ended_where_it_did() -> None:
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
def test_a_simulator_that_strides_goes_the_same_way(options) -> None:
    walking, striding = (
        cosim.Simulator(known_system(), integrator=DormandPrince, **options) for _ in range(2)
    )
    for target in (0.7, 2.003, 2.0031, 5.0):
        while walking.state.time < target if walking.is_initialized else True:
            walking.step(target)
        striding.advance_to(target)
        assert striding.state.to_bytes() == walking.state.to_bytes()
    assert striding.statistics == walking.statistics


def test_a_failure_in_a_stride_leaves_the_last_good_step() -> None:
    simulator = cosim.Simulator(known_system(end_of_law=0.5), integrator=DormandPrince, fixed_step=0.03)
    with pytest.raises(cosim.SimulationError, match="law has ended"):
        simulator.advance_to(2.0)
    assert simulator.state.time == pytest.approx(0.48)
    assert np.abs(simulator.state.y - exact(simulator.state.time)).max() < 1e-6
    assert simulator.statistics.integrator_steps == 16
