"""Tangents of all that a system computes, along its schedule: against closed forms and differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tangent_parts import InPython, Valve, engine, oscillator

import cosim

SIXTH_ORDER = ((1, 45.0), (2, -9.0), (3, 1.0))
"""Offsets and weights of a central difference of sixth order, which is divided by 60 steps."""


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
    tangent = system.tangents.read(moved, ["o.speed_dot", "o.power", "o.mass"])
    assert tangent == pytest.approx([acceleration, power, by.get("o.mass", 0.0)], rel=1e-15, abs=1e-16)
    assert state.to_bytes() == saved
    assert not system.tangents.differences


def test_a_kink_is_the_mean_of_both_sides() -> None:
    system, state = oscillator()
    state["o.speed"] = 0.0
    moved = system.tangents.moved(state, {"o.speed": 1.0})
    assert system.tangents.read(moved, ["o.speed_dot"]) == pytest.approx([0.0], abs=0.0)


def turned_engine(angle: float) -> cosim.State:
    """A State of an engine whose coordinates and speeds are moved away from zero by `angle`."""
    system = engine()
    state = system.default_state()
    state.set_y(np.array(state.y) + angle * np.cos(np.arange(system.ny)))
    return state.realize(cosim.Stage.REPORT)


@pytest.mark.parametrize("angle", [0.0, 0.2])
def test_a_mount_by_its_states_against_differences_of_sixth_order(angle: float) -> None:
    """Also where it stands still: a branch by == that saves work is not a law."""
    state, step = turned_engine(angle), 1e-3
    system, y = state.system, np.array(state.y)
    direction = np.sin(1.0 + np.arange(system.ny))

    def rates(k: int) -> np.ndarray:
        moved = state.copy()
        moved.set_y(y + step * k * direction)
        return np.array(moved.realize(cosim.Stage.ACCELERATION).y_dot)

    tangent = system.tangents.along(state, y=direction)[: system.ny]
    expected = sum(weight * (rates(k) - rates(-k)) for k, weight in SIXTH_ORDER) / (60 * step)
    assert tangent == pytest.approx(expected, rel=1e-9, abs=1e-9 * abs(expected).max())
    assert abs(tangent[system.nq :]).max() > 1.0


@pytest.mark.parametrize("angle", [0.0, 0.2])
def test_a_mount_by_its_parameters_against_differences_of_sixth_order(angle: float) -> None:
    state, step = turned_engine(angle), 1e-3
    system, stiffness = state.system, np.array(state["rubber.stiffness"])

    def rates(k: int) -> np.ndarray:
        moved = state.copy()
        moved["engine.mass"] = 120.0 + step * k
        moved["rubber.stiffness"] = stiffness + 100.0 * step * k * (np.arange(6) == 3)
        return np.array(moved.realize(cosim.Stage.ACCELERATION).y_dot)

    tangent = system.tangents.moved(state, {"engine.mass": 1.0, "rubber.stiffness[3]": 100.0})
    expected = sum(weight * (rates(k) - rates(-k)) for k, weight in SIXTH_ORDER) / (60 * step)
    assert tangent["c"][: system.ny] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_an_authors_tangent_inside_a_system() -> None:
    model = cosim.Model("m")
    model.add(Valve(), "valve")
    system = model.build()
    state = system.default_state().realize(cosim.Stage.REPORT)
    tangent = system.tangents.read(system.tangents.moved(state, {"valve.pressure": 1.0}), ["valve.flow"])
    assert tangent == pytest.approx([1.0 / 13.0 / (2.0 * math.sqrt(2.0))], rel=1e-14)


def test_only_a_part_in_plain_python_is_differentiated_by_differences() -> None:
    model = cosim.Model("m")
    model.add(Valve(), "valve")
    model.add(InPython(), "exponential")
    model.connect("valve.flow", "exponential.x")
    system = model.build()
    state = system.default_state().realize(cosim.Stage.REPORT)
    moved = system.tangents.moved(state, {"valve.pressure": 1.0})
    slope = 1.0 / 13.0 / (2.0 * math.sqrt(2.0))
    tangent = system.tangents.read(moved, ["valve.flow", "exponential.value"])
    assert tangent[0] == pytest.approx(slope, rel=1e-14)
    assert tangent[1] == pytest.approx(math.exp(math.sqrt(2.0)) * slope, rel=1e-9)
    (reason,) = system.tangents.differences.values()
    assert "plain Python" in reason
