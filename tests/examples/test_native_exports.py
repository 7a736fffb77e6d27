"""Native FMUs of the examples, compared with runs in Python."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driven import check_fmus, check_machine_code
from driven_examples import EXAMPLES, NAMES, driven_model
from native_tools import needs_compiler

import cosim
from cosim import kit
from cosim_export.native.platforms import own_platform
from cosim_fmi.validate.validate_command import check_file, check_run

pytestmark = needs_compiler
Install = Callable[[Path], Any]
MODELS = [
    "engine_mount/engine_mount",
    "engine_mount/plant",
    "engine_mount/controller",
    "four_bar/four_bar",
    "thrown_crate/thrown_crate",
]


@pytest.fixture(scope="module", autouse=True)
def plugins(install: Install) -> Iterator[None]:
    """Install the plugins of the examples, also for the processes that this one starts."""
    with contextlib.ExitStack() as registries:
        for project in (EXAMPLES / "engine_mount" / "plugin", EXAMPLES / "third_party_plugin"):
            registries.enter_context(kit.use_registry(install(project).registry))
        yield


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return cosim.Model.from_file(EXAMPLES / f"{request.param}.toml")


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_native_fmus_give_the_bits_of_runs_in_python(name: str, tmp_path: Path) -> None:
    check_fmus(driven_model(name), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("names", [["controller"], pytest.param(NAMES, marks=pytest.mark.thorough)])
def test_all_ways_to_compile_give_the_same_bytes(names: list[str]) -> None:
    """The ways are code of the package, code compiled here and plain Python; the test above adds the FMU."""
    check_machine_code("driven_examples", names)


@pytest.mark.thorough
@pytest.mark.parametrize("fmi", [2, 3])
def test_both_kinds_of_fmu_have_no_faults(model: cosim.Model, fmi: int, tmp_path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    path = model.export_fmu(tmp_path / "native.fmu", native=True, platforms=[own_platform()], fmi=fmi)
    assert validate_fmu(str(path)) == []
    findings = (*check_file(path), *check_run(path, timeout=300.0))
    assert [finding for finding in findings if finding.severity == "error"] == []
    for kind in ("CoSimulation", "ModelExchange"):
        result = simulate_fmu(str(path), fmi_type=kind, stop_time=0.1, output_interval=0.005)
        assert len(result) >= 20, kind
        assert all(np.isfinite(result[name]).all() for name in result.dtype.names), kind
