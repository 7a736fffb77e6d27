"""The forces that the crane example finds bring its load to rest."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "crane" / "crane.py"


def test_the_load_comes_to_rest() -> None:
    pytest.importorskip("scipy")
    module = runpy.run_path(str(EXAMPLE))
    result, runs = module["find_forces"]()
    for path, value in module["WANTED"].items():
        assert result[path][-1] == pytest.approx(value, abs=1e-3)
    assert np.abs(result["crane.force"]).max() < module["LARGEST"]
    assert 10 < runs < 120
    # At the end the trolley and the load are at rest, so the work of the force is zero.
    power = result["crane.force"] * result["crane.v"]
    assert np.trapezoid(power, result.time) == pytest.approx(0.0, abs=2e-3)
