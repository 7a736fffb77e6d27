"""A robot is exported as a native FMU with one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosim.cli import main
from cosim_mechanics import Multibody

DATA = Path(__file__).parent.parent / "data" / "robots"


@pytest.mark.thorough
def test_joints_are_inputs_and_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A servo and a motor move the crane in the FMU as in the model, rotors and coupling included."""
    fmpy = pytest.importorskip("fmpy")
    pytest.importorskip("ziglang")
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(DATA / "crane.xml"), "--native"]) == 0
    values = {"slew_motor.effort": 3.0, "luff_motor.target": 0.4, "spin_motor.target_rate": 5.0}
    outputs = ["slew.angle", "luff.angle", "spin.rate", "counter_spin.angle", "telescope.position"]
    fmu_result = fmpy.simulate_fmu(
        "crane.fmu", stop_time=0.5, output_interval=0.05, start_values=values, output=outputs
    )
    model: Any = Multibody.from_mjcf(DATA / "crane.xml")
    for path, value in values.items():
        part, _, name = path.partition(".")
        setattr(model[part], name, value)
    result = model.simulate(until=0.5, output_interval=0.05, signals=outputs, accuracy=1e-9)
    for name in outputs:
        expected = np.ravel(result[name])
        assert np.ptp(expected) > 1e-3
        np.testing.assert_allclose(fmu_result[name], expected[-len(fmu_result[name]) :], rtol=1e-4, atol=1e-4)
