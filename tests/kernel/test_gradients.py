"""Gradients back along runs, against closed forms and against the tangents of the same run."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from derivative_parts import (
    EXACT,
    Alarm,
    Ball,
    Branch,
    Counted,
    Held,
    Kinked,
    Relay,
    Touch,
    Two,
    slopes_of_ball,
)
from gradient_checks import check_against_tangents, model_of
from how_many import many

import cosim


@pytest.mark.parametrize(("until", "bounces"), [(0.3, 0), (1.0, 1), (2.0, 3)])
def test_a_bouncing_ball_against_its_closed_form(until: float, bounces: int) -> None:
    model, by = model_of(Ball()), ["x.h0", "x.e", "x.g"]
    gradient = model.gradient("x.height", by, until=until, output_interval=until / 4)
    assert gradient.vector == pytest.approx(slopes_of_ball(bounces, until), rel=EXACT, abs=EXACT)
    assert gradient.value == gradient.result["x.height"][-1]
    assert list(gradient) == by


@pytest.mark.parametrize(
    ("part", "by", "until"),
    [
        (Ball(), ["x.h0", "x.e", "x.g", "x.height"], 2.0),
        (Relay(), ["x.a", "x.b", "x.c", "x.j", "x.y"], 1.5),
        (Alarm(), ["x.d", "x.r"], 2.0),
        (Counted(), ["x.a", "x.s"], 1.5),
        (Held(), ["x.a", "x.m"], 1.0),
        (Kinked(), ["x.c", "x.y"], 2.0),
    ],
)
def test_events_timers_signals_and_updates(part: cosim.Component, by: list[str], until: float) -> None:
    check_against_tangents(model_of(part), by, until=until, output_interval=until / 23)


class Constant(cosim.Component):
    """Law: x' = 0 a."""

    a = cosim.parameter(default=0.0)
    x = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(a, x_dot):
        x_dot[0] = 0.0 * a


@pytest.mark.parametrize(
    "method", ["dormand_prince", "radau5", pytest.param("bdf", marks=pytest.mark.thorough)]
)
def test_gradients_that_are_zero_or_one(method: str) -> None:
    """A constant result with a parameter and a start value of 0; a run of 0 s is refused."""
    options = {"integrator": f"integrators.{method}"}
    model, by = model_of(Constant()), ["x.a", "x.x"]
    assert model.gradient("x.x", by, until=1.0, **options).vector == pytest.approx([0.0, 1.0], abs=1e-14)
    run = model.simulate(gradient=by, until=1.0, **options)
    assert run.gradient(lambda _: (3.0, {})).vector.tolist() == [0.0, 0.0]
    with pytest.raises(cosim.SimulationError, match="after the start"):
        model.gradient("x.x", by, until=0.0, **options)


def test_a_step_at_a_time_that_is_a_parameter() -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add("measures.integrate", "z", source="s")
    by = ["s.start_time", "s.height"]
    gradient = model.gradient("z", by, until=1.0, output_interval=0.25)
    assert gradient.vector == pytest.approx([-2.0, 0.6], rel=EXACT)
    check_against_tangents(model, by, until=1.0, output_interval=0.07)


class Chain(cosim.Component):
    """Law: m_i v_i' = k_i (x_(i-1) - 2 x_i + x_(i+1)) - k_i x_i^3: masses between stiffening springs."""

    m = cosim.parameter(shape=20, default=np.ones(20))
    k = cosim.parameter(shape=20, default=np.full(20, 50.0))
    x = cosim.position(shape=20, start=0.1 * np.sin(np.arange(20.0)))
    v = cosim.speed(shape=20)
    energy = cosim.output()

    @cosim.kernel
    def derivatives(m, k, x, v, x_dot, v_dot, energy):
        energy[0] = 0.0
        for i in range(len(x)):
            left = x[i - 1] if i > 0 else 0.0
            right = x[i + 1] if i < len(x) - 1 else 0.0
            x_dot[i] = v[i]
            v_dot[i] = k[i] * (left - 2.0 * x[i] + right - x[i] * x[i] * x[i]) / m[i]
            energy[0] += 0.5 * m[i] * v[i] * v[i]


def test_many_parameters_and_an_integral() -> None:
    model = model_of(Chain())
    objective = cosim.objectives.integral_of_square("x.energy", lambda t: 0.1 * t)
    options = {"until": 1.0, "accuracy": 1e-8, "output_interval": 0.1}
    gradient = model.gradient(objective, ["x.m", "x.k", "x.x"], **options)
    elements = ["x.m[3]", "x.k[0]", "x.k[19]", "x.x[7]"]
    forward = model.simulate(derivatives=elements, **options)
    value, weights = objective(forward)
    assert value == pytest.approx(gradient.value, rel=1e-14)
    for path in elements:
        name, i = path[:3], int(path[4:-1])
        expected = weights["x.energy"] @ forward.derivative("x.energy", path)
        assert gradient[name][i] == pytest.approx(expected, rel=1e-11)


def test_a_run_gives_its_gradients_also_after_later_runs() -> None:
    model = model_of(Ball())
    options = {"until": 1.0, "output_interval": 0.25}
    run = model.simulate(gradient=["x.e"], **options)
    expected = run.gradient("x.height")["x.e"]
    model.simulate(gradient=["x.e"], signals=["x.speed"], **{**options, "until": 0.3})
    model.simulate(derivatives=["x.g"], **options)
    assert run.gradient("x.height")["x.e"] == expected
    assert run.gradient(cosim.objectives.end_value("x.speed"))["x.e"] != expected
    assert run.gradient(lambda run: (7.0, {})).vector.tolist() == [0.0]


class Ticks(cosim.Component):
    """Law: at each tick s grows by a s; shown is b s + t."""

    a = cosim.parameter(default=0.5)
    b = cosim.parameter(default=2.0)
    s = cosim.discrete(start=1.0)
    shown = cosim.output()

    @cosim.kernel
    def show(b, s, t, shown):
        shown[0] = b * s + t

    @cosim.every(0.3, does="discrete")
    @cosim.kernel
    def tick(a, s, s_next):
        s_next[0] = s + a * s


def test_a_system_without_states() -> None:
    """At 1 s four ticks have passed: b (1 + a)^4 s + t."""
    options = {"until": 1.0, "output_interval": 0.25}
    gradient = model_of(Ticks()).gradient("x.shown", ["x.a", "x.b", "x.s"], **options)
    assert gradient.vector == pytest.approx([8.0 * 1.5**3, 1.5**4, 2.0 * 1.5**4], rel=EXACT)
    run = model_of(Ticks()).simulate(gradient="x.b", **options)
    assert run.gradient("x.shown")["x.b"].tolist() == [1.5**4]
    assert pickle.loads(pickle.dumps(run))._trail is None


def test_a_long_trail_is_stored_in_pieces_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": 2.0, "output_interval": 0.01}
    one_piece = model_of(Ball()).gradient(cosim.objectives.integral("x.height"), ["x.e", "x.g"], **options)
    monkeypatch.setattr("cosim.simulation.run_trail.TRAIL_LENGTH", 2000)
    monkeypatch.setattr("cosim.simulation.past_trail.IN_MEMORY", 1)
    pieces = model_of(Ball()).gradient(cosim.objectives.integral("x.height"), ["x.e", "x.g"], **options)
    trail = pieces.result._trail
    assert len(trail._past_trail) >= 3
    assert list(Path(trail._past_trail._folder).iterdir())
    assert np.array_equal(pieces.vector, one_piece.vector)


def test_a_tape_that_is_too_short_grows_and_gives_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": 0.6, "output_interval": 0.05}
    one_piece = model_of(Ball()).gradient("x.height", ["x.e", "x.h0"], **options)
    monkeypatch.setattr("cosim.preparation.adjoint_tables.FIRST_TAPE", 10)
    grown = model_of(Ball()).gradient("x.height", ["x.e", "x.h0"], **options)
    assert np.array_equal(grown.vector, one_piece.vector)


@pytest.mark.parametrize(
    ("part", "by", "reason"),
    [
        (Branch(), "x.c", "jumps where no event is"),
        (Touch(), "x.y", "grazing"),
        (Two(), "x.c", "order changes"),
    ],
)
def test_a_gradient_that_does_not_exist_is_nan_with_a_finding(
    part: cosim.Component, by: str, reason: str
) -> None:
    gradient = model_of(part).gradient("x.y", [by], until=2.0, output_interval=0.5)
    assert math.isnan(gradient[by].item())
    messages = [finding.message for finding in gradient.result.findings if finding.kind == "no derivative"]
    assert reason in messages[0]


def test_kinks_of_two_sources_at_one_instant() -> None:
    """a(T) = height (T - start - duration / 2), whichever kink is handled first."""
    model = cosim.Model("m")
    for name in ("a", "b"):
        model.add("signals.ramp", f"{name}s", start_time=0.4, duration=0.5, height=2.0)
        model.add("measures.integrate", name, source=f"{name}s")
    by = [f"{name}s.{moved}" for name in ("a", "b") for moved in ("start_time", "duration", "height")]
    options = {"until": 2.0, "output_interval": 0.25}
    expected = [-2.0, -1.0, 1.35, 0.0, 0.0, 0.0]
    assert model.gradient("a", by, **options).vector == pytest.approx(expected, rel=1e-11, abs=1e-11)
    check_against_tangents(model, by, **options)


def test_a_gradient_that_disagrees_with_the_tangent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    run = model_of(Ball()).simulate(gradient=["x.e", "x.g"], until=1.0, output_interval=0.25)
    run._trail._rows[-3:] += 0.01  # a damaged trail
    with pytest.raises(cosim.SimulationError, match="derivative along"):
        run.gradient("x.height")


class Arrow(cosim.Component):
    """Law: x_i' = -a x_i - x_0, x_0' = -sum of the others: the Jacobian is an arrow, not a band."""

    a = cosim.parameter(default=1.0)
    x = cosim.auxiliary_state(shape=201, start=np.ones(201))
    total = cosim.output()

    @cosim.kernel
    def derivatives(a, x, x_dot, total):
        total[0] = 0.0
        for i in range(1, 201):
            total[0] += x[i]
            x_dot[i] = -a * x[i] - x[0]
        x_dot[0] = -total[0]


def test_impossible_gradients_are_refused() -> None:
    model = model_of(Relay())
    arrow = model_of(Arrow())
    # beyond 200 states an implicit method needs a Jacobian that is a band
    with pytest.raises(cosim.ModelError, match="Radau5.*adjoint.*201 states"):
        arrow.gradient("x.total", ["x.a"], until=1.0, integrator="integrators.radau5")
    with pytest.raises(cosim.ModelError, match="one of the three"):
        model.simulate(until=1.0, derivatives=["x.a"], gradient=["x.a"])
    with pytest.raises(cosim.LookUpError, match=r"x\.a"):
        model.gradient("x.y", ["x.aa"], until=1.0)
    with pytest.raises(cosim.ModelError, match="whole number"):
        model_of(Ball()).gradient("x.height", ["x.bounces"], until=1.0)
    run = model.simulate(gradient=["x.a"], until=1.0)
    with pytest.raises(cosim.LookUpError, match=r"x\.y"):
        run.gradient("x.yy")
    with pytest.raises(ValueError, match="cotangents.*x.y"):
        run.gradient(lambda run: (0.0, {"x.y": np.zeros(3)}))
    with pytest.raises(cosim.LookUpError, match=r"x\.b"):
        run.gradient("x.y")["x.b"]
    with pytest.raises(cosim.LookUpError, match="gradient"):
        model.simulate(until=1.0).gradient("x.y")


@pytest.mark.thorough
def test_random_chains_of_parts() -> None:
    """Random masses on random springs, with a stop that is hit."""
    for seed in range(many(10)):
        draw = np.random.default_rng(seed)
        model = cosim.Model("m")
        for i in range(3):
            model.add(
                Ball(g=draw.uniform(5.0, 10.0), e=draw.uniform(0.5, 0.9), h0=draw.uniform(0.5, 2.0)), f"b{i}"
            )
        model.add(Kinked(c=draw.uniform(0.3, 0.8)), "k")
        by = [*(f"b{i}.{name}" for i in range(3) for name in ("g", "e", "h0")), "k.c", "k.y"]
        check_against_tangents(model, by, until=1.0, output_interval=0.1)


@pytest.mark.thorough
def test_the_same_bytes_compiled_and_in_plain_python() -> None:
    folder = Path(__file__).parent
    outputs = []
    for plain in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-P", str(folder / "gradient_bytes_run.py")],
            env={**os.environ, "COSIM_PLAIN": plain, "PYTHONPATH": f"{folder}{os.pathsep}{folder.parent}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert len(outputs[0]) > 300
    assert outputs[0] == outputs[1]
