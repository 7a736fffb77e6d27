"""FMUs for Windows on Linux: what is said where they cannot run, and the same values under wine."""

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


def why_not() -> str:
    """Why FMUs for Windows cannot be made and run here, "" where they can."""
    if importlib.util.find_spec("ziglang") is None:
        return "zig makes the libraries for Windows"
    try:
        programs.wine_program()
    except programs.NoWineError as error:
        return str(error)
    return ""


REASON = why_not()
under_wine = [pytest.mark.thorough, pytest.mark.skipif(bool(REASON), reason=REASON)]


def with_windows(fmu: Path, kind: str, place: str = "win64") -> Path:
    """The same FMU with a library for Windows beside the one for Linux."""
    library = fmu.with_name(f"{kind}.dll")
    words = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-shared", "-s", "-O2"]
    words += ["-std=c11", "-fPIC", "-ffp-contract=off", str(SOURCES / f"{kind}.c"), "-o", str(library)]
    subprocess.run(words, check=True, capture_output=True)
    with zipfile.ZipFile(fmu, "a") as archive:
        archive.write(library, f"binaries/{place}/{kind}.dll")
    return fmu


def without_linux(fmu: Path) -> Path:
    """The same FMU without its library for Linux."""
    made = fmu.with_name("windows.fmu")
    with zipfile.ZipFile(fmu) as given, zipfile.ZipFile(made, "w") as archive:
        for name in given.namelist():
            if not name.endswith(".so"):
                archive.writestr(name, given.read(name))
    return made


def only_windows(fmu: Path, place: str = "win64") -> Path:
    """An FMU with a file in place of a library for Windows."""
    made = without_linux(fmu)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(f"binaries/{place}/{fmu.stem}.dll", b"MZ")
    return made


def test_the_message_about_a_missing_library_says_that_wine_runs_it(make_fmu: MakeFmu) -> None:
    fmu = only_windows(make_fmu("gain"))
    with pytest.raises(cosim.FmuError, match=r"runs here where wine is installed: wine = true\.$"):
        open_fmu(fmu).describe()


def test_without_wine_a_sentence_says_what_to_install(
    make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    said = r"needs wine, which is not installed here: install it: apt install wine \(Debian, Ubuntu\)"
    with pytest.raises(cosim.FmuError, match=said):
        open_fmu(only_windows(make_fmu("gain")), wine=True).describe()


def test_other_machines_and_fmi_1_are_refused(
    tmp_path: Path, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = only_windows(make_fmi1(tmp_path, compiled))
    with pytest.raises(cosim.FmuError, match=r"FMI 1\.0 cannot run under wine: 2\.0 and 3\.0 can$"):
        open_fmu(fmu, wine=True).describe()
    monkeypatch.setattr(programs.platform, "machine", lambda: "aarch64")
    with pytest.raises(programs.NoWineError, match="=.*Linux.*x86-64"):
        programs.wine_program()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('fmu = "gain.fmu"\nwine = 1', "participants.g.wine: is 1, needs true or false"),
        ('series = "gain.csv"\nwine = true', "participants.g.wine: is for FMUs"),
    ],
)
def test_in_a_scenario(make_fmu: MakeFmu, line: str, said: str) -> None:
    folder = make_fmu("gain").parent
    (folder / "s.toml").write_text(
        f'format = "cosim-scenario/1"\n[master]\nstep = 0.1\n[participants.g]\n{line}\n'
    )
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation.from_file(folder / "s.toml")
    assert said in str(caught.value)


def masses(one: Any, other: Any, algorithm: str = "jacobi") -> CoSimulation:
    return CoSimulation({"a": one, "b": other}, LINKS, algorithm, 0.1, starts=STARTS)


@pytest.mark.parametrize("algorithm", [pytest.param(n, marks=under_wine) for n in ("jacobi", "adaptive")])
def test_the_same_bytes_as_on_linux(make_fmu: MakeFmu, algorithm: str) -> None:
    """Steps by addresses, and states that are saved and restored; one of them in a process of its own."""
    fmu = with_windows(make_fmu("mass"), "mass")
    whole = masses(fmu, fmu, algorithm).simulate(2.0)
    there = open_fmu(fmu, "a", wine=True), ProcessParticipant(open_fmu, fmu, "b", wine=True)
    assert_same(whole, masses(*there, algorithm).simulate(2.0))


@pytest.mark.parametrize("algorithm", [pytest.param("jacobi", marks=under_wine)])
def test_the_same_bytes_at_a_server(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    """More steps than compiled code waits for, on both sides of the connection."""
    cache = os.environ.get("COSIM_CACHE_DIR") or Path.home() / ".cache" / "cosim"
    monkeypatch.setenv("WINEPREFIX", str(Path(cache) / "wine"))  # that of a new store takes 700 MB
    fmu = with_windows(make_fmu("mass"), "mass")
    whole = masses(fmu, fmu, algorithm).simulate(150.0)
    folder = tmp_path / "server"
    folder.mkdir()
    server = Server(folder)
    try:
        monkeypatch.setenv("COSIM_TOKEN_FILE", str(server.token))
        there = ProcessParticipant(without_linux(fmu), "b", host=server.host, wine=True)
        assert_same(whole, masses(fmu, there, algorithm).simulate(150.0))
    finally:
        server.close()


@pytest.mark.parametrize("kind", [pytest.param(n, marks=under_wine) for n in ("types", "box3")])
def test_all_types(make_fmu: MakeFmu, tmp_path: Path, compiled: Compiled, kind: str) -> None:
    made = make_fmu("types") if kind == "types" else make_box3(tmp_path, compiled)
    fmu = with_windows(made, kind, "win64" if kind == "types" else "x86_64-windows")
    starts: dict[str, Any] = {"p.string_in": 'grün, "1"', "p.boolean_in": True, "p.integer_in": -7}
    if kind == "box3":
        starts = {"p.text_in": "grüße", "p.flag_in": True, "p.blob_in": b"\x01\xab"}
    here, there = (
        CoSimulation({"p": open_fmu(fmu, "p", wine=wine)}, [], "jacobi", 0.1, starts=starts).simulate(
            0.3, record=["p.*_out"]
        )
        for wine in (False, True)
    )
    assert here.names == there.names and len(here.names) >= 4
    for name in here.names:
        assert here[name].tolist() == there[name].tolist(), name


@pytest.mark.parametrize("wine", [False, pytest.param(True, marks=under_wine)])
def test_errors_and_messages_arrive(make_fmu: MakeFmu, wine: bool) -> None:
    fmu = make_fmu("failing")
    if wine:
        with_windows(fmu, "failing")
    loop = CoSimulation(
        {"p": open_fmu(fmu, "p", wine=wine)},
        [],
        "jacobi",
        0.1,
        starts={"p.fail_at": 0.25, "p.fail_status": 3},
    )
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status error.*It") as caught:
        loop.simulate(1.0)
    assert caught.value.result["p.y"].size == 3


@pytest.mark.parametrize("wine", [pytest.param(True, marks=under_wine)])
def test_a_crash_is_a_sentence_and_the_results_are_kept(make_fmu: MakeFmu, wine: bool) -> None:
    fmu = with_windows(make_fmu("heavy"), "heavy")
    parts = {"good": fmu, "bad": open_fmu(fmu, "bad", wine=wine)}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts={"bad.crash_at": 0.35})
    with pytest.raises(CoSimulationError, match="FMU under wine"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result["good.y"].size == 4
    assert loop.simulate(0.3).message == ""  # a new process
