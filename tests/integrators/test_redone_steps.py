"""Steps after something has happened: redone to an event, restored from a saved state, restarted."""

import numpy as np
import pytest
from block_system import BlockSystem, run
from started_blocks import CONTROLLED, OSCILLATOR, late_nan, oscillation, started

from cosim.contracts.step_code import StepCode
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson


@pytest.mark.parametrize("method", CONTROLLED)
def test_a_restored_state_goes_on_to_the_same_bytes(method) -> None:
    def finish(state):
        integrator = method(accuracy=1e-7)
        OSCILLATOR.realize(state)
        return np.array(run(integrator, OSCILLATOR, state, 3.0) + state.y.tolist())

    integrator, state = started(method, accuracy=1e-7)
    saved = []
    while state.time < 3.0:
        saved.append(state.copy())
        integrator.step(OSCILLATOR, state, 3.0)
    uninterrupted = state.y.copy()
    assert len(saved) > 20
    for restored in saved:
        assert finish(restored)[-2:].tobytes() == uninterrupted.tobytes()


@pytest.mark.parametrize("method", CONTROLLED)
def test_restart_without_a_jump_changes_little(method) -> None:
    integrator, state = started(method, accuracy=1e-8)
    while state.time < 5.0:
        integrator.step(OSCILLATOR, state, 5.0)
        integrator.restart(OSCILLATOR, state)
    assert np.abs(state.y - oscillation(5.0)).max() < 1e-6
    without_restarts, state = started(method, accuracy=1e-8)
    run(without_restarts, OSCILLATOR, state, 5.0)
    assert integrator.statistics.steps <= 1.3 * without_restarts.statistics.steps


@pytest.mark.parametrize("method", [*CONTROLLED, ExplicitEuler])
def test_redo_ends_exactly_at_the_event(method) -> None:
    integrator, state = started(method, fixed_step=0.2)
    run(integrator, OSCILLATOR, state, 0.4)
    integrator.step(OSCILLATOR, state, 1.0)
    start, out = integrator.previous_time, np.zeros(2)
    assert integrator.redo(OSCILLATOR, state, start + 0.07) == StepCode.DONE
    assert state.time == start + 0.07
    assert integrator.previous_time == start
    assert np.array_equal(state.c[:2], [state.y[1], -state.y[0]])
    integrator.interpolate(state.time, out)
    assert np.array_equal(out, state.y)
    # a first attempt of that length gives the same bytes
    reference, reference_state = started(method, fixed_step=0.2)
    run(reference, OSCILLATOR, reference_state, 0.4)
    reference.step(OSCILLATOR, reference_state, start + 0.07)
    assert reference_state.y.tobytes() == state.y.tobytes()


def test_redo_can_return_to_the_end_of_the_step() -> None:
    integrator, state = started(DormandPrince, fixed_step=0.2)
    integrator.step(OSCILLATOR, state, 1.0)
    end = state.y.copy()
    for t in (0.05, 0.1, 0.2):
        assert integrator.redo(OSCILLATOR, state, t) == StepCode.DONE
        assert state.time == t
    assert np.array_equal(state.y, end)


def test_a_failed_redo_leaves_the_end_of_the_step() -> None:
    system = BlockSystem(late_nan, 1)
    integrator, state = started(RungeKuttaMerson, system, [0.0], (10.0,), initial_step=0.1)
    integrator.step(system, state, 1.0)
    time, y = state.time, state.y.copy()
    state.p[0] = -1.0
    assert integrator.redo(system, state, 0.5 * time) == StepCode.NOT_FINITE
    assert state.time == time
    state.p[0] = 10.0
    assert integrator.redo(system, state, time) == StepCode.DONE
    assert np.array_equal(state.y, y)


def test_dense_output_and_redo_need_a_last_step() -> None:
    integrator, state = started(DormandPrince)
    with pytest.raises(ValueError, match="no last step"):
        integrator.interpolate(0.0, np.zeros(2))
    integrator.step(OSCILLATOR, state, 1.0)
    with pytest.raises(ValueError, match="inside the last"):
        integrator.interpolate(-1.0, np.zeros(2))
    with pytest.raises(ValueError, match="inside the last"):
        integrator.redo(OSCILLATOR, state, 2.0)
    integrator.restart(OSCILLATOR, state)
    with pytest.raises(ValueError, match="no last step"):
        integrator.redo(OSCILLATOR, state, 0.0)
