"""Couplings without an error have the derivatives of the same model as one system, or of a closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from coupled_oscillators import STEP, Ball, Oscillator, system_of

import cosim
from cosim_fmu import CoSimulation

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


class Ramp(cosim.Component):
    """A force that grows linearly with time: force = start of `force_state` + rate * t."""

    force_state = cosim.auxiliary_state(unit="N", start=0.5)
    rate = cosim.parameter(unit="N/s", default=0.8)
    force = cosim.output(unit="N")

    @cosim.kernel
    def derivatives(rate, force_state_dot):
        force_state_dot[0] = rate

    @cosim.kernel
    def outputs(force_state, force):
        force[0] = force_state


PARAMETERS = ["plant.k", "plant.c", "plant.e", "plant.stop", "plant.x", "plant.v"]
PARAMETERS += ["controller.gain", "controller.rate", "controller.setpoint"]


def coupled_name(path: str) -> str:
    """``plant.k`` as a variable of the participant ``plant``, whose part is ``m``."""
    name, _, variable = path.partition(".")
    return f"{name}.m.{variable}"


def test_a_coupling_with_a_sampled_controller_has_the_derivatives_of_one_system() -> None:
    """Both hold the force between samples. The run has at least two bounces."""
    model = cosim.Model("one")
    model.add(Plant(), "plant")
    model.add(Controller(), "controller")
    model.connect("controller.force", "plant.u")
    model.connect("plant.place", "controller.seen")
    settings: dict[str, Any] = {"accuracy": 1e-12, "output_interval": PERIOD, "signals": ["plant.x"]}
    exact = cosim.simulate(model.build(), until=4.0, derivatives=PARAMETERS, **settings)
    assert sum(event.witness == "plant.reaches" for event in exact.events) >= 2
    loop = CoSimulation(
        {"controller": system_of("controller", Controller()), "plant": system_of("plant", Plant())},
        ["controller.m.force -> plant.m.u", "plant.m.place -> controller.m.seen"],
        "gauss_seidel",
        PERIOD,
        tolerance=1e-12,
    )
    parameters = [coupled_name(path) for path in PARAMETERS]
    result = loop.simulate(4.0, record=["plant.m.x"], derivatives=parameters)
    # the first row at each communication point; events add rows
    rows = np.searchsorted(exact.time, result.time - 1e-9, side="left")
    assert np.abs(exact.time[rows] - result.time).max() < 1e-9 and not result.findings
    assert result["plant.m.x"] == pytest.approx(exact["plant.x"][rows], abs=1e-10)
    for path, coupled in zip(PARAMETERS, parameters, strict=True):
        expected = exact.derivative("plant.x", path)[rows]
        derivative = result.derivative("plant.m.x", coupled)
        assert np.abs(derivative - expected).max() < 1e-8 * max(1.0, np.abs(expected).max()), path
        assert np.abs(expected).max() > 1e-3  # not trivially zero


def test_a_coupling_of_a_linear_signal_has_the_derivatives_of_one_system() -> None:
    """Linear interpolation of a linear signal is exact."""
    model = cosim.Model("one")
    model.add(Ramp(), "ramp")
    model.add(Oscillator(), "two")
    model.connect("ramp.force", "two.force")
    parameters = ["ramp.rate", "ramp.force_state", "two.k", "two.c", "two.x", "two.v"]
    settings: dict[str, Any] = {"accuracy": 1e-12, "output_interval": STEP, "signals": ["two.x"]}
    exact = cosim.simulate(model.build(), until=3.0, derivatives=parameters, **settings)
    loop = CoSimulation(
        {"ramp": system_of("ramp", Ramp()), "two": system_of("two", Oscillator())},
        ["ramp.m.force -> two.m.force"],
        "waveform_iteration",
        STEP,
        options={"tolerance": 1e-13, "absolute_tolerance": 1e-14},
        tolerance=1e-12,
    )
    result = loop.simulate(3.0, record=["two.m.x"], derivatives=[coupled_name(path) for path in parameters])
    for path in parameters:
        expected = exact.derivative("two.x", path)
        derivative = result.derivative("two.m.x", coupled_name(path))
        assert np.abs(derivative - expected).max() < 1e-8, path
        assert np.abs(expected).max() > 1e-2  # not trivially zero


def ball_derivatives(e: float, h: float, time: float, bounces: int) -> tuple[float, float]:
    """The derivatives of the height of a ball at `time` by its restitution e and its start height h.

    After n bounces: height = s e^n (t - t_n) - g (t - t_n)^2 / 2 with the speed s of the first impact and the
    time of the last one, t_n = fall (1 + 2 (e + ... + e^(n-1))).
    """
    g, n = 9.81, bounces
    fall = np.sqrt(2.0 * h / g)
    speed = np.sqrt(2.0 * g * h)
    t_n = fall * (1.0 + 2.0 * sum(e**i for i in range(1, n)))
    t_n_by_e = fall * 2.0 * sum(i * e ** (i - 1) for i in range(1, n))
    t_n_by_h = t_n / (2.0 * h)
    since = time - t_n
    by_e = speed * n * e ** (n - 1) * since - (speed * e**n - g * since) * t_n_by_e
    by_h = speed / (2.0 * h) * e**n * since - (speed * e**n - g * since) * t_n_by_h
    return by_e, by_h


def test_a_bouncing_ball_has_the_derivatives_of_its_closed_form() -> None:
    """The derivatives by restitution and start height at 2 s, after three bounces."""
    loop = CoSimulation({"ball": system_of("ball", Ball())}, [], "jacobi", 0.1, tolerance=1e-12)
    result = loop.simulate(2.0, record=["ball.m.height"], derivatives=["ball.m.e", "ball.m.height"])
    assert len(result.events) == 3
    by_e, by_h = ball_derivatives(e=0.8, h=1.0, time=2.0, bounces=3)
    assert result.derivative("ball.m.height", "ball.m.e")[-1] == pytest.approx(by_e, rel=1e-10)
    assert result.derivative("ball.m.height", "ball.m.height")[-1] == pytest.approx(by_h, rel=1e-10)
