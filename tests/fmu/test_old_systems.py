"""Native libraries for Linux load on old systems: they ask for no symbol newer than glibc 2.17."""

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
OLDEST = (2, 17)  # of RHEL 7 and of all that came after


def model() -> cosim.Model:
    made = cosim.Model("mathematics")
    made.add(Transcendental, "m")
    return made


def libraries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(".so")}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(model(), tmp_path_factory.mktemp("old") / "mathematics.fmu")


def test_the_reader_sees_what_this_interpreter_asks_for() -> None:
    found = needed_versions(Path(sys.executable).resolve().read_bytes())
    assert any(version.startswith("GLIBC_2.") for version in found.values())


@pytest.mark.thorough
def test_no_symbol_is_newer_than_2_17(path: Path) -> None:
    ((_, data),) = libraries(path).items()
    versions = needed_versions(data)
    assert {"pow", "log", "exp", "fmod", "hypot"} <= set(versions)  # newer versions of each exist
    newest = {name: version for name, version in versions.items() if version and as_numbers(version) > OLDEST}
    assert newest == {}
    assert all(version.startswith("GLIBC_") for version in versions.values() if version)


def test_old_versions_give_the_same_bits(path: Path) -> None:
    here = InProcess(model(), "integrators.runge_kutta_merson", 1e-6)
    with running(path) as fmu:
        fmu.start(**{"m.x": 0.5})
        here.start(**{"m.x": 0.5})
        for x in (0.5, 1e-3, 3.75, 1.0, 0.0, 700.0, 1e-310, math.pi):
            fmu["m.x"] = here["m.x"] = x
            assert fmu.all() == here.all(), x


@pytest.mark.thorough
def test_of_other_processors_too(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    platforms = ["linux64", "aarch64-linux"]
    path = Path(model().export_fmu(tmp_path / "m.fmu", native=True, platforms=platforms, all=True))
    found = libraries(path)
    assert len(found) == 2
    for name, data in found.items():
        for version in filter(None, needed_versions(data).values()):
            assert as_numbers(version) <= OLDEST, name
