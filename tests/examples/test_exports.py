"""FMUs of the examples pass the validation of the file and of the run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import kit
from cosim_fmi.validate.validate_command import check_file, check_run

Install = Callable[[Path], Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "engine_mount"


def export_example(install: Install, name: str, folder: Path) -> Path:
    with kit.use_registry(install(EXAMPLE / "plugin").registry):
        path: Path = cosim.Model.from_file(EXAMPLE / f"{name}.toml").export_fmu(
            folder / f"{name}.fmu", native=False
        )
    return path


def export_with_corrections(name: str, folder: Path) -> tuple[cosim.Model, Path]:
    """Export an example whose start values are corrected at the initialization."""
    model = cosim.Model.from_file(EXAMPLE.parent / name / f"{name}.toml")
    path: Path = model.export_fmu(folder / f"{name}.fmu", all=True, native=False)
    return model, path


@pytest.mark.parametrize("name", ["engine_mount", "plant", "controller"])
def test_files_have_no_faults(install: Install, name: str, tmp_path: Path) -> None:
    assert list(check_file(export_example(install, name, tmp_path))) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["engine_mount", "plant", "controller"])
def test_runs_have_no_faults(install: Install, name: str, tmp_path: Path) -> None:
    assert list(check_run(export_example(install, name, tmp_path), timeout=300.0)) == []


@pytest.mark.parametrize("name", [pytest.param("four_bar", marks=pytest.mark.thorough), "thrown_crate"])
def test_start_values_are_the_corrected_ones(name: str, tmp_path: Path) -> None:
    from fmpy import read_model_description

    model, path = export_with_corrections(name, tmp_path)
    assert list(check_file(path)) == []
    system = model.build()
    simulator = cosim.Simulator(system)
    simulator.initialize()
    expected = {}
    for variable in system.variables.values():
        if variable.kind in ("position", "speed"):
            for i, value in enumerate(simulator.state[variable.path]):
                expected[f"{variable.path}[{i + 1}]"] = value
    listed = read_model_description(path).modelVariables
    starts = {variable.name: float(variable.start) for variable in listed if variable.name in expected}
    assert starts.keys() == expected.keys()
    assert starts == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["four_bar", "thrown_crate"])
def test_runs_with_corrected_start_values_have_no_faults(name: str, tmp_path: Path) -> None:
    assert list(check_run(export_with_corrections(name, tmp_path)[1], timeout=300.0)) == []
