"""Each integrator computes the same in an exported FMU as in a simulator, and is saved and restored."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import Fmu, export, oscillator, running

import cosim

H, STEPS = 0.01, 16
IN_EVERY_RUN = ("integrators.bdf", "integrators.scipy_radau", "integrators.explicit_euler")
INTEGRATORS = [
    pytest.param(entry.id, marks=() if entry.id in IN_EVERY_RUN else pytest.mark.thorough)
    for entry in cosim.registry().entries("integrator")
]


def test_there_are_integrators() -> None:
    assert len(INTEGRATORS) > 5


def options_of(integrator: str) -> dict[str, Any]:
    """A fixed step for an integrator without error control."""
    cls = cosim.registry().get("integrator", integrator)
    return {} if cls.capabilities.adaptive else {"fixed_step": 1e-3}


def rows(fmu: Fmu, first: int, last: int) -> list[list[float]]:
    """The outputs after the steps `first` to `last` - 1, with a force that jumps each four steps."""
    rows = []
    for i in range(first, last):
        fmu["osc.force"] = 2.0 * (i // 4)
        fmu.slave.doStep(i * H, H)
        rows.append([fmu["osc.position"], fmu["felt"], fmu["osc.dissipated_energy"]])
    return rows


@pytest.mark.few(1)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_fmu_with_an_integrator_computes_what_a_simulator_computes(
    integrator: str, tmp_path: Path
) -> None:
    options = options_of(integrator)
    system = oscillator().build()
    try:
        simulator = cosim.Simulator(system, integrator=integrator, accuracy=1e-5, **options)
        simulator.initialize()
    except cosim.CosimError as error:
        pytest.skip(f"not for this system, or not here: {error}")
    path = export(oscillator(), tmp_path / "x.fmu", integrator=integrator, accuracy=1e-5, **options)
    with running(path) as fmu:
        fmu.start()
        outputs = rows(fmu, 0, STEPS // 2)
        saved = fmu.slave.getFMUState()
        outputs += rows(fmu, STEPS // 2, STEPS)
        fmu.slave.setFMUState(saved)
        repeated_outputs = rows(fmu, STEPS // 2, STEPS)
        assert fmu.messages == []
    if simulator.integrator.capabilities.resumes_exactly:
        assert repeated_outputs == outputs[STEPS // 2 :]
    else:
        np.testing.assert_allclose(repeated_outputs, outputs[STEPS // 2 :], rtol=1e-4, atol=1e-7)
    for i in range(STEPS):
        if i % 4 == 0 and i:
            simulator.state["osc.force"] = 2.0 * (i // 4)
        simulator.advance_to(i * H + H, within=1e-9 * H)
        simulator.state.realize(cosim.Stage.REPORT)
        expected = [simulator.state[n] for n in ("osc.position", "felt", "osc.dissipated_energy")]
        np.testing.assert_allclose(outputs[i], expected, rtol=1e-9, err_msg=f"step {i}")


def test_an_fmu_requires_the_packages_that_its_integrator_imports(tmp_path: Path) -> None:
    def required(integrator: str) -> set[str]:
        path = export(oscillator(), tmp_path / "x.fmu", integrator=integrator)
        with zipfile.ZipFile(path) as archive:
            return {row["name"] for row in json.loads(archive.read("resources/manifest.json"))["requires"]}

    assert required("integrators.runge_kutta_merson") == {"numpy", "pluggy"}
    assert required("integrators.scipy_radau") == {"numpy", "pluggy", "scipy"}
