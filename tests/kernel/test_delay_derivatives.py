"""Derivatives of runs with delays, windows and extremes, against closed forms."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from delayed_parts import (
    BY,
    Wave,
    behind,
    behind_a_step,
    behind_two_delays,
    lagging,
    late_decay,
    slopes_of_lagging,
)


def check_late_decay(delay: float, close: float, until: float = 3.0, **options) -> None:
    """Compare y and its derivatives with their closed form at five times of a run."""
    delay_options = {name: options.pop(name) for name in ("interpolation", "long_steps") if name in options}
    model = behind("delay", "x.y", delay=delay, **delay_options)
    result = model.simulate(until=until, derivatives=BY, output_interval=until / 4, **options)
    assert not result.findings
    for i, t in enumerate(result.time):
        y_and_slopes = [result["x.y"][i], *(result.derivative("x.y", by)[i] for by in BY)]
        assert y_and_slopes == pytest.approx(late_decay(t, delay), rel=close, abs=close)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("delay", "close", "options"),
    [
        (0.7, 1e-11, {"accuracy": 1e-11}),
        (0.7, 1e-11, {"accuracy": 1e-11, "interpolation": "dense_output"}),
        (0.05, 1e-9, {"accuracy": 1e-9, "interpolation": "dense_output"}),  # shorter than steps
        (0.05, 1e-8, {"accuracy": 1e-9, "long_steps": "limit"}),
        (0.7, 1e-9, {"accuracy": 1e-9, "integrator": "integrators.dormand_prince_853"}),
        (0.7, 1e-7, {"accuracy": 1e-9, "integrator": "integrators.radau5"}),
    ],
)
def test_a_late_decay_against_its_closed_form(delay: float, close: float, options: dict) -> None:
    check_late_decay(delay, close, **options)


def test_a_history_that_grows_while_the_run_goes_on() -> None:
    """126 entries at a time, where a history begins with room for 16; the method is exact until 4 delays."""
    check_late_decay(1.5, 1e-12, until=4.0, integrator="integrators.runge_kutta_4", fixed_step=0.0125)


def test_points_that_are_added_inside_steps() -> None:
    """The source is no state; behind the delay d, y = 1 + gain a/w (1 - cos(w (t - d)))."""
    model = behind("delay", "wave.out", {"wave": Wave()}, delay=0.4)
    by = ["late.delay", "wave.a", "wave.w", "x.gain"]
    result = model.simulate(until=2.0, derivatives=by, output_interval=2.0, accuracy=1e-9)
    a, w, time = 1.3, 4.0, 2.0 - 0.4  # the gain is -1
    integral = (1.0 - math.cos(w * time)) / w
    expected = [
        a * math.sin(w * time),
        -integral,
        -a * (math.sin(w * time) * time / w - integral / w),
        a * integral,
    ]
    assert [result.derivative("x.y", path)[-1] for path in by] == pytest.approx(expected, abs=1e-8)
    assert not result.findings


@pytest.mark.parametrize("size", [1.3e-7, 1.3e-9])
def test_the_history_of_a_small_signal_has_enough_points(size: float) -> None:
    """A signal of 1e-9 is not taken for noise, neither in the run nor in its derivatives."""
    model = behind("delay", "wave.out", {"wave": Wave(a=size)}, delay=0.4)
    model.add("measures.delay", "shown", source="wave.out", delay=0.4)
    by = ["wave.a", "wave.w"]
    result = model.simulate(until=2.0, derivatives=by, output_interval=0.5, accuracy=1e-6)
    angle = 4.0 * np.maximum(result.time - 0.4, 0.0)
    assert result["shown"] == pytest.approx(size * np.sin(angle), abs=2e-6 * size)
    assert result.derivative("shown", "wave.a") == pytest.approx(np.sin(angle), abs=2e-6)
    by_w = size * angle / 4.0 * np.cos(angle)
    assert result.derivative("shown", "wave.w") == pytest.approx(by_w, abs=2e-5 * size)


def test_a_varying_delay_whose_break_arrives_at_a_time_that_depends_on_parameters() -> None:
    by = ["x.c", "x.b"]
    result = lagging().simulate(until=2.0, output_interval=2.0, derivatives=by, accuracy=1e-10)
    slopes = [result.derivative("x.z", path)[-1] for path in by]
    assert slopes == pytest.approx(slopes_of_lagging(2.0), rel=1e-9)
    delayed_time = 0.75 * 2.0 - 0.5
    assert result.derivative("late", "x.c")[-1] == pytest.approx(-2.0 * delayed_time, rel=1e-9)


def test_a_delay_that_depends_on_the_state() -> None:
    """At s = 0: z' = u^2 - 2 u s z with u = (1 - b) t - c, so dz/ds = -2/3 u^5 / (5 (1 - b)^2)."""
    # at s = 0 z is a polynomial, and steps of any length would be accepted
    options = {"until": 2.0, "output_interval": 2.0, "accuracy": 1e-10, "maximum_step": 0.02}
    result = lagging().simulate(derivatives=["x.s"], **options)
    delayed_time = 0.75 * 2.0 - 0.5
    expected = -2.0 / 15.0 * delayed_time**5 / 0.75**2
    assert result.derivative("x.z", "x.s")[-1] == pytest.approx(expected, rel=1e-8)


def test_a_mean_over_a_window_and_the_largest_value() -> None:
    """The mean of a sin(w t) over the last s seconds; its largest value has been a."""
    model = behind("sliding_mean", "wave.out", {"wave": Wave()}, window=0.4)
    model.add("measures.maximum", "best", source="wave.out")
    by = ["late.window", "wave.a", "wave.w"]
    result = model.simulate(until=2.0, derivatives=by, output_interval=2.0, accuracy=1e-9)
    a, w, t, s = 1.3, 4.0, 2.0, 0.4
    mean = a * (math.cos(w * (t - s)) - math.cos(w * t)) / (w * s)
    by_w = a * (t * math.sin(w * t) - (t - s) * math.sin(w * (t - s))) / (w * s) - mean / w
    expected = [(a * math.sin(w * (t - s)) - mean) / s, mean / a, by_w]
    assert [result.derivative("late", path)[-1] for path in by] == pytest.approx(expected, abs=1e-7)
    assert [result.derivative("best", path)[-1] for path in by] == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)


def test_jumps_that_arrive_through_a_delay() -> None:
    """The time of the jump depends on its start and on the delay."""
    by = ["s.start_time", "s.height", "late.delay"]
    result = behind_a_step().simulate(until=1.0, derivatives=by, output_interval=0.25)
    assert [result.derivative("x.y", path)[-1] for path in by] == pytest.approx([2.0, -0.3, 2.0], rel=1e-12)


@pytest.mark.parametrize(
    ("delays", "reason"),
    [((0.25, 0.35), ""), ((0.2, 0.2), "two jumps"), ((0.3, 0.35), "order changes")],
)
def test_jumps_that_meet_have_no_derivative(delays: tuple[float, float], reason: str) -> None:
    """The step at 0.4 s arrives twice: alone, both at once, or at 0.7 s, where y is sampled."""
    by = ["a.delay", "b.delay", "s.start_time", "s.height"]
    result = behind_two_delays(delays).simulate(until=1.0, derivatives=by, output_interval=0.5)
    slopes = [result.derivative("x.y", path)[-1] for path in by]
    if reason:
        (finding,) = result.findings
        assert reason in finding.message and finding.time == pytest.approx(0.4 + delays[0])
        assert np.isnan(slopes).all()
    else:
        assert not result.findings
        assert slopes == pytest.approx([-2.0, -2.0, -4.0, 0.6], rel=1e-12)


SCRIPT = """
from delayed_parts import Wave, behind
for model, by in (
    (behind("delay", "x.y", delay=0.05, interpolation="dense_output"), ["late.delay", "x.y"]),
    (behind("delay", "wave.out", {"wave": Wave()}, delay=0.4), ["late.delay", "wave.w"]),
):
    result = model.simulate(until=0.6, derivatives=by, output_interval=0.2, accuracy=1e-6)
    for path in by:
        print(result.derivative("x.y", path).tobytes().hex())
"""


@pytest.mark.thorough
def test_the_same_bits_compiled_and_in_plain_python() -> None:
    printed = []
    for plain in ("0", "1"):
        variables = {**os.environ, "COSIM_PLAIN": plain, "PYTHONPATH": str(Path(__file__).parent)}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=variables, capture_output=True, text=True, check=True
        )
        printed.append(run.stdout)
    assert len(printed[0].split()) == 4 and len(set(printed[0].split())) == 4
    assert printed[0] == printed[1]
    assert np.isfinite(np.frombuffer(bytes.fromhex(printed[0].split()[0]))).all()
