"""Least sums of squares: Gauss-Newton steps in few evaluations, and the trust region where they fail."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from cosim_workbench.studies.squares import Limits, minimize_squares

WIDE = Limits(np.full(2, -100.0), np.full(2, 100.0), np.ones(2))
TIMES = np.linspace(0.0, 2.0, 40)


class Problem:
    """Residuals and their derivatives; it stores the points of all evaluations."""

    def __init__(self, residuals, jacobian):
        self._residuals, self._jacobian, self.points = residuals, jacobian, []

    def residuals(self, values):
        self.points.append(values.copy())
        return self._residuals(values)

    def jacobian(self, values):
        assert np.array_equal(values, self.points[-1])  # derivatives come with the last evaluation
        return self._jacobian(values)

    def solve(self, start, limits=WIDE, tolerance=1e-12):
        return minimize_squares(self.residuals, self.jacobian, np.array(start, float), limits, tolerance)


def decay(noise=0.0):
    """A decay, 2 exp(-1.5 t), of which the amplitude and the rate are unknown."""
    data = 2.0 * np.exp(-1.5 * TIMES) + np.random.default_rng(0).normal(0.0, noise, TIMES.size)
    return Problem(
        lambda x: x[0] * np.exp(-x[1] * TIMES) - data,
        lambda x: np.column_stack(
            [np.exp(-x[1] * TIMES), -x[0] * TIMES * np.exp(-x[1] * TIMES)],
        ),
    )


def rosenbrock():
    """A curved valley, least at (1, 1)."""
    return Problem(
        lambda x: np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]),
        lambda x: np.array([[-20.0 * x[0], 10.0], [-1.0, 0.0]]),
    )


def test_a_linear_problem_takes_one_step():
    columns = np.random.default_rng(1).normal(size=(7, 2))
    problem = Problem(lambda x: columns @ x - np.arange(7.0), lambda x: columns)
    minimum = problem.solve([10.0, 20.0])
    assert len(problem.points) == 2
    assert np.allclose(minimum.values, np.linalg.lstsq(columns, np.arange(7.0))[0], rtol=0.0, atol=1e-13)
    assert minimum.status == 2


def test_a_start_at_the_solution_takes_no_step():
    problem = Problem(lambda x: x - [1.0, 2.0], lambda x: np.eye(2))
    minimum = problem.solve([1.0, 2.0])
    assert len(problem.points) == 1
    assert (minimum.values == [1.0, 2.0]).all()
    assert (minimum.residuals == 0.0).all()


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_minimum_is_that_of_scipy_in_no_more_evaluations(noise):
    problem, reference = decay(noise), decay(noise)
    minimum = problem.solve([1.0, 1.0])
    bounds = WIDE.low, WIDE.high
    expected = least_squares(
        reference.residuals, [1.0, 1.0], reference.jacobian, bounds, ftol=1e-12, xtol=1e-12
    )
    assert np.allclose(minimum.values, expected.x, rtol=0.0, atol=1e-7)
    assert len(problem.points) <= len(reference.points)


@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 0.0), (50.0, -50.0), (0.5, 1.0)])
def test_a_curved_valley_is_left_to_the_trust_region(start):
    minimum = rosenbrock().solve(start)
    assert np.allclose(minimum.values, 1.0, rtol=0.0, atol=1e-6)
    assert minimum.status > 0


@pytest.mark.parametrize("high", [1.0, 1.2])
def test_a_solution_at_an_end_of_a_range(high):
    minimum = decay().solve([1.0, 0.5], Limits(np.zeros(2), np.array([10.0, high]), np.ones(2)))
    assert minimum.values[1] == pytest.approx(high, rel=1e-6)
    assert minimum.values[1] <= high


@pytest.mark.parametrize("start", [(0.0, 1.0), (3.0, 2.0)])
def test_a_start_at_an_end_of_a_range(start):
    minimum = decay().solve(start, Limits(np.array([0.0, -9.0]), np.array([3.0, 9.0]), np.ones(2)))
    assert np.allclose(minimum.values, [2.0, 1.5], rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_columns_that_are_zero_or_depend_on_each_other(gain):
    problem = Problem(
        lambda x: (x[0] + gain * x[1]) * TIMES - 3.0 * TIMES,
        lambda x: np.column_stack([TIMES, gain * TIMES]),
    )
    minimum = problem.solve([0.5, 0.5])
    assert minimum.values[0] + gain * minimum.values[1] == pytest.approx(3.0, abs=1e-6)


def test_derivatives_that_are_no_numbers_are_an_error():
    problem = Problem(lambda x: x - 1.0, lambda x: np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="nfs|NaN"):
        problem.solve([0.0, 0.0])


def test_a_step_longer_than_the_values_is_left_to_the_trust_region():
    problem = Problem(lambda x: np.array([x[0] - 50.0, x[1] - 1.0, 0.0]), lambda x: np.eye(3, 2))
    minimum = problem.solve([1.0, 1.0])
    assert np.allclose(minimum.values, [50.0, 1.0], rtol=0.0, atol=1e-6)
    assert len(problem.points) > 3


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("start", [(0.6, 2.0), (2.2, 0.4)])
def test_values_of_any_size_converge_together(size, start):
    sizes = np.array([size, 1.0])
    curve = lambda x: np.exp(x[0]) * TIMES**2 + x[1] ** 3  # noqa: E731
    problem = Problem(
        lambda x: curve(x / sizes) - curve([1.0, 1.5]),
        lambda x: np.column_stack(
            [np.exp(x[0] / size) * TIMES**2 / size, np.full(TIMES.size, 3.0 * x[1] ** 2)],
        ),
    )
    minimum = problem.solve(np.array(start) * sizes, Limits(np.zeros(2), 3.0 * sizes, sizes))
    assert minimum.values / sizes == pytest.approx([1.0, 1.5], rel=1e-7)


@pytest.mark.parametrize("end", [0.0, 3.0])
@pytest.mark.parametrize("slope", [0.0, -1.0, 1.0])
def test_a_start_at_the_end_of_a_range_that_is_the_solution_stays(end, slope):
    target = end if slope == 0.0 else end + (-4.0 if end == 0.0 else 4.0)
    problem = Problem(
        lambda x: np.array([x[0] + slope * x[1], 0.0]) - [target + slope * end, 0.0],
        lambda x: np.array([[1.0, slope], [0.0, 0.0]]),
    )
    limits = Limits(np.zeros(2), np.full(2, 3.0), np.ones(2))
    sum_at_start = problem.residuals(np.full(2, end)) @ problem.residuals(np.full(2, end))
    minimum = problem.solve([end, end], limits)
    assert minimum.residuals @ minimum.residuals <= sum_at_start
    if slope == 0.0:
        assert len(problem.points) == 2 + 1  # two by this test, and the start
        assert (minimum.values == end).all()
        assert (minimum.residuals == 0.0).all()


@pytest.mark.parametrize("rows", [1, 2])
def test_fewer_rows_than_values_are_left_to_the_trust_region(rows):
    columns = np.arange(1.0, 3.0 * rows + 1.0).reshape(rows, 3)
    problem = Problem(lambda x: columns @ x - 1.0, lambda x: columns)
    limits = Limits(np.full(3, -9.0), np.full(3, 9.0), np.ones(3))
    assert np.abs(problem.solve([1.0, 2.0, 3.0], limits).residuals).max() < 1e-6


def test_the_start_of_the_trust_region_is_not_evaluated_again():
    columns = np.column_stack([TIMES, TIMES])
    problem = Problem(lambda x: columns @ x - 3.0 * TIMES, lambda x: columns)
    problem.solve([0.5, 0.7])
    assert sum(np.array_equal(point, [0.5, 0.7]) for point in problem.points) == 1


def test_a_slow_search_ends_with_the_status_of_scipy():
    problem = Problem(
        lambda x: np.array([x[0], 1.0 - 0.4995 * x[0] ** 2]), lambda x: np.array([[1.0], [-0.999 * x[0]]])
    )
    minimum = problem.solve([0.9], Limits(np.array([-3.0]), np.array([3.0]), np.ones(1)))
    assert minimum.status == 0
    assert len(problem.points) == 101  # the limit of SciPy, 100 for each value, and the start
