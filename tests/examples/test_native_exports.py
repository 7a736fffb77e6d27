"""The models of the examples as native FMUs: they do what the run in Python does."""

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
    """Those of the examples are installed, here and for the processes that this one starts."""
    with contextlib.ExitStack() as used:
        for project in (EXAMPLES / "engine_mount" / "plugin", EXAMPLES / "third_party_plugin"):
            used.enter_context(kit.use_registry(install(project).registry))
        yield


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return cosim.Model.from_file(EXAMPLES / f"{request.param}.toml")


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_gives_the_bits_of_the_run_in_python(name: str, tmp_path: Path) -> None:
    check_fmus(driven_model(name), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("names", [["controller"], pytest.param(NAMES, marks=pytest.mark.thorough)])
def test_examples_give_the_same_bytes_however_they_are_compiled(names: list[str]) -> None:
    """With the test above: code that came with the package, code made here, plain Python, native FMU."""
    check_machine_code("driven_examples", names)


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
