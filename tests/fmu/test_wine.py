"""FMUs for Windows on Linux: they give the same values under wine, or an error says what is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from fmi1_fmu import make_fmi1
from same_results import assert_same
from serving import Server

import cosim
from cosim_fmi.wine import programs
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.participants.create_participants import open_fmu

MakeFmu = Callable[..., Path]
Compiled = Callable[..., Path]
SOURCES = Path(__file__).with_name("c")
LINKS = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
STARTS = {"b.kc": 3.0, "b.m": 2.0}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="wine runs on Linux")


def why_skipped() -> str:
    """Why FMUs for Windows cannot be built and run on this machine; "" if they can."""
    if importlib.util.find_spec("ziglang") is None:
        return "zig, which compiles libraries for Windows, is not installed"
    try:
        programs.wine_program()
    except programs.NoWineError as error:
        return str(error)
    return ""


REASON = why_skipped()
under_wine = [pytest.mark.thorough, pytest.mark.skipif(bool(REASON), reason=REASON)]


def add_windows_library(fmu: Path, kind: str, platform: str = "win64") -> Path:
    """Add a library for Windows to an FMU that has one for Linux."""
    library = fmu.with_name(f"{kind}.dll")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", "-s", "-O2"]
    command += ["-std=c11", "-fPIC", "-ffp-contract=off", str(SOURCES / f"{kind}.c"), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(fmu, "a") as archive:
        archive.write(library, f"binaries/{platform}/{kind}.dll")
    return fmu


def without_linux(fmu: Path) -> Path:
    """A copy of an FMU without its library for Linux."""
    copy = fmu.with_name("windows.fmu")
    with zipfile.ZipFile(fmu) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            if not name.endswith(".so"):
                target.writestr(name, source.read(name))
    return copy


def with_dummy_windows_library(fmu: Path) -> Path:
    """A copy of an FMU whose only library is for Windows, and cannot be loaded."""
    copy = without_linux(fmu)
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr(f"binaries/win64/{fmu.stem}.dll", b"MZ")
    return copy


def two_masses(a: Any, b: Any, algorithm: str = "jacobi") -> CoSimulation:
    return CoSimulation({"a": a, "b": b}, LINKS, algorithm, 0.1, starts=STARTS)


def test_the_message_about_a_missing_library_says_that_wine_runs_it(make_fmu: MakeFmu) -> None:
    fmu = with_dummy_windows_library(make_fmu("gain"))
    with pytest.raises(cosim.FmuError, match=r"runs here where wine is installed: wine = true\.$"):
        open_fmu(fmu).describe()


def test_without_wine_the_error_says_what_to_install(
    make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    message = r"needs wine, which is not installed here: install it: apt install wine \(Debian, Ubuntu\)"
    with pytest.raises(cosim.FmuError, match=message):
        open_fmu(with_dummy_windows_library(make_fmu("gain")), wine=True).describe()


def test_other_machines_and_fmi_1_are_refused(
    tmp_path: Path, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = with_dummy_windows_library(make_fmi1(tmp_path, compiled))
    with pytest.raises(cosim.FmuError, match=r"FMI 1\.0 cannot run under wine: 2\.0 and 3\.0 can$"):
        open_fmu(fmu, wine=True).describe()
    monkeypatch.setattr(programs.platform, "machine", lambda: "aarch64")
    with pytest.raises(programs.NoWineError, match="=.*Linux.*x86-64"):
        programs.wine_program()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('fmu = "gain.fmu"\nwine = 1', "participants.g.wine: is 1, needs true or false"),
        ('series = "gain.csv"\nwine = true', "participants.g.wine: is for FMUs"),
    ],
)
def test_wrong_values_of_wine_in_a_scenario(make_fmu: MakeFmu, line: str, message: str) -> None:
    folder = make_fmu("gain").parent
    (folder / "s.toml").write_text(
        f'format = "cosim-scenario/1"\n[master]\nstep = 0.1\n[participants.g]\n{line}\n'
    )
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation.from_file(folder / "s.toml")
    assert message in str(caught.value)


@pytest.mark.parametrize("algorithm", [pytest.param(n, marks=under_wine) for n in ("jacobi", "adaptive")])
def test_the_same_bytes_as_on_linux(make_fmu: MakeFmu, algorithm: str) -> None:
    """One FMU in this process, one in a process of its own; `adaptive` saves and restores their states."""
    fmu = add_windows_library(make_fmu("mass"), "mass")
    on_linux = two_masses(fmu, fmu, algorithm).simulate(2.0)
    participants = open_fmu(fmu, "a", wine=True), ProcessParticipant(open_fmu, fmu, "b", wine=True)
    assert_same(on_linux, two_masses(*participants, algorithm).simulate(2.0))


@pytest.mark.parametrize("algorithm", [pytest.param("jacobi", marks=under_wine)])
def test_the_same_bytes_on_a_server(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    """So many steps that both sides of the connection load compiled code."""
    cache = os.environ.get("COSIM_CACHE_DIR") or Path.home() / ".cache" / "cosim"
    monkeypatch.setenv("WINEPREFIX", str(Path(cache) / "wine"))  # that of a new store takes 700 MB
    fmu = add_windows_library(make_fmu("mass"), "mass")
    on_linux = two_masses(fmu, fmu, algorithm).simulate(150.0)
    folder = tmp_path / "server"
    folder.mkdir()
    server = Server(folder)
    try:
        monkeypatch.setenv("COSIM_TOKEN_FILE", str(server.token))
        on_server = ProcessParticipant(without_linux(fmu), "b", host=server.host, wine=True)
        assert_same(on_linux, two_masses(fmu, on_server, algorithm).simulate(150.0))
    finally:
        server.close()


@pytest.mark.parametrize("kind", [pytest.param(n, marks=under_wine) for n in ("types", "box3")])
def test_values_of_all_types_under_wine(
    make_fmu: MakeFmu, tmp_path: Path, compiled: Compiled, kind: str
) -> None:
    linux_fmu = make_fmu("types") if kind == "types" else make_box3(tmp_path, compiled)
    fmu = add_windows_library(linux_fmu, kind, "win64" if kind == "types" else "x86_64-windows")
    starts: dict[str, Any] = {"p.string_in": 'grün, "1"', "p.boolean_in": True, "p.integer_in": -7}
    if kind == "box3":
        starts = {"p.text_in": "grüße", "p.flag_in": True, "p.blob_in": b"\x01\xab"}
    loops = (
        CoSimulation({"p": open_fmu(fmu, "p", wine=wine)}, [], "jacobi", 0.1, starts=starts)
        for wine in (False, True)
    )
    on_linux, with_wine = (loop.simulate(0.3, record=["p.*_out"]) for loop in loops)
    assert on_linux.names == with_wine.names and len(on_linux.names) >= 4
    for name in on_linux.names:
        assert on_linux[name].tolist() == with_wine[name].tolist(), name


@pytest.mark.parametrize("wine", [False, pytest.param(True, marks=under_wine)])
def test_errors_and_messages_arrive(make_fmu: MakeFmu, wine: bool) -> None:
    fmu = make_fmu("failing")
    if wine:
        add_windows_library(fmu, "failing")
    starts = {"p.fail_at": 0.25, "p.fail_status": 3}
    loop = CoSimulation({"p": open_fmu(fmu, "p", wine=wine)}, [], "jacobi", 0.1, starts=starts)
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status error.*It") as caught:
        loop.simulate(1.0)
    assert caught.value.result["p.y"].size == 3


@pytest.mark.parametrize("wine", [pytest.param(True, marks=under_wine)])
def test_a_crash_under_wine_is_an_error_and_the_results_are_kept(make_fmu: MakeFmu, wine: bool) -> None:
    fmu = add_windows_library(make_fmu("heavy"), "heavy")
    parts = {"good": fmu, "bad": open_fmu(fmu, "bad", wine=wine)}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts={"bad.crash_at": 0.35})
    with pytest.raises(CoSimulationError, match="FMU under wine"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result["good.y"].size == 4
    assert loop.simulate(0.3).message == ""  # a new process
