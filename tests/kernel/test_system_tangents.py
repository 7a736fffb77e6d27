"""How everything that a system computes changes: along its schedule, against closed forms and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim.kit import tangent_of
from cosim_mechanics import Multibody


class Oscillator(cosim.Component):
    """Law: mass speed' = force - stiffness height^3 - damping |speed| speed."""

    mass = cosim.parameter(unit="kg", default=2.0)
    stiffness = cosim.parameter(unit="N/m3", default=8.0)
    damping = cosim.parameter(unit="N.s2/m2", default=0.5)
    force = cosim.input(unit="N")
    height = cosim.position(unit="m", start=0.3)
    speed = cosim.speed(unit="m/s", start=-0.2)
    power = cosim.output(unit="W")

    @cosim.kernel
    def derivatives(s):
        pull = s.force - s.stiffness * s.height * s.height * s.height - s.damping * abs(s.speed) * s.speed
        s.height_dot = s.speed
        s.speed_dot = pull / s.mass
        s.power = pull * s.speed * s.t


class InPython(cosim.Component):
    """Law: value = exp(x) as a method of plain Python."""

    x = cosim.input()
    value = cosim.output()

    @cosim.kernel
    def evaluate(self, x, value):
        value[0] = math.exp(x)


def oscillator() -> tuple[cosim.System, cosim.State]:
    model = cosim.Model("m")
    model.add(Oscillator(), "o")
    system = model.build()
    state = system.default_state()
    state["o.force"] = 1.5
    state.set_time(0.7)
    return system, state.realize(cosim.Stage.REPORT)


@pytest.mark.parametrize(
    ("by", "acceleration", "power"),
    [
        ({"o.height": 1.0}, -24.0 * 0.09 / 2.0, -24.0 * 0.09 * -0.2 * 0.7),
        ({"o.mass": 1.0}, -(1.5 - 8.0 * 0.027 + 0.5 * 0.04) / 4.0, 0.0),
        ({"o.force": 2.0}, 1.0, 2.0 * -0.2 * 0.7),
        ({"o.stiffness": 1.0, "o.force": 0.027}, 0.0, 0.0),
        ({"time": 1.0}, 0.0, (1.5 - 8.0 * 0.027 + 0.5 * 0.04) * -0.2),
        ({}, 0.0, 0.0),
    ],
)
def test_one_part_against_its_closed_form(by, acceleration: float, power: float) -> None:
    system, state = oscillator()
    saved = state.to_bytes()
    moved = system.tangents.moved(state, by)
    found = system.tangents.read(moved, ["o.speed_dot", "o.power", "o.mass"])
    assert found == pytest.approx([acceleration, power, by.get("o.mass", 0.0)], rel=1e-15, abs=1e-16)
    assert state.to_bytes() == saved
    assert not system.tangents.differences


def test_a_kink_is_the_mean_of_both_sides() -> None:
    system, state = oscillator()
    state["o.speed"] = 0.0
    moved = system.tangents.moved(state, {"o.speed": 1.0})
    assert system.tangents.read(moved, ["o.speed_dot"]) == pytest.approx([0.0], abs=0.0)


def engine() -> cosim.System:
    model = Multibody("mount", gravity=(0, 0, -9.81))
    body = model.body("engine", mass=120.0, center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=body)
    rubber = {"stiffness": [2e3] * 3 + [3e3] * 3, "damping": [20.0] * 6}
    model.add("mechanics.linear_bushing", "rubber", body1="ground", body2=body, **rubber)
    return model.build()


@pytest.mark.parametrize("turned", [0.0, 0.2])
def test_a_mount_against_differences_of_sixth_order(turned: float) -> None:
    """Also where it stands still: a branch by == that saves work is not a law."""
    system = engine()
    state = system.default_state()
    y = np.array(state.y) + turned * np.cos(np.arange(system.ny))
    direction = np.sin(1.0 + np.arange(system.ny))
    state.set_y(y)
    state.realize(cosim.Stage.REPORT)
    found = system.tangents.along(state, y=direction)[: system.ny]

    def at(k: int) -> np.ndarray:
        other = state.copy()
        other.set_y(y + 1e-3 * k * direction)
        return np.array(other.realize(cosim.Stage.ACCELERATION).y_dot)

    expected = sum(w * (at(k) - at(-k)) for k, w in ((1, 45.0), (2, -9.0), (3, 1.0))) / 60e-3
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * abs(expected).max())
    assert abs(found[system.nq :]).max() > 1.0
    moved = system.tangents.moved(state, {"engine.mass": 1.0, "rubber.stiffness[3]": 100.0})

    def with_parameters(k: int) -> np.ndarray:
        other = state.copy()
        other["engine.mass"] = 120.0 + 1e-3 * k
        stiffness = np.array(state["rubber.stiffness"])
        stiffness[3] += 0.1 * k
        other["rubber.stiffness"] = stiffness
        return np.array(other.realize(cosim.Stage.ACCELERATION).y_dot)

    pairs = [(w, with_parameters(k), with_parameters(-k)) for k, w in ((1, 45.0), (2, -9.0), (3, 1.0))]
    expected = sum(w * (a - b) for w, a, b in pairs) / 60e-3
    assert moved["c"][: system.ny] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def root_of(c):
    x = 1.0
    for _ in range(40):
        x -= (x * x * x + x - c) / (3.0 * x * x + 1.0)
    return x


@tangent_of(root_of)
def root_of_tangent(c, c_dot):
    x = root_of(c)
    return c_dot / (3.0 * x * x + 1.0)


class Valve(cosim.Component):
    """Law: x^3 + x = pressure, flow = sqrt(x)."""

    pressure = cosim.input(start=10.0)
    flow = cosim.output()

    @cosim.kernel
    def evaluate(pressure, flow):
        flow[0] = math.sqrt(root_of(pressure))


def test_an_authors_tangent_inside_a_system() -> None:
    model = cosim.Model("m")
    model.add(Valve(), "valve")
    system = model.build()
    state = system.default_state().realize(cosim.Stage.REPORT)
    found = system.tangents.read(system.tangents.moved(state, {"valve.pressure": 1.0}), ["valve.flow"])
    assert found == pytest.approx([1.0 / 13.0 / (2.0 * math.sqrt(2.0))], rel=1e-14)


def test_a_part_in_plain_python_is_differentiated_by_differences_alone() -> None:
    model = cosim.Model("m")
    model.add(Valve(), "valve")
    model.add(InPython(), "exponential")
    model.connect("valve.flow", "exponential.x")
    system = model.build()
    state = system.default_state().realize(cosim.Stage.REPORT)
    moved = system.tangents.moved(state, {"valve.pressure": 1.0})
    slope = 1.0 / 13.0 / (2.0 * math.sqrt(2.0))
    found = system.tangents.read(moved, ["valve.flow", "exponential.value"])
    assert found[0] == pytest.approx(slope, rel=1e-14)
    assert found[1] == pytest.approx(math.exp(math.sqrt(2.0)) * slope, rel=1e-9)
    (reason,) = system.tangents.differences.values()
    assert "plain Python" in reason
