"""The thrown crate comes to rest and its energies balance."""

from pathlib import Path

import numpy as np

import cosim

FILE = Path(__file__).parents[2] / "examples" / "thrown_crate" / "thrown_crate.toml"


def test_the_crate_comes_to_rest_and_the_energies_balance() -> None:
    model = cosim.Model.from_file(FILE)
    signals = ["crate.*", "sledge_joint.position", "*_energy", "energy.*"]
    result = model.simulate(until=2.0, accuracy=1e-8, signals=signals)
    assert np.abs(result["energy.residual"]).max() < 1e-5
    assert abs(result["crate.vz"][-1]) < 0.05
    assert abs(result["sledge_joint.position"]).max() < 0.32
    dissipating = {
        name for name in result.names if name.endswith("dissipated_energy") and result[name][-1] > 0.01
    }
    assert "rail_friction.dissipated_energy" in dissipating
    assert sum("corner" in name for name in dissipating) == 4
