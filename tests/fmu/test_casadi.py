"""Exported FMUs in CasADi: it sets states and parameters in continuous-time mode and asks for derivatives.

Its environment is one of the benchmarks' (``COSIM_PEERS``), as those of the other clients.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import oscillator
from native_tools import export_native, needs_compiler
from test_export_clients import peers

import cosim
from cosim_mechanics import Multibody

EXAMPLES = Path(__file__).parents[2] / "examples"


def in_casadi(path: Path, *words: object) -> Any:
    tools = peers()
    try:
        return tools.run_peer("casadi", "fmu/client_casadi.py", [str(path), *map(str, words)])
    except tools.PeerError as error:
        if "install" in str(error):
            pytest.skip(f"CasADi cannot be installed here: {error}")
        raise


def end(model: cosim.Model, states: list[str], until: float, **values: float) -> list[float]:
    """The states at the end of a run in this process."""
    system = model.build()
    state = system.default_state()
    for name, value in values.items():
        state[name] = value
    simulator = cosim.Simulator(system, state, accuracy=1e-10)
    simulator.initialize()
    simulator.advance_to(until)
    return [float(np.ravel(simulator.state[name])[0]) for name in states]


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("form", [{"fmi": 2}, {"fmi": 3, "scalars": True}], ids=["FMI 2", "FMI 3"])
def test_casadi_has_the_jacobian_and_cvodes_integrates(form: dict[str, Any], tmp_path: Path) -> None:
    path = export_native(oscillator(), tmp_path / "oscillator.fmu", **form)
    found = in_casadi(path, 1.0, "osc.force", 1.5, "osc.mass", 3.0)
    names = found["names"]
    states = ["osc.x", "osc.v", "osc.dissipated_energy"]
    assert names["x"] == states and names["p"][:3] == ["osc.mass", "osc.stiffness", "osc.damping"]
    by_state, by_input, by_parameter = map(np.array, found["jacobians"])
    np.testing.assert_allclose(by_state, [[0, 1, 0], [-25, -0.2, 0], [0, 0, 0]], atol=1e-8)
    np.testing.assert_allclose(by_input[1], [0.5, 0.5, -0.5], atol=1e-8)
    others = [0.0] * (len(names["p"]) - 3)
    np.testing.assert_allclose(by_parameter[1], [1.75 / 2, -0.05, 0.0, *others], atol=1e-8)
    for mass, found_end in zip((2.0, 3.0), found["ends"], strict=True):
        here = end(oscillator(), states, 1.0, **{"osc.force": 1.5, "osc.mass": mass})
        np.testing.assert_allclose(np.ravel(found_end), here, rtol=1e-6, atol=1e-8)


@pytest.mark.thorough
@needs_compiler
def test_casadi_has_derivatives_by_parameters_at_the_edge_of_their_range(tmp_path: Path) -> None:
    """A point mass: no difference by one of its inertias alone is a body, the tangent there is 0."""
    model = cosim.Model.from_file(EXAMPLES / "cruise_control/car.toml")
    path = export_native(model, tmp_path / "car.fmu", exact_derivatives=True, all=False)
    found = in_casadi(path, 10.0, "engine.effort", 500.0, "car.mass", 1500.0)
    names = found["names"]
    assert names["x"][:2] == ["car_joint.position", "car_joint.speed"]
    by_state, by_input, by_parameter = (np.array(block)[1] for block in found["jacobians"])
    mass, damping, force, speed = 1200.0, 20.0, 500.0, 20.0
    np.testing.assert_allclose(by_state, [0, -damping / mass, 0, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(by_input, [1 / mass, 1 / mass], rtol=1e-14)
    expected = dict.fromkeys(names["p"], 0.0)
    expected |= {"car.mass": (damping * speed - force) / mass**2, "drag.damping": -speed / mass}
    expected |= {"drag.stiffness": 0.0, "drag.neutral": 0.0}
    shown = dict(zip(names["p"], by_parameter, strict=True))
    checked = [n for n in expected if not n.startswith("gravity")]
    assert {n for n in checked if n.startswith("car.inertia")} == {f"car.inertia[{i}]" for i in (1, 2, 3)}
    np.testing.assert_allclose([shown[n] for n in checked], [expected[n] for n in checked], rtol=1e-13)
    for m, end_of_run in zip((mass, 1500.0), found["ends"], strict=True):
        v = force / damping + (speed - force / damping) * np.exp(-damping / m * 10.0)
        assert end_of_run[1][0] == pytest.approx(v, rel=1e-8)


def arm(turned: float = 0.0) -> cosim.Model:
    """A driven rod on a pin whose axis is tilted."""
    model = Multibody("arm", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, center_of_mass=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    model.joint("pin", child=rod, name="hinge", frame_on_parent={"angles": [1.2 + turned, 0.4, 0.3]})
    model.add("mechanics.actuator", "drive", coordinate="hinge")
    return model


def acceleration(model: cosim.Model) -> float:
    state = model.build().default_state()
    state["drive.effort"] = 0.5
    state.realize()
    return float(state["hinge.u_dot"][0])


@pytest.mark.thorough
@needs_compiler
def test_casadi_has_derivatives_by_the_angles_of_frames(tmp_path: Path) -> None:
    path = export_native(arm(), tmp_path / "arm.fmu")
    found = in_casadi(path, 0.5, "drive.effort", 0.5, "rod.mass", 3.0)
    by_angle = found["jacobians"][2][1][found["names"]["p"].index("hinge.frame_on_parent.angles[1]")]
    slope = (acceleration(arm(1e-5)) - acceleration(arm(-1e-5))) / 2e-5
    assert abs(slope) > 1.0 and by_angle == pytest.approx(slope, rel=1e-7)
    assert found["rates"][1][0] == acceleration(arm())
    here = end(arm(), ["hinge.angle"], 0.5, **{"drive.effort": 0.5})
    assert found["ends"][0][0][0] == pytest.approx(here[0], rel=1e-6)
