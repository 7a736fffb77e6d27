"""The models of the examples as FMUs: nothing to find in them, and nothing in what they do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim_fmu.validate.check_fmu import check_file, check_run

Install = Callable[[Path], Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "engine_mount"


def exported(install: Install, name: str, folder: Path) -> Path:
    with cosim.use_registry(install(EXAMPLE / "plugin").registry):
        path: Path = cosim.Model.from_file(EXAMPLE / f"{name}.toml").export_fmu(folder / f"{name}.fmu")
    return path


@pytest.mark.parametrize("name", ["engine_mount", "plant", "controller"])
def test_nothing_is_found_in_the_file(install: Install, name: str, tmp_path: Path) -> None:
    assert list(check_file(exported(install, name, tmp_path))) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["engine_mount", "plant", "controller"])
def test_nothing_is_found_in_what_it_does(install: Install, name: str, tmp_path: Path) -> None:
    assert list(check_run(exported(install, name, tmp_path), timeout=300.0)) == []
