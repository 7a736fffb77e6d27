"""Gradients back along runs with delays and windows: closed forms, and the tangents that go along."""

from __future__ import annotations

import math
from typing import Any

import pytest
from derivative_parts import Ball
from test_delay_derivatives import BY, Both, Lag, Late, Wave, behind, late_decay
from test_gradients import check_against_tangents

import cosim


@pytest.mark.parametrize(
    "options",
    [
        {"accuracy": 1e-11},
        {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.05},
        {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.7, "until": 2.1},  # a step is a delay
        {"accuracy": 1e-9, "integrator": "integrators.radau5"},
    ],
    ids=["dormand_prince", "fixed", "as_long_as_a_step", "radau5"],
)
def test_a_late_decay_against_its_closed_form(options: dict[str, Any]) -> None:
    """Runge and Kutta are exact up to four delays."""
    until = options.pop("until", 2.8)
    model = behind("delay", "x.y", delay=0.7)
    gradient = model.gradient("x.y", BY, until=until, output_interval=until / 4, **options)
    expected = late_decay(until, 0.7)
    close = 1e-7 if "radau5" in str(options) else 1e-11
    assert gradient.value == pytest.approx(expected[0], rel=close)
    assert gradient.vector == pytest.approx(expected[1:], rel=close, abs=close)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("measure", "source", "more", "options"),
    [
        ("delay", "x.y", {"delay": 0.7}, {}),
        ("delay", "x.y", {"delay": 0.7, "interpolation": "dense_output"}, {}),
        ("delay", "x.y", {"delay": 0.7}, {"integrator": "integrators.radau5"}),
        pytest.param(
            *("delay", "x.y", {"delay": 0.7}, {"integrator": "integrators.bdf"}), marks=pytest.mark.thorough
        ),
        ("delay", "x.y", {"delay": 0.5, "long_steps": "limit"}, {}),
        ("delay", "wave.out", {"delay": 0.4}, {}),
        ("sliding_mean", "wave.out", {"window": 0.4}, {}),
    ],
)
def test_what_is_remembered_against_tangents(
    measure: str, source: str, more: dict[str, Any], options: dict[str, Any]
) -> None:
    model = behind(measure, source, {"wave": Wave()}, **more)
    by = [f"late.{'delay' if measure == 'delay' else 'window'}", "x.gain", "x.y", "wave.a", "wave.w"]
    check_against_tangents(model, by, until=2.0, output_interval=0.13, close=1e-10, **options)


@pytest.mark.thorough
def test_an_extreme_beside_what_is_remembered() -> None:
    """Its search for the place of the extreme takes long to compile."""
    model = behind("delay", "x.y", {"wave": Wave()}, delay=0.7)
    model.add("measures.maximum", "best", source="wave.out")
    by = ["late.delay", "x.gain", "x.y", "wave.a", "wave.w"]
    check_against_tangents(model, by, until=2.0, output_interval=0.13, close=1e-10)


def test_a_history_that_grows_while_the_run_goes_on() -> None:
    """It begins with room for 16 entries; it is lengthened several times, between rows inside steps."""
    model = behind("delay", "x.y", delay=1.5)
    model.add("measures.delay", "later", source="x.y", delay=0.4)
    options = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.0125}
    gradient = model.gradient("x.y", BY, until=4.0, output_interval=1.0, **options)
    assert gradient.vector == pytest.approx(late_decay(4.0, 1.5)[1:], rel=1e-11)
    assert gradient.result._trail._past_trail.lengthened() >= 3
    check_against_tangents(model, BY, until=3.0, output_interval=0.0071, **options)


def test_short_pieces_of_the_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    model = behind("delay", "x.y", delay=0.3, interpolation="dense_output")
    options = {"until": 2.0, "output_interval": 0.05, "maximum_step": 0.1}
    whole = model.gradient("x.y", BY, **options)
    monkeypatch.setattr("cosim.simulation.run_trail.TRAIL_LENGTH", 1000)
    pieces = behind("delay", "x.y", delay=0.3, interpolation="dense_output").gradient("x.y", BY, **options)
    assert len(pieces.result._trail._past_trail) > len(whole.result._trail._past_trail)
    assert pieces.vector.tolist() == whole.vector.tolist()


def lagging() -> cosim.Model:
    model = cosim.Model("m")
    model.add(Lag(), "x")
    model.add("measures.variable_delay", "late", source="x.y", delay="x.lag")
    model.connect("late.value", "x.past")
    return model


def test_a_delay_that_varies_and_whose_break_arrives_at_a_time_that_moves() -> None:
    """z(T) = ((1 - b) T - c)^3 / (3 (1 - b))."""
    gradient = lagging().gradient("x.z", ["x.c", "x.b"], until=2.0, output_interval=2.0, accuracy=1e-10)
    rest = 0.75 * 2.0 - 0.5
    expected = [-(rest**2) / 0.75, rest**3 / (3.0 * 0.75**2) - rest**2 * 2.0 / 0.75]
    assert gradient.vector == pytest.approx(expected, rel=1e-9)


def test_a_delay_that_depends_on_the_state() -> None:
    options = {"until": 2.0, "output_interval": 0.13, "accuracy": 1e-8, "maximum_step": 0.1}
    check_against_tangents(lagging(), ["x.s", "x.c", "x.b"], close=1e-10, **options)


def test_jumps_that_arrive_through_a_delay() -> None:
    """y = 1 - h (t - start - delay) behind a step of height h: each of the three moves it."""
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add(Late(), "x")
    model.add("measures.delay", "late", source="s", delay=0.3)
    model.connect("late.value", "x.past")
    by = ["s.start_time", "s.height", "late.delay"]
    gradient = model.gradient("x.y", by, until=1.0, output_interval=0.25)
    assert gradient.vector == pytest.approx([2.0, -0.3, 2.0], rel=1e-12)
    check_against_tangents(model, by, until=1.0, output_interval=0.07)


def test_a_ball_that_is_seen_late() -> None:
    model = cosim.Model("m")
    model.add(Ball(), "ball")
    model.add("measures.delay", "late", source="ball.speed", delay=0.25)
    model.add(Late(), "x")
    model.connect("late.value", "x.past")
    by = ["ball.h0", "ball.e", "ball.g", "late.delay", "x.gain"]
    check_against_tangents(model, by, until=1.5, output_interval=0.07, close=1e-10)


@pytest.mark.parametrize(("delays", "words"), [((0.2, 0.2), "two jumps"), ((0.3, 0.35), "order changes")])
def test_jumps_that_meet_have_no_gradient(delays: tuple[float, float], words: str) -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add(Both(), "x")
    for name, delay in zip("ab", delays, strict=True):
        model.add("measures.delay", name, source="s", delay=delay)
        model.connect(f"{name}.value", f"x.{name}")
    gradient = model.gradient("x.y", ["a.delay"], until=1.0, output_interval=0.5)
    assert math.isnan(gradient["a.delay"].item())
    (finding,) = gradient.result.findings
    assert words in finding.message and finding.time == pytest.approx(0.4 + delays[0])


def test_a_step_that_looks_into_itself_has_no_gradient_and_it_says_so() -> None:
    model = behind("delay", "x.y", delay=0.05)
    options = {"integrator": "integrators.dormand_prince", "fixed_step": 0.1}
    gradient = model.gradient("x.y", BY, until=1.0, output_interval=0.25, **options)
    assert all(math.isnan(each) for each in gradient.vector)
    (finding,) = [each for each in gradient.result.findings if each.kind == "no derivative"]
    assert finding.time == pytest.approx(0.35)  # until 0.25 s steps end where breaks of the start arrive
    assert "looks into itself" in finding.message
