"""Gradients back along runs with delays and windows, against closed forms and the tangents of the run."""

from __future__ import annotations

import math
from typing import Any

import pytest
from delayed_parts import (
    BY,
    Late,
    Wave,
    behind,
    behind_a_step,
    behind_two_delays,
    lagging,
    late_decay,
    slopes_of_lagging,
)
from derivative_parts import Ball
from gradient_checks import check_against_tangents

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
    """The method of Runge and Kutta is exact until four delays have passed."""
    until = options.pop("until", 2.8)
    model = behind("delay", "x.y", delay=0.7)
    gradient = model.gradient("x.y", BY, until=until, output_interval=until / 4, **options)
    expected = late_decay(until, 0.7)
    close = 1e-7 if "radau5" in str(options) else 1e-11
    assert gradient.value == pytest.approx(expected[0], rel=close)
    assert gradient.vector == pytest.approx(expected[1:], rel=close, abs=close)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("measure", "source", "measure_options", "options"),
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
def test_delays_and_windows_against_tangents(
    measure: str, source: str, measure_options: dict[str, Any], options: dict[str, Any]
) -> None:
    model = behind(measure, source, {"wave": Wave()}, **measure_options)
    by = [f"late.{'delay' if measure == 'delay' else 'window'}", "x.gain", "x.y", "wave.a", "wave.w"]
    check_against_tangents(model, by, until=2.0, output_interval=0.13, close=1e-10, **options)


@pytest.mark.thorough
def test_an_extreme_beside_a_delay_against_tangents() -> None:
    """Thorough, because the search for the time of the extreme takes long to compile."""
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


def test_a_trail_in_short_pieces_gives_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    model = behind("delay", "x.y", delay=0.3, interpolation="dense_output")
    options = {"until": 2.0, "output_interval": 0.05, "maximum_step": 0.1}
    one_piece = model.gradient("x.y", BY, **options)
    monkeypatch.setattr("cosim.simulation.run_trail.TRAIL_LENGTH", 1000)
    pieces = behind("delay", "x.y", delay=0.3, interpolation="dense_output").gradient("x.y", BY, **options)
    assert len(pieces.result._trail._past_trail) > len(one_piece.result._trail._past_trail)
    assert pieces.vector.tolist() == one_piece.vector.tolist()


def test_a_varying_delay_whose_break_arrives_at_a_time_that_depends_on_parameters() -> None:
    gradient = lagging().gradient("x.z", ["x.c", "x.b"], until=2.0, output_interval=2.0, accuracy=1e-10)
    assert gradient.vector == pytest.approx(slopes_of_lagging(2.0), rel=1e-9)


def test_a_delay_that_depends_on_the_state() -> None:
    options = {"until": 2.0, "output_interval": 0.13, "accuracy": 1e-8, "maximum_step": 0.1}
    check_against_tangents(lagging(), ["x.s", "x.c", "x.b"], close=1e-10, **options)


def test_jumps_that_arrive_through_a_delay() -> None:
    """The time of the jump depends on its start and on the delay."""
    by = ["s.start_time", "s.height", "late.delay"]
    gradient = behind_a_step().gradient("x.y", by, until=1.0, output_interval=0.25)
    assert gradient.vector == pytest.approx([2.0, -0.3, 2.0], rel=1e-12)
    check_against_tangents(behind_a_step(), by, until=1.0, output_interval=0.07)


def test_the_delayed_speed_of_a_bouncing_ball() -> None:
    model = cosim.Model("m")
    model.add(Ball(), "ball")
    model.add("measures.delay", "late", source="ball.speed", delay=0.25)
    model.add(Late(), "x")
    model.connect("late.value", "x.past")
    by = ["ball.h0", "ball.e", "ball.g", "late.delay", "x.gain"]
    check_against_tangents(model, by, until=1.5, output_interval=0.07, close=1e-10)


@pytest.mark.parametrize(("delays", "reason"), [((0.2, 0.2), "two jumps"), ((0.3, 0.35), "order changes")])
def test_jumps_that_meet_have_no_gradient(delays: tuple[float, float], reason: str) -> None:
    gradient = behind_two_delays(delays).gradient("x.y", ["a.delay"], until=1.0, output_interval=0.5)
    assert math.isnan(gradient["a.delay"].item())
    (finding,) = gradient.result.findings
    assert reason in finding.message and finding.time == pytest.approx(0.4 + delays[0])


def test_a_step_longer_than_the_delay_has_no_gradient_and_a_finding_says_so() -> None:
    model = behind("delay", "x.y", delay=0.05)
    options = {"integrator": "integrators.dormand_prince", "fixed_step": 0.1}
    gradient = model.gradient("x.y", BY, until=1.0, output_interval=0.25, **options)
    assert all(math.isnan(each) for each in gradient.vector)
    (finding,) = [each for each in gradient.result.findings if each.kind == "no derivative"]
    # until 0.25 s steps are shorter, since they end where breaks of the start arrive
    assert finding.time == pytest.approx(0.35)
    assert "looks into itself" in finding.message
