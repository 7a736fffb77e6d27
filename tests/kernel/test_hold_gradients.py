"""Gradients back over held witnesses, against closed forms and the tangents of the run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from derivative_parts import Clutch, Resting, Slide
from gradient_checks import check_against_tangents, model_of

import cosim

CLOSE = 1e-9
"""How far a gradient may be off: the rates of held witnesses are differences over 1e-4 s."""


def test_a_sliding_mode() -> None:
    """From t = y / (1 - m) on the mean of s is m; that of s^2 is share high^2 + (1 - share) low^2."""
    by = ["x.m", "x.high", "x.low", "x.y"]
    gradient = model_of(Slide()).gradient("x.x", by, until=3.0, output_interval=1.5)
    sliding_time, share = 3.0 - 1.0 / 0.7, 0.65
    expected = [0.0, 2.0 * share * sliding_time, -2.0 * (1.0 - share) * sliding_time, 0.0]
    assert gradient.vector == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
    assert gradient.result.gradient("x.y").vector == pytest.approx([0.0] * 4, abs=CLOSE)
    check_against_tangents(model_of(Slide()), by, until=3.0, output_interval=0.4, close=CLOSE)


def test_a_clutch_that_locks() -> None:
    """Once locked, both speeds are (j1 w1 + j2 w2 + torque t) / (j1 + j2), whatever the friction was."""
    by = ["x.j1", "x.j2", "x.cap", "x.torque", "x.w1", "x.w2"]
    options = {"until": 3.0, "output_interval": 1.5, "accuracy": 1e-9}
    run = model_of(Clutch()).simulate(gradient=by, **options)
    speed = (2.0 + 0.5 * 3.0) / 3.0
    expected = [(2.0 - speed) / 3.0, -speed / 3.0, 0.0, 1.0, 1.0 / 3.0, 2.0 / 3.0]
    for of in ("x.w1", "x.w2"):
        assert run.gradient(of).vector == pytest.approx(expected, abs=1e-8)
    check_against_tangents(model_of(Clutch()), by, until=3.0, output_interval=0.4, close=CLOSE)


def test_a_ball_that_comes_to_rest_on_a_floor_that_moves() -> None:
    by = ["x.a", "x.e", "x.height"]
    run = model_of(Resting()).simulate(gradient=by, until=4.0, output_interval=1.0)
    assert run.gradient("x.height").vector == pytest.approx([math.sin(4.0), 0.0, 0.0], abs=1e-8)
    assert run.gradient("x.speed").vector == pytest.approx([math.cos(4.0), 0.0, 0.0], abs=1e-7)


class Sliding(cosim.Component):
    """Law: y' = m + rate t - s, where s alternates between high and low at each zero of y."""

    m = cosim.parameter(default=0.3)
    rate = cosim.parameter(default=0.4)
    high = cosim.parameter(default=1.0)
    low = cosim.parameter(default=-1.0)
    y = cosim.auxiliary_state(start=0.5)
    s = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(t, m, rate, s, y_dot):
        y_dot[0] = m + rate * t - s

    @cosim.witness
    def zero(y):
        return y

    @cosim.on(zero, does="discrete")
    @cosim.kernel
    def turn(s, low, high, s_next):
        s_next[0] = low if s > 0.0 else high


def test_a_witness_that_is_released() -> None:
    """It slides until m + rate t = high; then y = (m + rate t - high)^2 / (2 rate)."""
    by = ["x.m", "x.rate", "x.high", "x.low", "x.y"]
    options = {"until": 3.0, "output_interval": 0.5, "accuracy": 1e-10}
    gradient = model_of(Sliding()).gradient("x.y", by, **options)
    rate_at_end = 0.3 + 0.4 * 3.0 - 1.0
    assert gradient.value == pytest.approx(rate_at_end**2 / 0.8, rel=1e-6)
    by_rate = (3.0 * rate_at_end - rate_at_end**2 / 0.8) / 0.4
    expected = [rate_at_end / 0.4, by_rate, -rate_at_end / 0.4, 0.0, 0.0]
    assert gradient.vector == pytest.approx(expected, rel=1e-6, abs=1e-6)
    check_against_tangents(model_of(Sliding()), by, close=1e-8, **options)


def test_a_hold_with_an_implicit_method_has_no_gradient_and_a_finding_says_so() -> None:
    options = {"until": 3.0, "output_interval": 1.0, "integrator": "integrators.radau5"}
    gradient = model_of(Slide()).gradient("x.y", ["x.m"], **options)
    assert np.isnan(gradient["x.m"]).all()
    finding, *_ = [each for each in gradient.result.findings if each.kind == "no derivative"]
    assert "implicit" in finding.message
    assert finding.time == pytest.approx(1.0 / 0.7, rel=1e-3)


@pytest.mark.thorough
def test_random_slides() -> None:
    for seed in range(100):
        draw = np.random.default_rng(seed)
        part = Sliding(m=draw.uniform(0.0, 0.5), rate=draw.uniform(0.0, 0.6), high=draw.uniform(0.8, 1.2))
        by = ["x.m", "x.rate", "x.high", "x.low", "x.y"]
        check_against_tangents(model_of(part), by, until=2.5, output_interval=0.3, close=1e-8)
