"""CasADi differentiates and integrates exported FMUs for Model Exchange.

It sets states and parameters in continuous-time mode and calls for derivatives. It runs in an environment of
the benchmarks (``COSIM_PEERS``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmark_peers import peers
from export_tools import oscillator
from native_tools import export_native, needs_compiler

import cosim
from cosim_mechanics import Multibody

EXAMPLES = Path(__file__).parents[2] / "examples"


def arm(turned: float = 0.0) -> cosim.Model:
    """A driven rod on a pin whose axis is tilted; `turned` adds to the first angle of its frame."""
    model = Multibody("arm", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, center_of_mass=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    model.joint("pin", child=rod, name="hinge", frame_on_parent={"angles": [1.2 + turned, 0.4, 0.3]})
    model.add("mechanics.actuator", "drive", coordinate="hinge")
    return model


def acceleration(model: cosim.Model) -> float:
    """The angular acceleration of an arm at its start with an effort of 0.5 N m."""
    state = model.build().default_state()
    state["drive.effort"] = 0.5
    state.realize()
    return float(state["hinge.u_dot"][0])


def run_casadi(path: Path, *arguments: object) -> Any:
    """The answer of ``benchmarks/fmu/client_casadi.py`` to an FMU.

    Its arguments are the end time, an input and its value, a parameter and its second value.
    """
    tools = peers()
    try:
        return tools.run_peer("casadi", "fmu/client_casadi.py", [str(path), *map(str, arguments)])
    except tools.PeerError as error:
        if "install" in str(error):
            pytest.skip(f"CasADi cannot be installed here: {error}")
        raise


def states_at_end(model: cosim.Model, states: list[str], until: float, **values: float) -> list[float]:
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
    answer = run_casadi(path, 1.0, "osc.force", 1.5, "osc.mass", 3.0)
    names = answer["names"]
    states = ["osc.x", "osc.v", "osc.dissipated_energy"]
    assert names["x"] == states and names["p"][:3] == ["osc.mass", "osc.stiffness", "osc.damping"]
    by_state, by_input, by_parameter = map(np.array, answer["jacobians"])
    # v' = (force + wind[0] - wind[1] - 50 x - 0.4 v) / 2; at x = 0.1 and a force of 1.5 N, v' = -1.75 m/s2
    np.testing.assert_allclose(by_state, [[0, 1, 0], [-25, -0.2, 0], [0, 0, 0]], atol=1e-8)
    np.testing.assert_allclose(by_input[1], [0.5, 0.5, -0.5], atol=1e-8)
    zeros = [0.0] * (len(names["p"]) - 3)
    np.testing.assert_allclose(by_parameter[1], [1.75 / 2, -0.05, 0.0, *zeros], atol=1e-8)
    for mass, end in zip((2.0, 3.0), answer["ends"], strict=True):
        expected = states_at_end(oscillator(), states, 1.0, **{"osc.force": 1.5, "osc.mass": mass})
        np.testing.assert_allclose(np.ravel(end), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.thorough
@needs_compiler
def test_casadi_has_derivatives_by_parameters_at_the_edge_of_their_range(tmp_path: Path) -> None:
    """The car is a point mass: a body cannot have one inertia alone, so differences by it do not exist."""
    model = cosim.Model.from_file(EXAMPLES / "cruise_control/car.toml")
    path = export_native(model, tmp_path / "car.fmu", exact_derivatives=True, all=False)
    answer = run_casadi(path, 10.0, "engine.effort", 500.0, "car.mass", 1500.0)
    names = answer["names"]
    assert names["x"][:2] == ["car_joint.position", "car_joint.speed"]
    by_state, by_input, by_parameter = (np.array(block)[1] for block in answer["jacobians"])
    mass, damping, force, speed = 1200.0, 20.0, 500.0, 20.0
    np.testing.assert_allclose(by_state, [0, -damping / mass, 0, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(by_input, [1 / mass, 1 / mass], rtol=1e-14)
    expected = dict.fromkeys(names["p"], 0.0)
    expected |= {"car.mass": (damping * speed - force) / mass**2, "drag.damping": -speed / mass}
    expected |= {"drag.stiffness": 0.0, "drag.neutral": 0.0}
    derivatives = dict(zip(names["p"], by_parameter, strict=True))
    parameters = [n for n in expected if not n.startswith("gravity")]
    assert {n for n in parameters if n.startswith("car.inertia")} == {f"car.inertia[{i}]" for i in (1, 2, 3)}
    np.testing.assert_allclose(
        [derivatives[n] for n in parameters], [expected[n] for n in parameters], rtol=1e-13
    )
    for final_mass, end_of_run in zip((mass, 1500.0), answer["ends"], strict=True):
        final_speed = force / damping + (speed - force / damping) * np.exp(-damping / final_mass * 10.0)
        assert end_of_run[1][0] == pytest.approx(final_speed, rel=1e-8)


@pytest.mark.thorough
@needs_compiler
def test_casadi_has_derivatives_by_the_angles_of_frames(tmp_path: Path) -> None:
    path = export_native(arm(), tmp_path / "arm.fmu")
    answer = run_casadi(path, 0.5, "drive.effort", 0.5, "rod.mass", 3.0)
    by_angle = answer["jacobians"][2][1][answer["names"]["p"].index("hinge.frame_on_parent.angles[1]")]
    slope = (acceleration(arm(1e-5)) - acceleration(arm(-1e-5))) / 2e-5
    assert abs(slope) > 1.0 and by_angle == pytest.approx(slope, rel=1e-7)
    assert answer["rates"][1][0] == acceleration(arm())
    expected = states_at_end(arm(), ["hinge.angle"], 0.5, **{"drive.effort": 0.5})
    assert answer["ends"][0][0][0] == pytest.approx(expected[0], rel=1e-6)
