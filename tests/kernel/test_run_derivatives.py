"""Derivatives of runs by parameters and start values, through events; and runs that have none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from derivative_parts import (
    EXACT,
    Alarm,
    Ball,
    Branch,
    Clutch,
    Counted,
    Kinked,
    Relay,
    Resting,
    Slide,
    Touch,
    Two,
    differentiated,
    ends,
    slopes_of_ball,
)

import cosim


def height_of_ball(h0: float, e: float, g: float, bounces: int, until: float) -> float:
    """The height of a `Ball` at the time `until` (s), after so many bounces."""
    if bounces == 0:
        return h0 - 0.5 * g * until * until
    fall, speed = math.sqrt(2.0 * h0 / g), math.sqrt(2.0 * h0 * g) * e**bounces
    rest = until - fall * (1.0 + 2.0 * sum(e**k for k in range(1, bounces)))
    return speed * rest - 0.5 * g * rest * rest


@pytest.mark.parametrize(("until", "bounces"), [(0.3, 0), (1.0, 1), (2.0, 3)])
def test_a_bouncing_ball_against_its_closed_form(until: float, bounces: int) -> None:
    by = ["x.h0", "x.e", "x.g"]
    result = differentiated(Ball(), until, by)
    assert result["x.bounces"][-1] == bounces
    assert result["x.height"][-1] == pytest.approx(height_of_ball(1.0, 0.8, 9.81, bounces, until), rel=1e-7)
    assert ends(result, "x.height", by) == pytest.approx(slopes_of_ball(bounces, until), rel=EXACT, abs=EXACT)
    assert result.derivative("x.bounces", "x.g")[-1] == 0.0
    assert not result.findings


def test_impacts_are_located_to_the_last_digits() -> None:
    """Errors of the fifth impact of 20 balls, in spacings of doubles."""
    errors = []
    for number in range(20):
        e, h0, g = 0.5 + 0.02 * number, 0.4 + 0.17 * number, 9.81
        fall, flights = math.sqrt(2.0 * h0 / g), 1.0 + 2.0 * (e + e**2 + e**3 + e**4)
        ball = Ball(e=e, h0=h0, height=h0, g=g)
        half_way_to_the_sixth = fall * (flights + e**5)
        result = differentiated(ball, half_way_to_the_sixth, ["x.e"], accuracy=1e-10)
        times = result.time
        impacts = times[1:][times[1:] == times[:-1]]  # each has a row before and one after it
        assert len(impacts) == 5
        errors.append((impacts[-1] - fall * flights) / np.spacing(impacts[-1]))
    assert np.sqrt(np.mean(np.square(errors))) < 12.0  # an error of one spacing an impact grows to some seven


def test_both_sides_of_an_event_are_derivatives_at_a_fixed_time() -> None:
    result = differentiated(Ball(), 1.0, ["x.h0", "x.height"])
    before, after = np.flatnonzero(result.time == result.events[-1].time)
    rates = result.derivative("x.height", "x.h0")
    assert (rates[before], rates[after]) == pytest.approx((1.0, -0.8), rel=1e-9)
    assert not result.derivative("x.height", "x.height").any()  # its first update writes over it


def test_a_crossing_and_a_scheduled_event() -> None:
    """In closed form y(T) = (c + b (1 - c / a)) (1 + j) + b (T - 1)."""
    by = ["x.a", "x.b", "x.c", "x.j", "x.y"]
    result = differentiated(Relay(), 1.5, by)
    assert result["x.y"][-1] == pytest.approx((0.7 + 3.0 * 0.3) * 1.25 + 1.5)
    expected = [3.0 * 0.7 * 1.25, 0.3 * 1.25 + 0.5, (1.0 - 3.0) * 1.25, 1.6, 3.0 * 1.25]
    assert ends(result, "x.y", by) == pytest.approx(expected, rel=EXACT)


def test_a_timer_that_a_parameter_sets() -> None:
    result = differentiated(Alarm(), 2.0, ["x.d", "x.r"])
    assert ends(result, "x.y", ["x.d", "x.r"]) == pytest.approx([-2.0, 1.4], rel=EXACT)


def test_a_source_whose_time_of_the_jump_is_a_parameter() -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add("measures.integrate", "z", source="s")
    result = model.simulate(until=1.0, derivatives=["s.start_time", "s.height"], output_interval=0.25)
    assert [result.derivative("z", by)[-1] for by in ("s.start_time", "s.height")] == pytest.approx(
        [-2.0, 0.6], rel=EXACT
    )


def test_several_rounds_of_signals_at_one_instant() -> None:
    result = differentiated(Counted(), 1.5, ["x.a"])
    assert result["x.s"][-1] == pytest.approx(4.0)
    assert result.derivative("x.s", "x.a")[-1] == pytest.approx(2.0, rel=EXACT)


def test_a_sliding_mode() -> None:
    """From t = y / (1 - m) on y is 0: s has the mean m, and s^2 the mean share high^2 + (1 - share) low^2."""
    by = ["x.m", "x.high", "x.low", "x.y"]
    result = differentiated(Slide(), 3.0, by)
    slid = 3.0 - 1.0 / 0.7  # for how long, s
    share = 0.65  # of it with s = high, so that the mean of s is m = 0.3
    assert ends(result, "x.y", by) == pytest.approx([0.0] * 4, abs=1e-9)
    expected = [0.0, 2.0 * share * slid, -2.0 * (1.0 - share) * slid, 0.0]
    assert ends(result, "x.x", by) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert [finding.kind for finding in result.findings] == ["chattering", "held"]


def test_a_clutch_that_locks() -> None:
    """Then both sides turn with (j1 w1 + j2 w2 + torque t) / (j1 + j2), whatever the friction was."""
    by = ["x.j1", "x.j2", "x.cap", "x.torque", "x.w1", "x.w2"]
    result = differentiated(Clutch(), 3.0, by, accuracy=1e-9)
    locked = (2.0 + 0.5 * 3.0) / 3.0
    expected = [(2.0 - locked) / 3.0, -locked / 3.0, 0.0, 1.0, 1.0 / 3.0, 2.0 / 3.0]
    assert ends(result, "x.w1", by) == pytest.approx(expected, abs=1e-8)
    assert ends(result, "x.w2", by) == pytest.approx(expected, abs=1e-8)
    assert [finding.kind for finding in result.findings] == ["chattering", "held"]


def test_a_ball_that_comes_to_rest_on_a_floor_that_moves() -> None:
    by = ["x.a", "x.e", "x.height"]
    result = differentiated(Resting(), 4.0, by)
    assert ends(result, "x.height", by) == pytest.approx([math.sin(4.0), 0.0, 0.0], abs=1e-8)
    assert ends(result, "x.speed", by) == pytest.approx([math.cos(4.0), 0.0, 0.0], abs=1e-7)
    assert [finding.kind for finding in result.findings] == ["zeno", "held"]


def test_a_hold_whose_handler_changes_two_speeds_has_no_derivative() -> None:
    class Aslant(Resting):
        """Its bounces change two speeds, since a is negative."""

        a = cosim.parameter(default=-0.05)

    result = differentiated(Aslant(), 1.5, ["x.e"])
    assert math.isnan(ends(result, "x.height", ["x.e"])[0])
    assert "way that varies" in result.findings[-1].message


@pytest.mark.parametrize(
    ("part", "by", "reason"),
    [
        (Branch(), "x.c", "jumps where no event is"),
        (Touch(), "x.y", "grazing"),
        (Two(), "x.c", "order changes"),
    ],
)
def test_a_missing_derivative_is_nan_and_a_finding_with_the_reason(
    part: cosim.Component, by: str, reason: str
) -> None:
    result = differentiated(part, 2.0, [by])
    assert math.isnan(result.derivative("x.y", by)[-1])
    assert not math.isnan(result.derivative("x.y", by)[0])
    finding = next(finding for finding in result.findings if finding.kind == "no derivative")
    assert reason in finding.message
    assert 0.0 < finding.time < 2.0


def test_a_kink_is_no_jump() -> None:
    """In closed form y(T) = c - 1 + exp(T - c)."""
    result = differentiated(Kinked(), 2.0, ["x.c", "x.y"], accuracy=1e-12)
    assert ends(result, "x.y", ["x.c", "x.y"]) == pytest.approx(
        [1.0 - math.exp(1.3), math.exp(1.3)], rel=1e-11
    )


@pytest.mark.parametrize("method", ["runge_kutta_merson", "dormand_prince", "radau5"])
def test_kinks_of_two_sources_at_one_instant(method: str) -> None:
    """Two equal ramps are integrated: their kinks coincide, and each integral depends on its own ramp alone.

    a(t) = height ((t - start)^2 / 2 duration between both kinks, then t - start - duration / 2).
    """
    model = cosim.Model("m")
    for name in ("a", "b"):
        model.add("signals.ramp", f"{name}s", start_time=0.4, duration=0.5, height=2.0)
        model.add("measures.integrate", name, source=f"{name}s")
    parameters = ("start_time", "duration", "height")
    by = [f"{name}s.{parameter}" for name in ("a", "b") for parameter in parameters]
    result = model.simulate(
        until=2.0, derivatives=by, output_interval=0.125, integrator=f"integrators.{method}"
    )
    since_start = result.time - 0.4
    share = np.clip(2.0 * since_start, 0.0, 1.0)  # of the rise
    by_height = np.where(since_start < 0.5, share * share / 4.0, since_start - 0.25)
    zero = 0.0 * since_start
    expected = [-2.0 * share, -share * share, by_height, zero, zero, zero]
    for path, values in zip(by, expected, strict=True):
        assert result.derivative("a", path) == pytest.approx(values, abs=1e-11)
