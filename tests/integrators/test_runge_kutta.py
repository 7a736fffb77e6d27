"""Steps against closed forms: order, error control, landing, dense output, failures."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from block_system import BlockSystem, run

from cosim.contracts.step_code import StepCode
from cosim_integrators.bdf import Bdf
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta
from cosim_integrators.radau5 import Radau5
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson

CONTROLLED = [RungeKuttaMerson, DormandPrince]
ALL = [*CONTROLLED, ExplicitEuler]


class Ralston(ExplicitRungeKutta):
    """Ralston's second-order method, as an author outside would write it."""

    tableau = ButcherTableau(order=2, a=[[], [2 / 3]], b=[1 / 4, 3 / 4], c=[0, 2 / 3])


def oscillator(t, y, p, d, k, h, c, ints, first, count):
    c[0] = y[1]
    c[1] = -y[0]
    c[2] += 1.0


def much_too_fast(t, y, p, d, k, h, c, ints, first, count):
    c[0] = y[1]
    c[1] = -1e80 * y[0]


def riccati(t, y, p, d, k, h, c, ints, first, count):
    # y' = y^2, y(0) = 1: y = 1 / (1 - t)
    c[0] = y[0] * y[0]
    c[1] += 1.0


def polynomial(t, y, p, d, k, h, c, ints, first, count):
    # y' = (degree + 1) t^degree, by hand since ** is not allowed
    power = 1.0
    for _ in range(int(p[0])):
        power *= t
    c[0] = (p[0] + 1.0) * power
    c[1] += 1.0


def nonlinear(t, y, p, d, k, h, c, ints, first, count):
    # y' = -2 t y^2, y(0) = 1: y = 1 / (1 + t^2)
    c[0] = -2.0 * t * y[0] * y[0]
    c[1] += 1.0


def late_nan(t, y, p, d, k, h, c, ints, first, count):
    c[0] = 1.0
    if t > p[0]:
        c[0] = math.nan
    c[1] += 1.0


def raises_late(t, y, p, d, k, h, c, ints, first, count):
    if t > p[0]:
        raise ValueError("past the end of the table")
    c[0] = y[0]
    c[1] += 1.0


def reports_an_error(t, y, p, d, k, h, c, ints, first, count):
    # a component that is wrong by 1e-5 h^2, h the time since p[0]
    c[0] = 1.0
    c[1] = 1e-5 * (t - p[0]) * (t - p[0])


def never_lets_go(t, y, p, d, k, h, c, ints, first, count):
    # an error that no step is short enough for
    c[0] = 1.0
    c[1] = 1e-3


def resting_and_moving(t, y, p, d, k, h, c, ints, first, count):
    for i in range(y.shape[0] - 1):
        c[i] = 0.0
    c[y.shape[0] - 1] = -10.0 * math.sin(10.0 * t)
    c[y.shape[0]] += 1.0


OSCILLATOR = BlockSystem(oscillator, 2)


def oscillation(t):
    return np.array([math.cos(t), -math.sin(t)])


def started(method, system=OSCILLATOR, y=(1.0, 0.0), parameters=(0.0,), **options):
    state = system.state(y, parameters=parameters)
    integrator = method(**options)
    integrator.initialize(system, state)
    return integrator, state


@pytest.mark.parametrize("method", [*ALL, Ralston])
def test_order_of_the_solution(method) -> None:
    system = BlockSystem(nonlinear, 1)
    steps, errors = np.array([16, 32, 64, 128]), []
    for n in steps:
        integrator, state = started(method, system, [1.0], fixed_step=2.0 / n)
        worst = 0.0
        while state.time < 2.0:
            integrator.step(system, state, 2.0)
            worst = max(worst, abs(state.y[0] - 1.0 / (1.0 + state.time * state.time)))
        errors.append(worst)
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert method.order - 0.25 < slope < method.order + 0.6


@pytest.mark.parametrize("method", [*ALL, Ralston])
def test_polynomials_up_to_the_order_are_exact(method) -> None:
    system = BlockSystem(polynomial, 1)
    for degree in range(method.order):
        integrator, state = started(method, system, [0.0], (float(degree),), fixed_step=0.5)
        run(integrator, system, state, 1.5)
        assert state.y[0] == pytest.approx(1.5 ** (degree + 1), rel=1e-14)


@pytest.mark.parametrize(("method", "expected"), [(RungeKuttaMerson, 4), (DormandPrince, 4)])
def test_order_of_the_dense_output(method, expected) -> None:
    system = BlockSystem(nonlinear, 1)
    steps, errors, out = np.array([8, 16, 32]), [], np.zeros(1)
    for n in steps:
        integrator, state = started(method, system, [1.0], fixed_step=2.0 / n)
        worst = 0.0
        while state.time < 2.0:
            integrator.step(system, state, 2.0)
            for s in (0.2, 0.4, 0.6, 0.8):
                t = integrator.previous_time + s * (state.time - integrator.previous_time)
                integrator.interpolate(t, out)
                worst = max(worst, abs(out[0] - 1.0 / (1.0 + t * t)))
        errors.append(worst)
    # an interpolant of order r has a local error of order r + 1, beside the error of the ends
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope >= min(expected + 1, method.order) - 0.5


@pytest.mark.parametrize("method", ALL)
def test_dense_output_meets_both_ends(method) -> None:
    integrator, state = started(method, fixed_step=0.1)
    before, out = state.y.copy(), np.zeros(2)
    integrator.step(OSCILLATOR, state, 1.0)
    integrator.interpolate(integrator.previous_time, out)
    assert np.array_equal(out, before)
    integrator.interpolate(state.time, out)
    assert np.array_equal(out, state.y)


@pytest.mark.parametrize(
    ("method", "evaluations"), [(ExplicitEuler, 1), (Ralston, 2), (RungeKuttaMerson, 5), (DormandPrince, 6)]
)
def test_evaluations_of_a_step(method, evaluations) -> None:
    integrator, state = started(method, fixed_step=0.1)
    state.c[2] = 0.0
    run(integrator, OSCILLATOR, state, 1.0)
    assert state.c[2] == 10 * evaluations
    assert integrator.statistics.evaluations == 10 * evaluations


@pytest.mark.parametrize(("method", "attempt", "finish"), [(RungeKuttaMerson, 4, 1), (DormandPrince, 6, 0)])
def test_a_rejection_keeps_the_first_stage(method, attempt, finish) -> None:
    integrator, state = started(method, accuracy=1e-8, initial_step=2.0)
    state.c[2] = 0.0
    integrator.step(OSCILLATOR, state, 10.0)
    rejections = integrator.statistics.rejections
    assert rejections > 0
    assert state.c[2] == (1 + rejections) * attempt + finish


@pytest.mark.parametrize("method", ALL)
def test_ten_steps_of_a_tenth_end_at_one(method) -> None:
    integrator, state = started(method, fixed_step=0.1)
    assert len(run(integrator, OSCILLATOR, state, 1.0)) == 10
    assert state.time == 1.0


def test_the_last_fixed_step_is_cut() -> None:
    integrator, state = started(RungeKuttaMerson, fixed_step=0.1)
    times = run(integrator, OSCILLATOR, state, 0.95)
    assert len(times) == 10
    assert times[-1] - times[-2] == pytest.approx(0.05)
    assert state.time == 0.95
    assert len(run(integrator, OSCILLATOR, state, 1.95)) == 10


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
    few, state = started(DormandPrince, y=(1e-6, 0.0), absolute_tolerance=1e-6)
    run(few, OSCILLATOR, state, 10.0)
    many, state = started(DormandPrince, y=(1e-6, 0.0), absolute_tolerance=1e-14)
    run(many, OSCILLATOR, state, 10.0)
    assert np.abs(state.y / 1e-6 - oscillation(10.0)).max() < 1e-5
    assert few.statistics.steps < many.statistics.steps


@pytest.mark.parametrize("method", CONTROLLED)
def test_an_error_that_a_component_reports_is_held_to_the_accuracy(method) -> None:
    system = BlockSystem(reports_an_error, 1)
    free, state = started(method, system, [0.0], initial_step=5.0, accuracy=1e-6)
    free.step(system, state, 10.0)
    assert state.time == 5.0
    system = BlockSystem(reports_an_error, 1)
    system.named = {"step_error": [SimpleNamespace(elements=[1])]}
    held, state = started(method, system, [0.0], initial_step=5.0, accuracy=1e-6)
    held.step(system, state, 10.0)
    assert held.statistics.rejections > 0
    assert 1e-5 * state.time**2 <= 1e-6


@pytest.mark.parametrize("method", [*CONTROLLED, Radau5, Bdf])
def test_a_reported_error_that_no_step_is_short_enough_for_ends_the_run(method) -> None:
    system = BlockSystem(never_lets_go, 1)
    system.named = {"step_error": [SimpleNamespace(elements=[1])]}
    integrator, state = started(method, system, [0.0], initial_step=1.0, accuracy=1e-6)
    assert integrator.step(system, state, 10.0) is StepCode.MINIMUM_STEP
    assert (state.time, state.y[0]) == (0.0, 0.0)


@pytest.mark.by_turns
@pytest.mark.parametrize("method", CONTROLLED)
@pytest.mark.parametrize("next_step", [math.nan, -1.0, 0.0])
def test_a_state_whose_next_step_is_spoilt_is_answered(method, next_step) -> None:
    integrator, state = started(method)
    state.integrator_memory[0] = next_step
    assert integrator.step(OSCILLATOR, state, 10.0) is StepCode.NOT_INITIALIZED


def test_a_step_ends_where_a_component_is_not_smooth() -> None:
    system = BlockSystem(reports_an_error, 1)
    system.named = {"smooth_until": [SimpleNamespace(elements=[1])]}
    integrator, state = started(DormandPrince, system, [0.0], initial_step=1.0)
    state.c[1] = 0.25
    integrator.step(system, state, 10.0)
    assert state.time == 0.25
    assert state.integrator_memory[0] == 1.0
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
    assert min(lengths[10:]) > 0.05
    assert np.abs(state.y - oscillation(10.0)).max() < 2e-5


@pytest.mark.parametrize("method", CONTROLLED)
def test_bounds_of_the_step(method) -> None:
    integrator, state = started(method, accuracy=1e-2, maximum_step=0.05)
    times = [0.0, *run(integrator, OSCILLATOR, state, 2.0)]
    assert max(np.diff(times)) <= 0.05 * 1.0011


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
    for now, then in zip((state.y, state.c[:1], state.integrator_memory), before[1:], strict=True):
        assert np.array_equal(now, then)
    assert code.sentence


@pytest.mark.parametrize("end", [1.0, 1e-3])
def test_what_would_never_end_is_said_at_its_start(end) -> None:
    """Near t = 0 time resolves any step, but one that would never reach the end is an error."""
    system = BlockSystem(much_too_fast, 2)
    integrator, state = started(RungeKuttaMerson, system, [0.1, 0.0])
    assert integrator.step(system, state, end) == StepCode.MINIMUM_STEP
    assert state.time == 0.0
    assert state.y.tolist() == [0.1, 0.0]


def test_the_minimum_step_is_never_accepted_silently() -> None:
    integrator, state = started(RungeKuttaMerson, y=(0.1, 0.0), accuracy=1e-8, minimum_step=1.0 - 1e-8)
    assert integrator.step(OSCILLATOR, state, 1.0) == StepCode.MINIMUM_STEP
    assert state.time == 0.0
    assert state.y.tolist() == [0.1, 0.0]
    assert state.c[:2].tolist() == [0.0, -0.1]
    assert integrator.worst_state in (0, 1)


def test_nan_makes_the_step_smaller_and_then_stops() -> None:
    system = BlockSystem(late_nan, 1)
    integrator, state = started(RungeKuttaMerson, system, [0.0], (1.0,), initial_step=0.3)
    codes = [integrator.step(system, state, 2.0) for _ in range(100)]
    assert codes[-1] == StepCode.NOT_FINITE
    assert state.time == pytest.approx(1.0, abs=1e-9)
    assert state.y[0] == pytest.approx(state.time)
    assert np.isfinite(state.c[0])


def test_nan_at_the_start_is_said_at_once() -> None:
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
def test_a_failed_block_is_named_and_the_state_is_as_before(method) -> None:
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
    plain, other = started(method, accuracy=1e-8)
    run(plain, OSCILLATOR, other, 5.0)
    assert integrator.statistics.steps <= 1.3 * plain.statistics.steps


@pytest.mark.parametrize("method", ALL)
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
    # a step of that length in its own right gives the same bytes
    again, other = started(method, fixed_step=0.2)
    run(again, OSCILLATOR, other, 0.4)
    again.step(OSCILLATOR, other, start + 0.07)
    assert other.y.tobytes() == state.y.tobytes()


def test_redo_can_move_its_end_up_again() -> None:
    integrator, state = started(DormandPrince, fixed_step=0.2)
    integrator.step(OSCILLATOR, state, 1.0)
    end = state.y.copy()
    for t in (0.05, 0.1, 0.2):
        assert integrator.redo(OSCILLATOR, state, t) == StepCode.DONE
        assert state.time == t
    assert np.array_equal(state.y, end)


def test_a_failing_redo_leaves_the_end_of_the_step() -> None:
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


def test_without_a_last_step_there_is_nothing_to_interpolate() -> None:
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


def test_stepping_to_now_does_nothing_and_back_is_refused() -> None:
    integrator, state = started(DormandPrince)
    integrator.step(OSCILLATOR, state, 1.0)
    steps = integrator.statistics.steps
    assert integrator.step(OSCILLATOR, state, state.time) == StepCode.DONE
    assert integrator.statistics.steps == steps
    with pytest.raises(ValueError, match="back to"):
        integrator.step(OSCILLATOR, state, -1.0)


def test_stepping_before_initializing_is_said() -> None:
    state = OSCILLATOR.state([1.0, 0.0])
    state.integrator_memory = np.zeros(2)
    assert DormandPrince().step(OSCILLATOR, state, 1.0) == StepCode.NOT_INITIALIZED


def test_negative_start_time() -> None:
    state = OSCILLATOR.state(oscillation(-3.0), time=-3.0)
    integrator = DormandPrince(accuracy=1e-9)
    integrator.initialize(OSCILLATOR, state)
    run(integrator, OSCILLATOR, state, 1.0)
    assert state.y == pytest.approx(oscillation(1.0), abs=1e-7)


@pytest.mark.parametrize("method", CONTROLLED)
def test_the_first_step_is_neither_rejected_nor_tiny(method) -> None:
    for rate in (1e-4, 1.0, 1e4):
        system = BlockSystem(resting_and_moving, 1)
        integrator, state = started(method, system, [rate], accuracy=1e-6)
        first = state.integrator_memory[0]
        integrator.step(system, state, 10.0)
        assert integrator.statistics.rejections == 0
        assert first > 1e-7


def test_an_author_may_say_what_the_order_of_the_estimate_is() -> None:
    class Careful(DormandPrince):
        """Its steps are chosen for a smaller exponent."""

        @property
        def error_order(self) -> int:
            return super().error_order - 1

    assert (DormandPrince().error_order, Careful().error_order) == (5, 4)
