"""Error control: tolerances, reported errors, targets, bounds of the step, the first step."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from block_system import BlockSystem, run
from started_blocks import CONTROLLED, OSCILLATOR, oscillation, started

from cosim.contracts.step_code import StepCode
from cosim_integrators.bdf import Bdf
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.radau5 import Radau5
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson


def much_too_fast(t, y, p, d, k, h, c, ints, first, count):
    # an oscillator with a frequency of 1e40 rad/s
    c[0] = y[1]
    c[1] = -1e80 * y[0]


def reports_an_error(t, y, p, d, k, h, c, ints, first, count):
    # a component that is wrong by 1e-5 h^2, h the time since p[0]
    c[0] = 1.0
    c[1] = 1e-5 * (t - p[0]) * (t - p[0])


def reports_a_constant_error(t, y, p, d, k, h, c, ints, first, count):
    # no step is short enough for this error
    c[0] = 1.0
    c[1] = 1e-3


def resting_and_moving(t, y, p, d, k, h, c, ints, first, count):
    # all states are constant but the last one, y = y(0) + cos 10 t - 1
    for i in range(y.shape[0] - 1):
        c[i] = 0.0
    c[y.shape[0] - 1] = -10.0 * math.sin(10.0 * t)
    c[y.shape[0]] += 1.0


@pytest.mark.by_turns
@pytest.mark.parametrize("method", CONTROLLED)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6, 1e-9])
def test_the_error_follows_the_accuracy(method, accuracy) -> None:
    integrator, state = started(method, accuracy=accuracy)
    run(integrator, OSCILLATOR, state, 10.0)
    assert np.abs(state.y - oscillation(10.0)).max() < 20.0 * accuracy


@pytest.mark.by_turns
@pytest.mark.parametrize("method", CONTROLLED)
@pytest.mark.parametrize("size", [1e6, 1.0, 1e-2])
def test_the_error_is_relative_above_the_scale(method, size) -> None:
    integrator, state = started(method, y=(size, 0.0), accuracy=1e-6)
    run(integrator, OSCILLATOR, state, 10.0)
    assert np.abs(state.y / size - oscillation(10.0)).max() < 2e-5
    assert integrator.statistics.steps < 200


def test_parts_at_rest_do_not_loosen_the_control() -> None:
    steps = []
    for n in (1, 50):
        system = BlockSystem(resting_and_moving, n)
        integrator, state = started(RungeKuttaMerson, system, [1.0] * n, accuracy=1e-6)
        run(integrator, system, state, 3.0)
        steps.append(integrator.statistics.steps)
    assert steps[0] == steps[1]


def test_the_absolute_tolerance() -> None:
    loose, state = started(DormandPrince, y=(1e-6, 0.0), absolute_tolerance=1e-6)
    run(loose, OSCILLATOR, state, 10.0)
    tight, state = started(DormandPrince, y=(1e-6, 0.0), absolute_tolerance=1e-14)
    run(tight, OSCILLATOR, state, 10.0)
    assert np.abs(state.y / 1e-6 - oscillation(10.0)).max() < 1e-5
    assert loose.statistics.steps < tight.statistics.steps


@pytest.mark.parametrize("method", CONTROLLED)
def test_a_reported_error_is_held_to_the_accuracy(method) -> None:
    system = BlockSystem(reports_an_error, 1)
    unlimited, state = started(method, system, [0.0], initial_step=5.0, accuracy=1e-6)
    unlimited.step(system, state, 10.0)
    assert state.time == 5.0
    system = BlockSystem(reports_an_error, 1)
    system.named = {"step_error": [SimpleNamespace(elements=[1])]}
    limited, state = started(method, system, [0.0], initial_step=5.0, accuracy=1e-6)
    limited.step(system, state, 10.0)
    assert limited.statistics.rejections > 0
    assert 1e-5 * state.time**2 <= 1e-6


@pytest.mark.parametrize("method", [*CONTROLLED, Radau5, Bdf])
def test_a_reported_error_that_does_not_shrink_ends_the_run(method) -> None:
    system = BlockSystem(reports_a_constant_error, 1)
    system.named = {"step_error": [SimpleNamespace(elements=[1])]}
    integrator, state = started(method, system, [0.0], initial_step=1.0, accuracy=1e-6)
    assert integrator.step(system, state, 10.0) is StepCode.MINIMUM_STEP
    assert (state.time, state.y[0]) == (0.0, 0.0)


def test_a_step_ends_where_a_component_is_not_smooth() -> None:
    system = BlockSystem(reports_an_error, 1)
    system.named = {"smooth_until": [SimpleNamespace(elements=[1])]}
    integrator, state = started(DormandPrince, system, [0.0], initial_step=1.0)
    state.c[1] = 0.25
    integrator.step(system, state, 10.0)
    assert state.time == 0.25
    assert state.integrator_memory[0] == 1.0  # the next step is as long as before
    fixed, state = started(DormandPrince, system, [0.0], fixed_step=1.0)
    state.c[1] = 0.25
    fixed.step(system, state, 10.0)
    assert state.time == 1.0


@pytest.mark.parametrize("method", CONTROLLED)
def test_targets_do_not_shrink_the_remembered_step(method) -> None:
    integrator, state = started(method, accuracy=1e-6)
    run(integrator, OSCILLATOR, state, 5.0)
    ideal = state.integrator_memory[0]
    integrator.step(OSCILLATOR, state, state.time + 1e-9)
    assert state.integrator_memory[0] == ideal
    integrator.step(OSCILLATOR, state, 100.0, limit=1e-4)
    assert state.time - integrator.previous_time == pytest.approx(1e-4)
    assert state.integrator_memory[0] == ideal


def test_many_targets_cost_no_accuracy_and_no_slivers() -> None:
    integrator, state = started(DormandPrince, accuracy=1e-6)
    lengths = []
    for i in range(1, 41):
        while state.time < 0.25 * i:
            integrator.step(OSCILLATOR, state, 0.25 * i)
            lengths.append(state.time - integrator.previous_time)
        assert state.time == 0.25 * i
    assert min(lengths[10:]) > 0.05  # the first steps grow from a short one
    assert np.abs(state.y - oscillation(10.0)).max() < 2e-5


@pytest.mark.parametrize("method", CONTROLLED)
def test_bounds_of_the_step(method) -> None:
    integrator, state = started(method, accuracy=1e-2, maximum_step=0.05)
    times = [0.0, *run(integrator, OSCILLATOR, state, 2.0)]
    assert max(np.diff(times)) <= 0.05 * 1.0011  # steps are stretched by a thousandth to end at a target


@pytest.mark.parametrize("end", [1.0, 1e-3])
def test_a_run_that_would_never_end_fails_at_its_start(end) -> None:
    """Near t = 0 time resolves any step, but one that would never reach the end is an error."""
    system = BlockSystem(much_too_fast, 2)
    integrator, state = started(RungeKuttaMerson, system, [0.1, 0.0])
    assert integrator.step(system, state, end) == StepCode.MINIMUM_STEP
    assert state.time == 0.0
    assert state.y.tolist() == [0.1, 0.0]


def test_a_wrong_step_of_minimum_length_is_an_error() -> None:
    integrator, state = started(RungeKuttaMerson, y=(0.1, 0.0), accuracy=1e-8, minimum_step=1.0 - 1e-8)
    assert integrator.step(OSCILLATOR, state, 1.0) == StepCode.MINIMUM_STEP
    assert state.time == 0.0
    assert state.y.tolist() == [0.1, 0.0]
    assert state.c[:2].tolist() == [0.0, -0.1]
    assert integrator.worst_state in (0, 1)


@pytest.mark.parametrize("method", CONTROLLED)
def test_the_first_step_is_neither_rejected_nor_tiny(method) -> None:
    for rate in (1e-4, 1.0, 1e4):
        system = BlockSystem(resting_and_moving, 1)
        integrator, state = started(method, system, [rate], accuracy=1e-6)
        first_step = state.integrator_memory[0]
        integrator.step(system, state, 10.0)
        assert integrator.statistics.rejections == 0
        assert first_step > 1e-7


def test_an_author_can_override_the_order_of_the_estimate() -> None:
    class Careful(DormandPrince):
        """Its steps are chosen for a smaller exponent."""

        @property
        def error_order(self) -> int:
            return super().error_order - 1

    assert (DormandPrince().error_order, Careful().error_order) == (5, 4)
