"""Steps that fail: infinite solutions, NaN, blocks that raise, states that no integrator has initialized."""

import math

import numpy as np
import pytest
from block_system import BlockSystem
from started_blocks import CONTROLLED, OSCILLATOR, late_nan, started

from cosim.contracts.step_code import StepCode
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson


def riccati(t, y, p, d, k, h, c, ints, first, count):
    # y' = y^2, y(0) = 1: y = 1 / (1 - t)
    c[0] = y[0] * y[0]
    c[1] += 1.0


def raises_late(t, y, p, d, k, h, c, ints, first, count):
    if t > p[0]:
        raise ValueError("past the end of the table")
    c[0] = y[0]
    c[1] += 1.0


@pytest.mark.by_turns
@pytest.mark.parametrize("method", CONTROLLED)
@pytest.mark.parametrize("next_step", [math.nan, -1.0, 0.0])
def test_a_state_with_an_invalid_next_step_is_not_initialized(method, next_step) -> None:
    integrator, state = started(method)
    state.integrator_memory[0] = next_step
    assert integrator.step(OSCILLATOR, state, 10.0) is StepCode.NOT_INITIALIZED


@pytest.mark.parametrize("method", CONTROLLED)
def test_a_blow_up_is_reported(method) -> None:
    system = BlockSystem(riccati, 1)
    integrator, state = started(method, system, [1.0], accuracy=1e-6)
    code = StepCode.DONE
    while code == StepCode.DONE and state.time < 2.0:
        before = (state.time, state.y.copy(), state.c[:1].copy(), state.integrator_memory.copy())
        code = integrator.step(system, state, 2.0)
    assert code in (StepCode.MINIMUM_STEP, StepCode.NOT_FINITE)
    assert state.time == pytest.approx(1.0, abs=1e-4)
    assert state.time == before[0]
    for array, array_before in zip((state.y, state.c[:1], state.integrator_memory), before[1:], strict=True):
        assert np.array_equal(array, array_before)
    assert code.sentence


def test_steps_get_shorter_before_nan_and_then_fail() -> None:
    system = BlockSystem(late_nan, 1)
    integrator, state = started(RungeKuttaMerson, system, [0.0], (1.0,), initial_step=0.3)
    codes = [integrator.step(system, state, 2.0) for _ in range(100)]
    assert codes[-1] == StepCode.NOT_FINITE
    assert state.time == pytest.approx(1.0, abs=1e-9)
    assert state.y[0] == pytest.approx(state.time)
    assert np.isfinite(state.c[0])


def test_nan_at_the_start_fails_without_an_evaluation() -> None:
    system = BlockSystem(late_nan, 1)
    integrator, state = started(DormandPrince, system, [0.0], (-1.0,), initial_step=0.1)
    assert integrator.step(system, state, 2.0) == StepCode.NOT_FINITE
    assert integrator.statistics.evaluations == 0


def test_a_fixed_step_never_returns_nan() -> None:
    system = BlockSystem(late_nan, 1)
    integrator, state = started(ExplicitEuler, system, [0.01], (0.05,), fixed_step=0.1)
    assert integrator.step(system, state, 1.0) == StepCode.NOT_FINITE
    assert (state.time, state.y[0]) == (0.0, 0.01)


@pytest.mark.parametrize("method", CONTROLLED)
def test_a_block_that_raises_leaves_the_state_as_before(method) -> None:
    system = BlockSystem(raises_late, 1)
    integrator, state = started(method, system, [1.0], (0.5,), initial_step=0.1)
    code = StepCode.DONE
    while code == StepCode.DONE:
        time, y = state.time, state.y.copy()
        code = integrator.step(system, state, 2.0)
    assert code == StepCode.BLOCK_FAILED
    assert (state.time, state.y[0]) == (time, y[0])
    assert state.c[0] == y[0]
    assert integrator.failed_at is not None
    time, failed_y = integrator.failed_at
    assert time > 0.5
    assert failed_y[0] > y[0]


def test_a_step_to_the_present_does_nothing_and_a_step_back_is_refused() -> None:
    integrator, state = started(DormandPrince)
    integrator.step(OSCILLATOR, state, 1.0)
    steps = integrator.statistics.steps
    assert integrator.step(OSCILLATOR, state, state.time) == StepCode.DONE
    assert integrator.statistics.steps == steps
    with pytest.raises(ValueError, match="back to"):
        integrator.step(OSCILLATOR, state, -1.0)


def test_a_step_before_initialization_fails() -> None:
    state = OSCILLATOR.state([1.0, 0.0])
    state.integrator_memory = np.zeros(2)
    assert DormandPrince().step(OSCILLATOR, state, 1.0) == StepCode.NOT_INITIALIZED
