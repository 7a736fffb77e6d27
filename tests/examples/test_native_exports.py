"""The models of the examples as native FMUs: they do what the run in Python does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_fmu.native.platforms import own_platform
from cosim_fmu.validate.check_fmu import check_file, check_run

Install = Callable[[Path], Any]
EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = [
    "engine_mount/engine_mount",
    "engine_mount/plant",
    "engine_mount/controller",
    "four_bar/four_bar",
    "thrown_crate/thrown_crate",
]


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, install: Install) -> Any:
    with kit.use_registry(install(EXAMPLES / "engine_mount" / "plugin").registry):
        yield cosim.Model.from_file(EXAMPLES / f"{request.param}.toml")


@pytest.mark.thorough
def test_machine_code_gives_the_bits_of_the_run_in_python(model: cosim.Model, tmp_path: Path) -> None:
    from fmpy import read_model_description, simulate_fmu

    results = []
    for native in (True, False):
        path = model.export_fmu(tmp_path / f"{native}.fmu", native=native, all=True)
        listed = read_model_description(path).modelVariables
        shown = [v.name for v in listed if v.causality in ("output", "local") and v.type == "Real"]
        results.append(
            simulate_fmu(
                str(path), fmi_type="CoSimulation", stop_time=0.2, output_interval=0.002, output=sorted(shown)
            )
        )
    theirs, ours = results
    assert theirs.dtype.names == ours.dtype.names and len(ours) == 101
    for name in ours.dtype.names:
        assert theirs[name].tobytes() == ours[name].tobytes(), name


@pytest.mark.thorough
@pytest.mark.parametrize("fmi", [2, 3])
def test_nothing_is_found_in_either_kind(model: cosim.Model, fmi: int, tmp_path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    path = model.export_fmu(tmp_path / "native.fmu", native=True, platforms=[own_platform()], fmi=fmi)
    assert validate_fmu(str(path)) == []
    assert [f for f in (*check_file(path), *check_run(path, timeout=300.0)) if f.severity == "error"] == []
    for kind in ("CoSimulation", "ModelExchange"):
        found = simulate_fmu(str(path), fmi_type=kind, stop_time=0.1, output_interval=0.005)
        assert len(found) >= 20 and all(np.isfinite(found[name]).all() for name in found.dtype.names), kind
