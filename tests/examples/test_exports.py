"""The models of the examples as FMUs: nothing to find in them, and nothing in what they do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import kit
from cosim_fmi.validate.validate_command import check_file, check_run

Install = Callable[[Path], Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "engine_mount"


def exported(install: Install, name: str, folder: Path) -> Path:
    with kit.use_registry(install(EXAMPLE / "plugin").registry):
        path: Path = cosim.Model.from_file(EXAMPLE / f"{name}.toml").export_fmu(
            folder / f"{name}.fmu", native=False
        )
    return path


@pytest.mark.parametrize("name", ["engine_mount", "plant", "controller"])
def test_nothing_is_found_in_the_file(install: Install, name: str, tmp_path: Path) -> None:
    assert list(check_file(exported(install, name, tmp_path))) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["engine_mount", "plant", "controller"])
def test_nothing_is_found_in_what_it_does(install: Install, name: str, tmp_path: Path) -> None:
    assert list(check_run(exported(install, name, tmp_path), timeout=300.0)) == []


def corrected(name: str, folder: Path) -> tuple[cosim.Model, Path]:
    """An example with constraints or quaternions, whose model file is not exact about where it begins."""
    model = cosim.Model.from_file(EXAMPLE.parent / name / f"{name}.toml")
    path: Path = model.export_fmu(folder / f"{name}.fmu", all=True, native=False)
    return model, path


@pytest.mark.parametrize("name", [pytest.param("four_bar", marks=pytest.mark.thorough), "thrown_crate"])
def test_start_values_are_those_that_a_simulation_begins_with(name: str, tmp_path: Path) -> None:
    from fmpy import read_model_description

    model, path = corrected(name, tmp_path)
    assert list(check_file(path)) == []
    system = model.build()
    simulator = cosim.Simulator(system)
    simulator.initialize()
    begun = {}
    for variable in system.variables.values():
        if variable.kind in ("position", "speed"):
            for i, value in enumerate(simulator.state[variable.path]):
                begun[f"{variable.path}[{i + 1}]"] = value
    starts = {v.name: float(v.start) for v in read_model_description(path).modelVariables if v.name in begun}
    assert starts.keys() == begun.keys()
    assert starts == pytest.approx(begun, rel=1e-12, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["four_bar", "thrown_crate"])
def test_nothing_is_found_in_examples_with_corrections(name: str, tmp_path: Path) -> None:
    assert list(check_run(corrected(name, tmp_path)[1], timeout=300.0)) == []
