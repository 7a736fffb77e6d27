"""Native libraries for Linux load on old systems: they need no symbol newer than glibc 2.17."""

from __future__ import annotations

import math
import sys
import zipfile
from pathlib import Path

import pytest
from elf_versions import as_numbers, needed_versions
from export_tools import running
from native_tools import InProcess, export_native, needs_compiler
from transcendental import Transcendental

import cosim

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="libraries of Linux")]
OLDEST = (2, 17)
"""The glibc of RHEL 7."""


def mathematics() -> cosim.Model:
    """A model that calls functions of libm."""
    model = cosim.Model("mathematics")
    model.add(Transcendental, "m")
    return model


def libraries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(".so")}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(mathematics(), tmp_path_factory.mktemp("old") / "mathematics.fmu")


def test_the_reader_finds_versions_of_glibc_in_this_interpreter() -> None:
    versions = needed_versions(Path(sys.executable).resolve().read_bytes())
    assert any(version.startswith("GLIBC_2.") for version in versions.values())


@pytest.mark.thorough
def test_no_symbol_is_newer_than_2_17(path: Path) -> None:
    ((_, data),) = libraries(path).items()
    versions = needed_versions(data)
    assert {"pow", "log", "exp", "fmod", "hypot"} <= set(versions)  # newer versions of each exist
    newest = {name: version for name, version in versions.items() if version and as_numbers(version) > OLDEST}
    assert newest == {}
    assert all(version.startswith("GLIBC_") for version in versions.values() if version)


def test_old_versions_give_the_same_bits(path: Path) -> None:
    in_python = InProcess(mathematics(), "integrators.runge_kutta_merson", 1e-6)
    with running(path) as fmu:
        fmu.start(**{"m.x": 0.5})
        in_python.start(**{"m.x": 0.5})
        for x in (0.5, 1e-3, 3.75, 1.0, 0.0, 700.0, 1e-310, math.pi):
            fmu["m.x"] = in_python["m.x"] = x
            assert fmu.all() == in_python.all(), x


@pytest.mark.thorough
def test_no_symbol_is_newer_than_2_17_for_any_processor(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    platforms = ["linux64", "aarch64-linux"]
    path = Path(mathematics().export_fmu(tmp_path / "m.fmu", native=True, platforms=platforms, all=True))
    data_by_name = libraries(path)
    assert len(data_by_name) == 2
    for name, data in data_by_name.items():
        for version in filter(None, needed_versions(data).values()):
            assert as_numbers(version) <= OLDEST, name
