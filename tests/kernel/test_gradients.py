"""Gradients back along runs: against closed forms, and against the tangents that go along."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    Oscillator,
    Relay,
    Touch,
    Two,
    slopes_of_ball,
)
from how_many import many

import cosim
from cosim_mechanics import Multibody


def model_of(part: cosim.Component) -> cosim.Model:
    model = cosim.Model("m")
    model.add(part, "x")
    return model


def check_against_tangents(model: cosim.Model, by: list[str], close: float = 1e-11, **options) -> None:
    """All recorded values, weighted at random: the gradient is the weighted sum of their derivatives."""
    forward = model.simulate(derivatives=by, **options)
    back = model.simulate(gradient=by, **options)
    assert np.array_equal(back.time, forward.time)
    assert not [finding for finding in back.findings if finding.kind == "no derivative"]
    for seed in range(2):
        draw = np.random.default_rng(seed)
        weights = {path: draw.uniform(-1.0, 1.0, forward[path].shape) for path in forward.derivatives}
        weights = {path: w * (draw.random(w.shape) < 0.5) for path, w in weights.items()}
        gradient = back.gradient(lambda _, weights=weights: (0.0, weights))
        for path in by:
            terms = [np.ravel(w * forward.derivative(of, path)) for of, w in weights.items()]
            expected = sum(term.sum() for term in terms)
            size = sum(abs(term).sum() for term in terms)
            assert gradient[path].item() == pytest.approx(expected, abs=close * (size + 1e-3))


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


FIXED, CONTROLLED = {"fixed_step": 0.05}, {"accuracy": 1e-7}
WITHOUT_CONTROL = ("explicit_euler", "semi_implicit_euler", "heun", "velocity_verlet", "runge_kutta_3")
WITHOUT_CONTROL += ("runge_kutta_4", "yoshida_4")
EXPLICIT = ("runge_kutta_merson", "bogacki_shampine", "tsitouras", "dormand_prince", "dormand_prince_853")
IMPLICIT = ("radau5", "bdf", "trapezoid", "esdirk43", "generalized_alpha")
METHODS = [
    *((name, FIXED) for name in (*WITHOUT_CONTROL, *IMPLICIT, "implicit_euler", "radau3")),
    *((name, CONTROLLED) for name in (*EXPLICIT, *IMPLICIT, "implicit_euler", "radau3")),
]


def methods(*quick: str) -> list[Any]:
    """All with their steps; these in the short run."""
    return [
        pytest.param(name, steps, marks=() if name in quick else pytest.mark.thorough)
        for name, steps in METHODS
    ]


@pytest.mark.parametrize(("method", "steps"), methods("dormand_prince", "radau5"))
def test_along_the_steps_of_every_method(method: str, steps: dict[str, float]) -> None:
    options = {"until": 1.0, "output_interval": 0.013, "integrator": f"integrators.{method}", **steps}
    check_against_tangents(model_of(Oscillator()), ["x.k", "x.x", "x.v"], **options)


def implicit_methods(*quick: str) -> list[Any]:
    """Those with error control; these in the short run."""
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.thorough, id=name) for name in IMPLICIT
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("method", implicit_methods("radau5"))
@pytest.mark.parametrize(
    ("part", "by", "until"),
    [
        (Ball, ["x.h0", "x.e", "x.g", "x.height"], 2.0),
        (Relay, ["x.a", "x.b", "x.c", "x.j", "x.y"], 1.5),
        (Counted, ["x.a", "x.s"], 1.5),
        (Held, ["x.a", "x.m"], 1.0),
        (Kinked, ["x.c", "x.y"], 2.0),
    ],
    ids=["ball", "relay", "counted", "held", "kinked"],
)
def test_events_with_implicit_methods(
    part: type[cosim.Component], by: list[str], until: float, method: str
) -> None:
    options = {"integrator": f"integrators.{method}", **CONTROLLED}
    close = 1e-8 if method == "generalized_alpha" else 1e-11  # it divides by short steps
    check_against_tangents(model_of(part()), by, close, until=until, output_interval=until / 23, **options)


@pytest.mark.parametrize("method", implicit_methods("radau5"))
def test_sources_that_jump_and_bend_with_implicit_methods(method: str) -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add("signals.ramp", "r", start_time=0.3, duration=0.4, height=2.0)
    model.add("measures.integrate", "z", source="s")
    model.add("measures.integrate", "w", source="r")
    by = ["s.start_time", "s.height", "r.start_time", "r.duration"]
    options = {"until": 1.0, "output_interval": 0.07, "integrator": f"integrators.{method}", **CONTROLLED}
    close = 1e-9 if method == "radau5" else 1e-3  # others are not exact for a ramp at once
    assert model.gradient("z", by, **options).vector == pytest.approx([-2.0, 0.6, 0.0, 0.0], abs=close)
    assert model.gradient("w", by, **options).vector == pytest.approx([0.0, 0.0, -2.0, -1.0], abs=close)
    check_against_tangents(model, by, 1e-10, **options)


class Reaction(cosim.Component):
    """Law: Robertson's reaction; constants from 0.04 to 3e7."""

    k = cosim.parameter(shape=3, default=[0.04, 3e7, 1e4])
    y = cosim.auxiliary_state(shape=3, start=[1.0, 0.0, 0.0])

    @cosim.kernel
    def derivatives(k, y, y_dot):
        first = k[0] * y[0]
        second = k[1] * y[1] * y[1]
        third = k[2] * y[1] * y[2]
        y_dot[0] = third - first
        y_dot[1] = first - second - third
        y_dot[2] = second


@pytest.mark.few(1)
@pytest.mark.parametrize("accuracy", [1e-6, 1e-8])
@pytest.mark.parametrize("method", implicit_methods("radau5"))
def test_a_stiff_reaction(method: str, accuracy: float) -> None:
    """The derivative by k[0] is -4.247558767 at 40 s, by radau5 at 1e-11.

    Newton's older Jacobians are good enough for values, and not for tangents.
    """
    options = {"until": 40.0, "output_interval": 4.0, "integrator": f"integrators.{method}"}
    model, by = model_of(Reaction()), ["x.k[0]", "x.k[1]", "x.k[2]", "x.y[0]"]
    result = model.simulate(derivatives=by, accuracy=accuracy, **options)
    close = {"trapezoid": 3e-4, "generalized_alpha": 3e-4}.get(method, 1e-6)
    assert result.derivative("x.y", "x.k[0]")[-1][0] == pytest.approx(-4.247558767, rel=close)
    check_against_tangents(model, by, close=1e-10, accuracy=accuracy, **options)


class Rod(cosim.Component):
    """Law: u_i' = d_i (u_(i-1) - 2 u_i + u_(i+1)) - u_i^3: the Jacobian is a band."""

    d = cosim.parameter(shape=60, default=np.linspace(50.0, 100.0, 60))
    u = cosim.auxiliary_state(shape=60, start=np.sin(np.linspace(0.0, 3.0, 60)))

    @cosim.kernel
    def derivatives(d, u, u_dot):
        for i in range(len(u)):
            left = u[i - 1] if i > 0 else 0.0
            right = u[i + 1] if i < len(u) - 1 else 0.0
            u_dot[i] = d[i] * (left - 2.0 * u[i] + right) - u[i] * u[i] * u[i]


@pytest.mark.parametrize("method", implicit_methods())
def test_matrices_of_bands(method: str) -> None:
    options = {"until": 0.1, "output_interval": 0.01, "integrator": f"integrators.{method}", "accuracy": 1e-6}
    check_against_tangents(model_of(Rod()), ["x.d[3]", "x.d[30]", "x.u[7]"], close=1e-10, **options)


class Still(cosim.Component):
    """Law: x' = 0 a; nothing moves."""

    a = cosim.parameter(default=0.0)
    x = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(a, x_dot):
        x_dot[0] = 0.0 * a


@pytest.mark.parametrize(
    "method", ["dormand_prince", "radau5", pytest.param("bdf", marks=pytest.mark.thorough)]
)
def test_gradients_that_are_zero_or_one(method: str) -> None:
    """A parameter and a start value of 0, a result that is constant; no run is as short as 0 s."""
    options = {"integrator": f"integrators.{method}"}
    model, by = model_of(Still()), ["x.a", "x.x"]
    assert model.gradient("x.x", by, until=1.0, **options).vector == pytest.approx([0.0, 1.0], abs=1e-14)
    run = model.simulate(gradient=by, until=1.0, **options)
    assert run.gradient(lambda _: (3.0, {})).vector.tolist() == [0.0, 0.0]
    with pytest.raises(cosim.SimulationError, match="after the start"):
        model.gradient("x.x", by, until=0.0, **options)


def test_a_source_that_jumps_at_a_time_of_its_own() -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add("measures.integrate", "z", source="s")
    by = ["s.start_time", "s.height"]
    gradient = model.gradient("z", by, until=1.0, output_interval=0.25)
    assert gradient.vector == pytest.approx([-2.0, 0.6], rel=EXACT)
    check_against_tangents(model, by, until=1.0, output_interval=0.07)


def double_pendulum() -> Multibody:
    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    for link, joint, parent in (("arm", "shoulder", "ground"), ("tip", "elbow", "arm")):
        model.body(link, mass=1.0, inertia=(1.0, 1.0, 1.0), center_of_mass=(0.0, 0.5, 0.0))
        model.joint("pin", link, parent, joint, frame_on_parent=(0.0, 1.0, 0.0), q=0.4)
    return model


@pytest.mark.thorough
def test_a_mechanism_and_its_energy() -> None:
    by = ["arm.mass", "tip.mass", "shoulder.q", "elbow.u", "gravity.gravity[1]"]
    options = {"until": 0.3, "output_interval": 0.05, "signals": ["shoulder.q", "elbow.u", "energy.*"]}
    check_against_tangents(double_pendulum(), by, close=1e-10, **options)


@pytest.mark.thorough
def test_a_body_that_turns_freely() -> None:
    """Quaternions are normalized in each step; the length of one means nothing."""
    model = Multibody("free", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    model.joint("free", name="joint", child=body, u=[0.5, 0.1, 0, 0, 0, 0])
    by = [f"joint.{name}" for name in ("u[0]", "u[1]", "q[0]", "q[2]")]
    check_against_tangents(model, by, until=1.0, output_interval=0.2, signals=["joint.q", "joint.u"])
    whole = model.gradient("joint.q[1]", ["joint.u"], until=1.0, signals=["joint.q[1]"])
    assert whole["joint.u"].shape == (6,)


def closed_chain() -> Multibody:
    """A bar on two rods."""
    model = Multibody("chain", gravity=(0, -9.81, 0))
    for i in range(2):
        model.body(f"rod{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
        model.joint("pin", name=f"pin{i}", child=f"rod{i}", frame_on_parent=(2.0 * i, 0, 0), q=1.2, u=-1.0)
    model.body("bar", mass=1.0, center_of_mass=(1.0, 0, 0), inertia=(1e-3, 1 / 3, 1 / 3))
    model.joint("pin", name="tip", child="bar", parent="rod0", frame_on_parent=(1, 0, 0), q=-1.2, u=1.0)
    ends = {"point1": (2, 0, 0), "point2": (1, 0, 0)}
    model.constraint("ball_constraint", "closure", body1="bar", body2="rod1", **ends)
    return model


@pytest.mark.thorough
def test_constraints() -> None:
    options = {"until": 0.2, "output_interval": 0.1, "signals": ["pin0.q", "pin0.u", "pin1.q"]}
    check_against_tangents(closed_chain(), ["rod0.mass", "bar.mass", "pin0.u"], close=1e-9, **options)


class Chain(cosim.Component):
    """Law: masses between springs, which stiffen: m_i v_i' = k_i (x_(i-1) - 2 x_i + x_(i+1)) - k_i x_i^3."""

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
    named = ["x.m[3]", "x.k[0]", "x.k[19]", "x.x[7]"]
    forward = model.simulate(derivatives=named, **options)
    value, weights = objective(forward)
    assert value == pytest.approx(gradient.value, rel=1e-14)
    for path in named:
        name, i = path[:3], int(path[4:-1])
        expected = weights["x.energy"] @ forward.derivative("x.energy", path)
        assert gradient[name][i] == pytest.approx(expected, rel=1e-11)


def test_one_run_has_many_gradients_also_after_others() -> None:
    model = model_of(Ball())
    options = {"until": 1.0, "output_interval": 0.25}
    first = model.simulate(gradient=["x.e"], **options)
    expected = first.gradient("x.height")["x.e"]
    model.simulate(gradient=["x.e"], signals=["x.speed"], **{**options, "until": 0.3})
    model.simulate(derivatives=["x.g"], **options)
    assert first.gradient("x.height")["x.e"] == expected
    assert first.gradient(cosim.objectives.end_value("x.speed"))["x.e"] != expected
    assert first.gradient(lambda run: (7.0, {})).vector.tolist() == [0.0]


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


def test_long_trails_lie_in_pieces_and_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": 2.0, "output_interval": 0.01}
    whole = model_of(Ball()).gradient(cosim.objectives.integral("x.height"), ["x.e", "x.g"], **options)
    monkeypatch.setattr("cosim.simulation.run_trail.TRAIL_LENGTH", 2000)
    monkeypatch.setattr("cosim.simulation.past_trail.IN_MEMORY", 1)
    pieces = model_of(Ball()).gradient(cosim.objectives.integral("x.height"), ["x.e", "x.g"], **options)
    trail = pieces.result._trail
    assert len(trail._past_trail) >= 3
    assert list(Path(trail._past_trail._folder).iterdir())
    assert np.array_equal(pieces.vector, whole.vector)


def test_a_tape_that_is_too_short_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"until": 0.6, "output_interval": 0.05}
    whole = model_of(Ball()).gradient("x.height", ["x.e", "x.h0"], **options)
    monkeypatch.setattr("cosim.preparation.adjoint_tables.FIRST_TAPE", 10)
    short = model_of(Ball()).gradient("x.height", ["x.e", "x.h0"], **options)
    assert np.array_equal(short.vector, whole.vector)


@pytest.mark.parametrize(
    ("part", "by", "words"),
    [
        (Branch(), "x.c", "jumps where no event is"),
        (Touch(), "x.y", "grazing"),
        (Two(), "x.c", "order changes"),
    ],
)
def test_where_there_is_no_derivative_it_says_so(part: cosim.Component, by: str, words: str) -> None:
    gradient = model_of(part).gradient("x.y", [by], until=2.0, output_interval=0.5)
    assert math.isnan(gradient[by].item())
    found = [finding.message for finding in gradient.result.findings if finding.kind == "no derivative"]
    assert words in found[0]


def test_kinks_of_two_sources_at_one_instant() -> None:
    """a(T) = height (T - start - duration / 2), whichever of both kinks comes first."""
    model = cosim.Model("m")
    for name in ("a", "b"):
        model.add("signals.ramp", f"{name}s", start_time=0.4, duration=0.5, height=2.0)
        model.add("measures.integrate", name, source=f"{name}s")
    by = [f"{name}s.{moved}" for name in ("a", "b") for moved in ("start_time", "duration", "height")]
    options = {"until": 2.0, "output_interval": 0.25}
    expected = [-2.0, -1.0, 1.35, 0.0, 0.0, 0.0]
    assert model.gradient("a", by, **options).vector == pytest.approx(expected, rel=1e-11, abs=1e-11)
    check_against_tangents(model, by, **options)


def test_a_gradient_that_disagrees_with_the_tangent_is_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    run = model_of(Ball()).simulate(gradient=["x.e", "x.g"], until=1.0, output_interval=0.25)
    run._trail._rows[-3:] += 0.01
    with pytest.raises(cosim.SimulationError, match="derivative along"):
        run.gradient("x.height")


class Wide(cosim.Component):
    """Law: x_i' = -a x_i - x_0, and x_0 sees the others: an arrow, no band."""

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


def test_what_cannot_be_asked_for_is_refused() -> None:
    model = model_of(Relay())
    wide = model_of(Wide())
    with pytest.raises(cosim.ModelError, match="Radau5.*adjoint.*201 states"):
        wide.gradient("x.total", ["x.a"], until=1.0, integrator="integrators.radau5")
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
    found = []
    for plain in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-P", str(folder / "gradient_bytes_run.py")],
            env={**os.environ, "COSIM_PLAIN": plain, "PYTHONPATH": f"{folder}{os.pathsep}{folder.parent}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    assert len(found[0]) > 300
    assert found[0] == found[1]
