"""Couplings without an error have the derivatives of the same model as one system, or of a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from coupled_oscillators import STARTS, STEP, Ball, Oscillator, oscillators, system_of
from coupling_differences import differences_by

import cosim
from cosim_fmu import CoSimulation, TimedInputs

PERIOD = 0.05


class Plant(cosim.Component):
    """Law: x'' = u - k x - c x'; where x reaches the stop, its speed becomes -e x'."""

    k = cosim.parameter(default=9.0)
    c = cosim.parameter(default=0.4)
    e = cosim.parameter(default=0.7)
    stop = cosim.parameter(default=-0.4)
    x = cosim.position(start=1.0)
    v = cosim.speed()
    u = cosim.input()
    place = cosim.output()

    @cosim.kernel
    def derivatives(k, c, x, v, u, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = u - k * x - c * v

    @cosim.kernel
    def outputs(x, place):
        place[0] = x

    @cosim.witness(direction="falling")
    def reaches(x, stop):
        return x - stop

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def bounce(e, v, v_next):
        v_next[0] = -e * v


class Controller(cosim.Component):
    """Every 0.05 s: u = -gain error - integral, where the integral sums rate * error."""

    gain = cosim.parameter(default=3.0)
    rate = cosim.parameter(default=0.2)
    setpoint = cosim.parameter(default=0.3)
    seen = cosim.input()
    u = cosim.discrete()
    integral = cosim.discrete()
    force = cosim.output()

    @cosim.every(PERIOD, does="discrete")
    @cosim.kernel
    def sample(gain, rate, setpoint, seen, integral, integral_next, u_next):
        error = seen - setpoint
        integral_next[0] = integral + rate * error
        u_next[0] = -gain * error - integral

    @cosim.kernel
    def outputs(u, force):
        force[0] = u


class Mover(cosim.Component):
    """A force that grows linearly with time."""

    x = cosim.position(unit="m", start=0.5)
    speed = cosim.parameter(unit="m/s", default=0.8)
    place = cosim.output(unit="N")

    @cosim.kernel
    def derivatives(speed, x_dot):
        x_dot[0] = speed

    @cosim.kernel
    def outputs(x, place):
        place[0] = x


BY = ["plant.k", "plant.c", "plant.e", "plant.stop", "plant.x", "plant.v"]
BY += ["controller.gain", "controller.rate", "controller.setpoint"]


def coupled_name(path: str) -> str:
    """``plant.k`` as a variable of the participant ``plant``, whose part is ``m``."""
    name, _, variable = path.partition(".")
    return f"{name}.m.{variable}"


def test_a_coupling_with_a_sampled_controller_has_the_derivatives_of_one_system() -> None:
    """Inputs that are held between samples are the same in both; the derivatives pass two bounces."""
    model = cosim.Model("one")
    model.add(Plant(), "plant")
    model.add(Controller(), "controller")
    model.connect("controller.force", "plant.u")
    model.connect("plant.place", "controller.seen")
    settings: dict[str, Any] = {"accuracy": 1e-12, "output_interval": PERIOD, "signals": ["plant.x"]}
    exact = cosim.simulate(model.build(), until=4.0, derivatives=BY, **settings)
    assert sum(event.witness == "plant.reaches" for event in exact.events) >= 2
    loop = CoSimulation(
        {"controller": system_of("controller", Controller()), "plant": system_of("plant", Plant())},
        ["controller.m.force -> plant.m.u", "plant.m.place -> controller.m.seen"],
        "gauss_seidel",
        PERIOD,
        tolerance=1e-12,
    )
    by = [coupled_name(path) for path in BY]
    result = loop.simulate(4.0, record=["plant.m.x"], derivatives=by)
    rows = np.searchsorted(exact.time, result.time - 1e-9, side="left")
    assert np.abs(exact.time[rows] - result.time).max() < 1e-9 and not result.findings
    assert result["plant.m.x"] == pytest.approx(exact["plant.x"][rows], abs=1e-10)
    for path, coupled in zip(BY, by, strict=True):
        expected = exact.derivative("plant.x", path)[rows]
        derivative = result.derivative("plant.m.x", coupled)
        assert np.abs(derivative - expected).max() < 1e-8 * max(1.0, np.abs(expected).max()), path
        assert np.abs(expected).max() > 1e-3


def test_a_coupling_of_a_linear_signal_has_the_derivatives_of_one_system() -> None:
    """Inputs that follow lines have no error there."""
    model = cosim.Model("one")
    model.add(Mover(), "mover")
    model.add(Oscillator(), "two")
    model.connect("mover.place", "two.force")
    by = ["mover.speed", "mover.x", "two.k", "two.c", "two.x", "two.v"]
    settings: dict[str, Any] = {"accuracy": 1e-12, "output_interval": STEP, "signals": ["two.x"]}
    exact = cosim.simulate(model.build(), until=3.0, derivatives=by, **settings)
    loop = CoSimulation(
        {"mover": system_of("mover", Mover()), "two": system_of("two", Oscillator())},
        ["mover.m.place -> two.m.force"],
        "waveform_iteration",
        STEP,
        options={"tolerance": 1e-13, "absolute_tolerance": 1e-14},
        tolerance=1e-12,
    )
    result = loop.simulate(3.0, record=["two.m.x"], derivatives=[coupled_name(path) for path in by])
    for path in by:
        expected = exact.derivative("two.x", path)
        derivative = result.derivative("two.m.x", coupled_name(path))
        assert np.abs(derivative - expected).max() < 1e-8, path
        assert np.abs(expected).max() > 1e-2


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "jacobi along parabolas", "gauss_seidel along lines"])
def test_recorded_inputs_have_derivatives(algorithm: str) -> None:
    """A recorded input is the value that was held in the step before a communication point."""
    names = ["one.m.force", "spring.m.one"]
    loop = oscillators(algorithm, {})
    result = loop.simulate(0.3, record=names, derivatives=["one.m.k", "one.m.x"])
    for by in ("one.m.k", "one.m.x"):
        expected = differences_by(lambda starts: oscillators(algorithm, starts), by, STARTS[by], names, 0.3)
        derivatives = np.array([result.derivative(name, by) for name in names])
        assert np.abs(derivatives - expected).max() < 1e-9, by


def test_a_system_that_a_series_drives_has_derivatives_by_its_parameters(tmp_path: Any) -> None:
    """The series itself has the derivative 0."""
    file = tmp_path / "force.csv"
    file.write_text("time,u\n0,0\n0.4,1\n1.0,-1\n")
    loop = CoSimulation(
        {"drive": TimedInputs(file), "one": system_of("one", Oscillator())},
        [{"from": "drive.u", "to": "one.m.force", "convert": False}],
        "jacobi",
        STEP,
        tolerance=1e-12,
    )

    result = loop.simulate(1.0, record=["one.m.x", "one.m.force"], derivatives=["one.m.k"])
    ends = []
    for moved in (-3, -2, -1, 1, 2, 3):
        loop.set_start("one.m.k", 2.0 + 0.02 * moved)
        ends.append(loop.simulate(1.0, record=["one.m.x"], inside="nothing")["one.m.x"])
    weights = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / (60.0 * 0.02)
    expected = sum(w * end for w, end in zip(weights, ends, strict=True))
    assert result.derivative("one.m.x", "one.m.k") == pytest.approx(expected, abs=1e-9)
    assert set(result.derivative("one.m.force", "one.m.k").tolist()) == {0.0}
    assert abs(expected[-1]) > 1e-2


def test_a_bouncing_ball_has_the_derivatives_of_its_closed_form() -> None:
    """The derivatives by restitution and start height at 2 s, after three bounces."""
    loop = CoSimulation({"ball": system_of("ball", Ball())}, [], "jacobi", 0.1, tolerance=1e-12)
    by = ["ball.m.e", "ball.m.height"]
    result = loop.simulate(2.0, record=["ball.m.height"], derivatives=by)
    g, e, h = 9.81, 0.8, 1.0
    fall = np.sqrt(2.0 * h / g)
    speed = np.sqrt(2.0 * g * h)
    # after n bounces: height = s e^n (t - t_n) - g (t - t_n)^2 / 2, t_n = fall (1 + 2 (e + … + e^(n-1)))
    n = 3
    t_n = fall * (1.0 + 2.0 * sum(e**i for i in range(1, n)))
    t_n_by_e = fall * 2.0 * sum(i * e ** (i - 1) for i in range(1, n))
    t_n_by_h = t_n / (2.0 * h)
    since = 2.0 - t_n
    by_e = speed * n * e ** (n - 1) * since - (speed * e**n - g * since) * t_n_by_e
    by_h = speed / (2.0 * h) * e**n * since - (speed * e**n - g * since) * t_n_by_h
    assert len(result.events) == 3
    assert result.derivative("ball.m.height", "ball.m.e")[-1] == pytest.approx(by_e, rel=1e-10)
    assert result.derivative("ball.m.height", "ball.m.height")[-1] == pytest.approx(by_h, rel=1e-10)
