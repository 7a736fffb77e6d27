"""Derivatives of runs of a parallelogram that passes positions in which all rods lie in one line.

Its motion is that of a pendulum, q'' = -a cos q, so its derivatives obey d'' = a sin(q) d. Assembly
distributes a change of one start value over the loop; the remaining share is the derivative at the start.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from singular_mechanisms import GRAVITY, UPRIGHT, four_bars

import cosim

STARTS = ["pin0.q", "pin0.u"]


def exact(times: np.ndarray, speed: float, angle: float) -> np.ndarray:
    """Return the derivatives of the angle by its start and by the start of its speed; shape (2, times)."""
    a = 2.0 * GRAVITY / (5.0 / 3.0)

    def rates(t: float, y: np.ndarray) -> list[float]:
        bend = a * np.sin(y[0])
        return [y[1], -a * np.cos(y[0]), y[3], bend * y[2], y[5], bend * y[4]]

    start = [angle, speed, 1.0, 0.0, 0.0, 1.0]
    solution = solve_ivp(
        rates, (0.0, times[-1]), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times
    )
    return np.array(solution.y[[2, 4]])


def errors(result: cosim.Result, speed: float, angle: float = UPRIGHT) -> np.ndarray:
    """Return the errors of the derivatives relative to the largest one; shape (2, times)."""
    shares = [result.derivative("pin0.q", STARTS[0])[0], result.derivative("pin0.u", STARTS[1])[0]]
    derivatives = [
        result.derivative("pin0.q", path) / share for path, share in zip(STARTS, shares, strict=True)
    ]
    expected = exact(result.time, speed, angle)
    return np.abs(derivatives - expected) / np.abs(expected).max(axis=1, keepdims=True)


def reported_error(result: cosim.Result) -> tuple[float, float]:
    """Return since when derivatives may be inexact, and their relative error, as the finding says."""
    findings = [finding for finding in result.findings if finding.kind == "inexact derivative"]
    if not findings:
        return np.inf, 0.0
    (finding,) = findings
    return finding.time, float(finding.message.split("off by ")[1].split()[0])


def run(accuracy: float, speed: float, **options: float) -> cosim.Result:
    model = four_bars(1, speed=speed)
    return model.simulate(until=4.0, accuracy=accuracy, output_interval=0.125, derivatives=STARTS, **options)


def test_steps_across_the_positions_keep_derivatives_exact() -> None:
    result = run(1e-6, -1.0)
    assert reported_error(result) == (np.inf, 0.0)
    assert errors(result, -1.0).max() < 1e-5


@pytest.mark.parametrize(("accuracy", "speed"), [(1e-8, -1.0), (1e-10, -1.0), (1e-10, 0.7)])
def test_steps_that_end_near_them_report_the_error(accuracy: float, speed: float) -> None:
    result = run(accuracy, speed)
    actual_errors = errors(result, speed)
    since, reported = reported_error(result)
    assert actual_errors[:, result.time <= since].max() < 10.0 * accuracy
    assert 1e-4 < actual_errors.max() < reported


@pytest.mark.thorough
def test_gradients_report_the_error_too() -> None:
    result = four_bars(1).simulate(until=3.0, accuracy=1e-8, output_interval=0.5, gradient=STARTS)
    assert reported_error(result)[0] == pytest.approx(2.63, abs=0.01)
    assert np.isfinite(result.gradient("pin0.q").vector).all()
