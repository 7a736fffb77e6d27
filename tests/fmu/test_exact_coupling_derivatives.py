"""Couplings that make no error: their derivatives are those of one system; algorithms of an author."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from coupled_oscillators import STARTS, STEP, Ball, Oscillator, oscillators, system_of

import cosim
from cosim.kit import Exchange
from cosim_fmu import CoSimulation, TimedInputs
from cosim_master.derivatives.linear_fixed_point import linear_fixed_point

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
    """Every 0.05 s: u = -gain error - integral, where the integral adds up rate error."""

    gain = cosim.parameter(default=3.0)
    rate = cosim.parameter(default=0.2)
    wanted = cosim.parameter(default=0.3)
    seen = cosim.input()
    u = cosim.discrete()
    integral = cosim.discrete()
    force = cosim.output()

    @cosim.every(PERIOD, does="discrete")
    @cosim.kernel
    def sample(gain, rate, wanted, seen, integral, integral_next, u_next):
        error = seen - wanted
        integral_next[0] = integral + rate * error
        u_next[0] = -gain * error - integral

    @cosim.kernel
    def outputs(u, force):
        force[0] = u


BY = ["plant.k", "plant.c", "plant.e", "plant.stop", "plant.x", "plant.v"]
BY += ["controller.gain", "controller.rate", "controller.wanted"]


def coupled_name(path: str) -> str:
    """``plant.k`` as a variable of the participant ``plant``, whose part is ``m``."""
    name, _, variable = path.partition(".")
    return f"{name}.m.{variable}"


def test_a_sampled_controller_is_coupled_exactly() -> None:
    """Inputs that are held between samples are what the one system has, too: all parameters, two bounces."""
    one = cosim.Model("one")
    one.add(Plant(), "plant")
    one.add(Controller(), "controller")
    one.connect("controller.force", "plant.u")
    one.connect("plant.place", "controller.seen")
    settings: dict[str, Any] = {"accuracy": 1e-12, "output_interval": PERIOD, "signals": ["plant.x"]}
    exact = cosim.simulate(one.build(), until=4.0, derivatives=BY, **settings)
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
    at = np.searchsorted(exact.time, result.time - 1e-9, side="left")
    assert np.abs(exact.time[at] - result.time).max() < 1e-9 and not result.findings
    assert result["plant.m.x"] == pytest.approx(exact["plant.x"][at], abs=1e-10)
    for path, coupled in zip(BY, by, strict=True):
        wanted = exact.derivative("plant.x", path)[at]
        found = result.derivative("plant.m.x", coupled)
        assert np.abs(found - wanted).max() < 1e-8 * max(1.0, np.abs(wanted).max()), path
        assert np.abs(wanted).max() > 1e-3


class Mover(cosim.Component):
    """Moves at a constant speed."""

    x = cosim.position(unit="m", start=0.5)
    speed = cosim.parameter(unit="m/s", default=0.8)
    place = cosim.output(unit="N")

    @cosim.kernel
    def derivatives(speed, x_dot):
        x_dot[0] = speed

    @cosim.kernel
    def outputs(x, place):
        place[0] = x


def test_lines_through_a_line_are_coupled_exactly() -> None:
    """An output that is a line is continued, and iterated, without an error."""
    one = cosim.Model("one")
    one.add(Mover(), "mover")
    one.add(Oscillator(), "two")
    one.connect("mover.place", "two.force")
    by = ["mover.speed", "mover.x", "two.k", "two.c", "two.x", "two.v"]
    settings: dict[str, Any] = {"accuracy": 1e-12, "output_interval": STEP, "signals": ["two.x"]}
    exact = cosim.simulate(one.build(), until=3.0, derivatives=by, **settings)
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
        wanted = exact.derivative("two.x", path)
        found = result.derivative("two.m.x", coupled_name(path))
        assert np.abs(found - wanted).max() < 1e-8, path
        assert np.abs(wanted).max() > 1e-2


class Backward(cosim.MasterAlgorithm):
    """Gauss–Seidel in the opposite order, with steps in two halves where asked to.

    The participants step one after the other, the last one first.
    """

    exchanges_within_step = True

    def __init__(self, halves: bool = False) -> None:
        self.halves = halves

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        for begin in (0.0, 0.5) if self.halves else (0.0,):
            length = 0.5 * size if self.halves else size
            for name in reversed(exchange.order):
                exchange.set_inputs(name)
                exchange.advance(name, time + begin * size, length)
                exchange.read_outputs(name)


class Corrected(cosim.MasterAlgorithm):
    """Steps all, goes back, and steps all again with what the others reached.

    Each participant sees the values at the end of the step.
    """

    restores = True

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        token = exchange.save()
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)
        ends = exchange.interface()
        exchange.restore(token)
        exchange.put(exchange.interface())  # nothing new
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)
        assert ends.shape == exchange.interface().shape


def of_author(algorithm: Any, starts: Mapping[str, float], **options: Any) -> CoSimulation:
    systems = {name: system_of(name, Oscillator()) for name in ("one", "two")}
    return CoSimulation(
        systems,
        [
            {"from": "one.m.x", "to": "two.m.force", "factor": 0.7, "convert": False},
            {"from": "two.m.speed", "to": "one.m.force", "factor": 0.4, "convert": False},
        ],
        algorithm,
        STEP,
        tolerance=1e-12,
        starts={**STARTS, **starts},
        options=options,
    )


def sixth_order(make: Any, by: str, start: float, names: Sequence[str], until: float) -> Any:
    step = 2e-2 * start

    def values(moved: float) -> Any:
        result = make({by: start + moved}).simulate(until, inside="nothing", record=names)
        return np.array([result[name] for name in names])

    weights = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
    return sum(w * (values(i * step) - values(-i * step)) for i, w in weights.items()) / step


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("algorithm", "options"), [(Backward, {}), (Backward, {"halves": True}), (Corrected, {})]
)
def test_algorithms_of_an_author(algorithm: Any, options: dict[str, Any]) -> None:
    """Outputs, and recorded inputs, by all starts; saved and resumed they are the same bytes."""
    names = ["one.m.x", "two.m.v", "two.m.force"]

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return of_author(algorithm, starts, **options)

    saved: list[bytes] = []
    loop = make({})

    def observe(time: float, values: object) -> None:
        if time > 0.45 and not saved:
            saved.append(loop.save())

    result = loop.simulate(0.6, record=names, derivatives=list(STARTS), observe=observe)
    for by, start in STARTS.items():
        wanted = sixth_order(make, by, start, names, 0.6)
        found = np.array([result.derivative(name, by) for name in names])
        assert np.abs(found - wanted).max() < 1e-9, by
        assert np.abs(found[:, -1]).min() > 1e-6
    other = make({})
    other.restore(saved[0])
    rest = other.simulate(0.6, record=names, derivatives=list(STARTS))
    for name in names:
        for by in STARTS:
            assert rest.derivative(name, by).tobytes() == result.derivative(name, by).tobytes()


class Halved(cosim.MasterAlgorithm):
    """Gives each participant half of what it should.

    That is a number of its own.
    """

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        exchange.put(0.5 * exchange.interface())
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)


def test_values_of_an_algorithm_s_own_are_refused() -> None:
    assert len(of_author(Halved, {}).simulate(STEP)) == 2
    with pytest.raises(cosim.ModelError, match="values of its own"):
        of_author(Halved, {}).simulate(STEP, derivatives=["one.m.k"])


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "jacobi along parabolas", "gauss_seidel along lines"])
def test_recorded_inputs_have_derivatives(algorithm: str) -> None:
    """As they were held in the step that ends at a communication point."""
    names = ["one.m.force", "spring.m.one"]
    loop = oscillators(algorithm, {})
    result = loop.simulate(0.3, record=names, derivatives=["one.m.k", "one.m.x"])
    for by in ("one.m.k", "one.m.x"):
        wanted = sixth_order(lambda starts: oscillators(algorithm, starts), by, STARTS[by], names, 0.3)
        found = np.array([result.derivative(name, by) for name in names])
        assert np.abs(found - wanted).max() < 1e-9, by


def test_values_over_time_of_a_file(tmp_path: Any) -> None:
    """They do not vary: what they drive varies with its own parameters, as if they were sources in it."""
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
    wanted = sum(w * end for w, end in zip(weights, ends, strict=True))
    assert result.derivative("one.m.x", "one.m.k") == pytest.approx(wanted, abs=1e-9)
    assert set(result.derivative("one.m.force", "one.m.k").tolist()) == {0.0}
    assert abs(wanted[-1]) > 1e-2


def test_a_ball_by_all_of_its_parameters_to_the_end() -> None:
    """Alone in a co-simulation it is its own run: three bounces, e and h0, to 2 s, in closed form."""
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


@pytest.mark.parametrize(("directions", "m"), [(1, 0), (1, 1), (1, 3), (2, 3), (3, 3), (5, 2)])
def test_a_linear_fixed_point_is_its_own_response(directions: int, m: int) -> None:
    """Unit vectors are passed in groups of as many as there are directions, the last group with fewer."""
    draw = np.random.default_rng(m + 10 * directions)
    a, b = 0.3 * draw.standard_normal((m, m)), draw.standard_normal((directions, m))
    found = linear_fixed_point(lambda x: x @ a.T + b, directions, m)
    assert found.shape == (directions, m)
    np.testing.assert_allclose(found, found @ a.T + b, rtol=1e-12, atol=1e-13)


def test_a_fixed_point_that_is_not_unique_is_not_a_number() -> None:
    found = linear_fixed_point(lambda x: x + 1.0, 2, 2)
    assert np.isnan(found).all()
