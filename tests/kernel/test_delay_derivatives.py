"""Derivatives of runs through what is remembered: closed forms."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cosim


class Late(cosim.Component):
    """Law: y' = gain past."""

    gain = cosim.parameter(default=-1.0)
    y = cosim.auxiliary_state(start=1.0)
    past = cosim.input()

    @cosim.kernel
    def derivatives(gain, past, y_dot):
        y_dot[0] = gain * past


class Wave(cosim.Component):
    """Law: out = a sin(w t)."""

    a = cosim.parameter(default=1.3)
    w = cosim.parameter(default=4.0)
    out = cosim.output()

    @cosim.kernel
    def calc(t, a, w, out):
        out[0] = a * math.sin(w * t)


def behind(
    measure: str, source: str, parts: dict[str, cosim.Component] | None = None, **options
) -> cosim.Model:
    """A model with y' = gain past, where a measure gives the past."""
    model = cosim.Model("m")
    for name, part in (parts or {}).items():
        model.add(part, name)
    model.add(Late(), "x")
    model.add(f"measures.{measure}", "late", source=source, **options)
    model.connect("late.value", "x.past")
    return model


def late_decay(t: float, delay: float) -> list[float]:
    """Of y' = g y(t - delay), y = y0 before 0: y and its derivatives by delay, g and y0, at g = -1, y0 = 1.

    y(t) = y0 sum_k (g (t - (k - 1) delay))^k / k!, of all k for which the time in brackets is positive.
    """
    found, k = [1.0, 0.0, 0.0, 1.0], 1
    while (rest := t - (k - 1) * delay) > 0.0:
        size = (-1.0) ** k / math.factorial(k)
        found[0] += size * rest**k
        found[1] -= size * k * (k - 1) * rest ** (k - 1)
        found[2] -= size * k * rest**k
        found[3] += size * rest**k
        k += 1
    return found


BY = ["late.delay", "x.gain", "x.y"]


def check_late_decay(delay: float, close: float, until: float = 3.0, **options) -> None:
    given = {name: options.pop(name) for name in ("interpolation", "long_steps") if name in options}
    model = behind("delay", "x.y", delay=delay, **given)
    result = model.simulate(until=until, derivatives=BY, output_interval=until / 4, **options)
    assert not result.findings
    for i, t in enumerate(result.time):
        found = [result["x.y"][i], *(result.derivative("x.y", by)[i] for by in BY)]
        assert found == pytest.approx(late_decay(t, delay), rel=close, abs=close)


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
    """300 entries, where a history begins with room for 16; Runge and Kutta are exact until t = 4 delays."""
    check_late_decay(1.5, 1e-12, until=4.0, integrator="integrators.runge_kutta_4", fixed_step=0.0125)


def test_points_that_are_added_inside_steps() -> None:
    """Behind the delay d y is 1 - gain a/w (1 - cos(w (t - d))), of a source that nothing integrates."""
    model = behind("delay", "wave.out", {"wave": Wave()}, delay=0.4)
    by = ["late.delay", "wave.a", "wave.w", "x.gain"]
    result = model.simulate(until=2.0, derivatives=by, output_interval=2.0, accuracy=1e-9)
    a, w, rest = 1.3, 4.0, 1.6
    part = (1.0 - math.cos(w * rest)) / w
    expected = [
        a * math.sin(w * rest),
        -part,
        -a * (math.sin(w * rest) * rest / w - part / w),
        a * part,
    ]
    assert [result.derivative("x.y", path)[-1] for path in by] == pytest.approx(expected, abs=1e-8)
    assert not result.findings


class Lag(cosim.Component):
    """Law: y' = 2 t, so y = t^2; lag = c + b t + s z, and z' = the delayed y."""

    c = cosim.parameter(unit="s", default=0.5)
    b = cosim.parameter(default=0.25)
    s = cosim.parameter(unit="s", default=0.0)
    y = cosim.auxiliary_state()
    z = cosim.auxiliary_state()
    past = cosim.input()
    lag = cosim.output(unit="s")

    @cosim.kernel
    def derivatives(t, past, y_dot, z_dot):
        y_dot[0] = 2.0 * t
        z_dot[0] = past

    @cosim.kernel
    def calc(t, c, b, s, z, lag):
        lag[0] = c + b * t + s * z


@pytest.mark.parametrize("size", [1.3e-7, 1.3e-9])
def test_points_that_a_small_signal_needs(size: float) -> None:
    """The same with a signal whose floor is measured: its derivatives have the points of the run."""
    model = behind("delay", "wave.out", {"wave": Wave(a=size)}, delay=0.4)
    model.add("measures.delay", "shown", source="wave.out", delay=0.4)
    by = ["wave.a", "wave.w"]
    result = model.simulate(until=2.0, derivatives=by, output_interval=0.5, accuracy=1e-6)
    late = 4.0 * np.maximum(result.time - 0.4, 0.0)
    assert result["shown"] == pytest.approx(size * np.sin(late), abs=2e-6 * size)
    assert result.derivative("shown", "wave.a") == pytest.approx(np.sin(late), abs=2e-6)
    by_w = size * late / 4.0 * np.cos(late)
    assert result.derivative("shown", "wave.w") == pytest.approx(by_w, abs=2e-5 * size)


def lagging(**options) -> cosim.Result:
    model = cosim.Model("m")
    model.add(Lag(), "x")
    model.add("measures.variable_delay", "late", source="x.y", delay="x.lag")
    model.connect("late.value", "x.past")
    return model.simulate(until=2.0, output_interval=2.0, **options)


def test_a_delay_that_varies_and_whose_break_arrives_at_a_time_that_moves() -> None:
    """z(T) = ((1 - b) T - c)^3 / (3 (1 - b))."""
    by = ["x.c", "x.b"]
    result = lagging(derivatives=by, accuracy=1e-10)
    rest = 0.75 * 2.0 - 0.5
    expected = [-(rest**2) / 0.75, rest**3 / (3.0 * 0.75**2) - rest**2 * 2.0 / 0.75]
    assert [result.derivative("x.z", path)[-1] for path in by] == pytest.approx(expected, rel=1e-9)
    assert result.derivative("late", "x.c")[-1] == pytest.approx(-2.0 * rest, rel=1e-9)


def test_a_delay_that_depends_on_the_state() -> None:
    """At s = 0: z' = u^2 - 2 u s z with u = (1 - b) t - c, so dz/ds = -2/3 u^5 / (5 (1 - b)^2)."""
    result = lagging(derivatives=["x.s"], accuracy=1e-10, maximum_step=0.02)  # at s = 0 any step is exact
    rest = 0.75 * 2.0 - 0.5
    assert result.derivative("x.z", "x.s")[-1] == pytest.approx(-2.0 / 15.0 * rest**5 / 0.75**2, rel=1e-8)


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
    """y = 1 - h (t - start - delay) behind a step of height h: each of the three moves it."""
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add(Late(), "x")
    model.add("measures.delay", "late", source="s", delay=0.3)
    model.connect("late.value", "x.past")
    by = ["s.start_time", "s.height", "late.delay"]
    result = model.simulate(until=1.0, derivatives=by, output_interval=0.25)
    assert [result.derivative("x.y", path)[-1] for path in by] == pytest.approx([2.0, -0.3, 2.0], rel=1e-12)


class Both(cosim.Component):
    """Law: y' = a + b; seen is y at 0.7 s."""

    y = cosim.auxiliary_state()
    seen = cosim.discrete()
    a = cosim.input()
    b = cosim.input()

    @cosim.kernel
    def derivatives(a, b, y_dot):
        y_dot[0] = a + b

    @cosim.every(1.0, offset=0.7, does="discrete")
    @cosim.kernel
    def sample(y, seen_next):
        seen_next[0] = y


@pytest.mark.parametrize(
    ("delays", "words"),
    [((0.25, 0.35), ""), ((0.2, 0.2), "two jumps"), ((0.3, 0.35), "order changes")],
)
def test_jumps_that_meet_have_no_derivative(delays: tuple[float, float], words: str) -> None:
    """A jump at 0.4 arrives twice, and before another event, or another break that jumps, or neither."""
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add(Both(), "x")
    for name, delay in zip("ab", delays, strict=True):
        model.add("measures.delay", name, source="s", delay=delay)
        model.connect(f"{name}.value", f"x.{name}")
    by = ["a.delay", "b.delay", "s.start_time", "s.height"]
    result = model.simulate(until=1.0, derivatives=by, output_interval=0.5)
    found = [result.derivative("x.y", path)[-1] for path in by]
    if words:
        (finding,) = result.findings
        assert words in finding.message and finding.time == pytest.approx(0.4 + delays[0])
        assert np.isnan(found).all()
    else:
        assert not result.findings
        assert found == pytest.approx([-2.0, -2.0, -4.0, 0.6], rel=1e-12)


SCRIPT = """
import cosim, test_delay_derivatives as cases
for model, by in (
    (cases.behind("delay", "x.y", delay=0.05, interpolation="dense_output"), ["late.delay", "x.y"]),
    (cases.behind("delay", "wave.out", {"wave": cases.Wave()}, delay=0.4), ["late.delay", "wave.w"]),
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
