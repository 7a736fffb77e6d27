"""Fixed steps of explicit methods against closed forms: orders, dense output, numbers of evaluations."""

import numpy as np
import pytest
from block_system import BlockSystem, run
from started_blocks import CONTROLLED, OSCILLATOR, oscillation, started

from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson

ALL = [*CONTROLLED, ExplicitEuler]


class Ralston(ExplicitRungeKutta):
    """Ralston's method of second order, as an author outside would write it."""

    tableau = ButcherTableau(order=2, a=[[], [2 / 3]], b=[1 / 4, 3 / 4], c=[0, 2 / 3])


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


@pytest.mark.parametrize(("method", "dense_order"), [(RungeKuttaMerson, 4), (DormandPrince, 4)])
def test_order_of_the_dense_output(method, dense_order) -> None:
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
    assert slope >= min(dense_order + 1, method.order) - 0.5


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


@pytest.mark.parametrize(
    ("method", "evaluations_of_attempt", "evaluations_at_end"),
    [(RungeKuttaMerson, 4, 1), (DormandPrince, 6, 0)],
)
def test_a_rejection_keeps_the_first_stage(method, evaluations_of_attempt, evaluations_at_end) -> None:
    integrator, state = started(method, accuracy=1e-8, initial_step=2.0)
    state.c[2] = 0.0
    integrator.step(OSCILLATOR, state, 10.0)
    rejections = integrator.statistics.rejections
    assert rejections > 0
    assert state.c[2] == (1 + rejections) * evaluations_of_attempt + evaluations_at_end


@pytest.mark.parametrize("method", ALL)
def test_ten_steps_of_a_tenth_end_exactly_at_one(method) -> None:
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


def test_negative_start_time() -> None:
    state = OSCILLATOR.state(oscillation(-3.0), time=-3.0)
    integrator = DormandPrince(accuracy=1e-9)
    integrator.initialize(OSCILLATOR, state)
    run(integrator, OSCILLATOR, state, 1.0)
    assert state.y == pytest.approx(oscillation(1.0), abs=1e-7)
