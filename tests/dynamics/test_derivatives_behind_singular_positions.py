"""Derivatives of runs of a parallelogram that passes positions in which all rods lie in one line.

Its motion is that of a pendulum, q'' = -a cos q, so are the derivatives: d'' = a sin(q) d. Of a change of one
start value assembly leaves a share, which is the derivative at the start.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from singular_mechanisms import GRAVITY, UPRIGHT, four_bars

import cosim

BY = ["pin0.q", "pin0.u"]
INEXACT = "inexact derivative"


def exact(times: np.ndarray, speed: float, angle: float) -> np.ndarray:
    """Derivatives of the angle by the first angle and by the first speed; shape (2, times)."""
    a = 2.0 * GRAVITY / (5.0 / 3.0)

    def rates(t: float, y: np.ndarray) -> list[float]:
        bend = a * np.sin(y[0])
        return [y[1], -a * np.cos(y[0]), y[3], bend * y[2], y[5], bend * y[4]]

    start = [angle, speed, 1.0, 0.0, 0.0, 1.0]
    found = solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return np.array(found.y[[2, 4]])


def errors(result: cosim.Result, speed: float, angle: float = UPRIGHT) -> np.ndarray:
    """Errors of the derivatives, in parts of the largest one; shape (2, times)."""
    shares = [result.derivative("pin0.q", BY[0])[0], result.derivative("pin0.u", BY[1])[0]]
    found = [result.derivative("pin0.q", path) / share for path, share in zip(BY, shares, strict=True)]
    wanted = exact(result.time, speed, angle)
    return np.abs(found - wanted) / np.abs(wanted).max(axis=1, keepdims=True)


def told(result: cosim.Result) -> tuple[float, float]:
    """When and by what part of themselves derivatives may be off, as a finding says."""
    found = [finding for finding in result.findings if finding.kind == INEXACT]
    if not found:
        return np.inf, 0.0
    (finding,) = found
    return finding.time, float(finding.message.split("off by ")[1].split()[0])


def run(accuracy: float, speed: float, **options: float) -> cosim.Result:
    model = four_bars(1, speed=speed)
    return model.simulate(until=4.0, accuracy=accuracy, output_interval=0.125, derivatives=BY, **options)


def test_steps_that_leap_over_the_positions_lose_nothing() -> None:
    result = run(1e-6, -1.0)
    assert told(result) == (np.inf, 0.0)
    assert errors(result, -1.0).max() < 1e-5


@pytest.mark.parametrize(("accuracy", "speed"), [(1e-8, -1.0), (1e-10, -1.0), (1e-10, 0.7)])
def test_steps_that_end_near_them_say_what_they_lose(accuracy: float, speed: float) -> None:
    result = run(accuracy, speed)
    found = errors(result, speed)
    since, error = told(result)
    assert found[:, result.time <= since].max() < 10.0 * accuracy
    assert 1e-4 < found.max() < error


@pytest.mark.thorough
def test_gradients_say_so_too() -> None:
    result = four_bars(1).simulate(until=3.0, accuracy=1e-8, output_interval=0.5, gradient=BY)
    assert told(result)[0] == pytest.approx(2.63, abs=0.01)
    assert np.isfinite(result.gradient("pin0.q").vector).all()
