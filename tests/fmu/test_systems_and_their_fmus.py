"""Couplings of two systems, and of the native FMUs exported from them, have the same bytes."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from four_bar import MOTION, UNTIL, add_crank, add_rocker, multibody, whole
from native_tools import export_native, needs_compiler

import cosim
from cosim_fmu import CoSimulation
from cosim_master.participants import system_participant

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from cuts import QUARTER_CAR, TwoMasses  # noqa: E402

pytestmark = [needs_compiler, pytest.mark.thorough]
CUTS = {"two masses": TwoMasses(), "quarter car": QUARTER_CAR}
WIRES = [
    ("left.body.force", "right.body.f"),
    ("right.body.position", "left.body.x_other"),
    ("right.body.speed", "left.body.v_other"),
]


class Chassis(cosim.Component):
    """A mass on a spring and a damper to another one, whose motion is an input."""

    x = cosim.position(unit="m")
    v = cosim.speed(unit="m/s")
    x_other = cosim.input(unit="m")
    v_other = cosim.input(unit="m/s")
    m1 = cosim.parameter(unit="kg", default=1.0)
    k1 = cosim.parameter(unit="N/m", default=0.0)
    c1 = cosim.parameter(unit="N.s/m", default=0.0)
    k = cosim.parameter(unit="N/m", default=1.0)
    c = cosim.parameter(unit="N.s/m", default=0.0)
    force = cosim.output(unit="N")

    @cosim.kernel
    def suspension(x, v, x_other, v_other, k, c, force):
        force[0] = k * (x - x_other) + c * (v - v_other)

    @cosim.kernel
    def derivatives(x, v, m1, k1, c1, force, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -(k1 * x + c1 * v + force) / m1


class Wheel(cosim.Component):
    """A mass on a spring and a damper to the ground; a force pushes it."""

    x = cosim.position(unit="m")
    v = cosim.speed(unit="m/s")
    f = cosim.input(unit="N")
    m2 = cosim.parameter(unit="kg", default=1.0)
    k2 = cosim.parameter(unit="N/m", default=1.0)
    c2 = cosim.parameter(unit="N.s/m", default=0.0)
    position = cosim.output(unit="m")
    speed = cosim.output(unit="m/s")

    @cosim.kernel
    def sensors(x, v, position, speed):
        position[0] = x
        speed[0] = v

    @cosim.kernel
    def derivatives(x, v, f, m2, k2, c2, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = (f - k2 * x - c2 * v) / m2


def chassis_and_wheel() -> dict[str, Any]:
    chassis, wheel = cosim.Model("chassis"), cosim.Model("wheel")
    chassis.add(Chassis, "body")
    wheel.add(Wheel, "body")
    return {"left": chassis, "right": wheel}


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("fmus")
    return {name: export_native(model, folder / f"{name}.fmu") for name, model in chassis_and_wheel().items()}


@pytest.mark.by_turns
@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "interface_newton"])
def test_two_masses_and_a_quarter_car(
    name: str, algorithm: str, fmus: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The quarter car is the two masses with other parameters."""
    monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", 0)
    cut = CUTS[name]
    parameter_values = asdict(cut)
    parameters = {"left": ("m1", "k1", "c1", "k", "c"), "right": ("m2", "k2", "c2")}
    starts = {
        f"{part}.body.{key}": parameter_values[key] for part, keys in parameters.items() for key in keys
    }
    states = ["left.body.x", "left.body.v", "right.body.x", "right.body.v"]
    starts |= dict(zip(states, cut.start, strict=True))
    until = 0.2
    results = [
        CoSimulation(parts, WIRES, algorithm, 1e-3, starts=starts).simulate(until, record=states)
        for parts in (chassis_and_wheel(), fmus)
    ]
    assert [result.statistics["loop"] for result in results] == ["compiled", "compiled"]
    # with interface_newton, inputs of systems change linearly within a step; FMUs get their mean
    if algorithm != "interface_newton":
        for signal in states:
            assert results[0][signal].tobytes() == results[1][signal].tobytes(), signal
    exact = np.array([cut.force_and_motion().exact(time) for time in results[0].time])[:, [0, 2]]
    for result in results:
        positions = np.array([result["left.body.x"], result["right.body.x"]]).T
        error = float(np.max(np.abs(positions - exact)) / np.max(np.abs(exact)))
        assert error < (1e-3 if algorithm == "interface_newton" else 5e-2)


def test_four_bar_linkage(tmp_path: Path) -> None:
    """Without iteration the stiff joint needs short steps: 16,000 of them."""
    linkage, rocker = multibody("linkage"), multibody("rocker")
    add_crank(linkage)
    add_rocker(rocker)
    models = {"linkage": linkage, "rocker": rocker}
    paths = {name: export_native(model, tmp_path / f"{name}.fmu") for name, model in models.items()}
    links = [(f"rocker.rocker_{name}", f"linkage.joint.{name}2") for name in MOTION]
    links += [(f"linkage.joint.f{axis}2", f"rocker.rocker_f{axis}.force") for axis in "xy"]
    names = ["linkage.crank_joint.q[0]", "linkage.coupler_joint.q[0]", "rocker.rocker_joint.q[0]"]
    fmu_names = [name.replace("[0]", "[1]") for name in names]  # FMUs count from 1
    results = [
        CoSimulation(parts, links, "gauss_seidel", 1e-5).simulate(UNTIL, record=record)
        for parts, record in ((models, names), (paths, fmu_names))
    ]
    assert [result.statistics["loop"] for result in results] == ["compiled", "compiled"]
    for name, fmu_name in zip(names, fmu_names, strict=True):
        assert results[0][name].tobytes() == results[1][fmu_name].tobytes(), name
    angles = np.array([results[0][name][-1] for name in names])
    assert np.max(np.abs(angles - whole())) < 1e-3
