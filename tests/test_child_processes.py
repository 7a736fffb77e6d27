"""Commands import code only from where it is installed, never from Python files beside their data."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from source_imports import PACKAGES

from cosim_compiler.child_process import python_command, python_environment, safe_spawn

CUSTOMIZE = ("sitecustomize", "usercustomize")
STARTERS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "system", "spawnv", "popen"}
MAY_START = re.compile(
    rf"\b(?:subprocess|os)\.(?:fork|{'|'.join(sorted(STARTERS))})\b|get_context|ProcessPoolExecutor"
)
FORKS = {
    *("cosim_compiler/ahead.py", "cosim/command_line/supervised.py", "cosim/testing/other_mode.py"),
    "cosim/registration/listing_process.py",
}
"""Modules that fork this process, which needs no import path."""
MODEL = """[model]
name = "drop"
[measures.stone]
type = "signals.ramp"
height = 2.0
[simulation]
until = 0.02
"""
SCENARIO = """[participants.stone]
model = "drop.toml"
process = true
[master]
step = "10 ms"
until = 0.02
"""
ARM = """[model]
name = "arm"
[bodies.rod]
mass = "1 kg"
inertia = [0.1, 0.1, 0.1]
joint = { type = "pin" }
[simulation]
until = 0.02
"""
ROBOT = """<robot name="arm"><link name="base"/></robot>"""
DATA = "t [s],stone\n0,0\n0.01,1\n0.02,2\n"
OPTIMIZED = ("--minimize", "max(stone)", "--runs", "2", "-q", "--vary")
ONE_SCENARIO = """[participants.stone]
model = "drop.toml"
[master]
step = "10 ms"
until = 0.02
"""
PYTHON_FMU = ONE_SCENARIO.replace('model = "drop.toml"', 'fmu = "python.fmu"')
VARY = ("--vary", "stone.stone.height=1, 2")
LONG = pytest.mark.thorough  # commands that start no other kinds of processes than the rest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with models, scenarios, and a Python file for each name that a process may import early."""
    place = tmp_path_factory.mktemp("planted")
    (place / "drop.toml").write_text(MODEL)
    (place / "loop.toml").write_text(SCENARIO)
    (place / "one.toml").write_text(ONE_SCENARIO)
    (place / "python.toml").write_text(PYTHON_FMU)
    (place / "arm.toml").write_text(ARM)
    (place / "arm.urdf").write_text(ROBOT)
    (place / "data.csv").write_text(DATA)
    known = (*sys.stdlib_module_names, *packages_distributions(), *PACKAGES, *CUSTOMIZE)
    for name in filter(str.isidentifier, dict.fromkeys(known)):
        (place / f"{name}.py").write_text(f"open({str(place / ('RAN-' + name))!r}, 'w').close()\n")
    yield place
    shutil.rmtree(place)


def cosim_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as the installed script does, which does not search the present folder for modules."""
    command = [sys.executable, "-P", "-m", "cosim", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("run", "drop.toml", "-q"), marks=LONG),
        ("cosimulate", "loop.toml", "-q"),
        ("sweep", "one.toml", *VARY, "-q"),
        pytest.param(("sweep", "one.toml", *VARY, "--run-in", "threads", "-q", "-o", "t"), marks=LONG),
        ("export", "drop.toml", "--native", "-q"),
        pytest.param(("validate", "drop.fmu"), marks=LONG),
        pytest.param(("check", "measures.constant"), marks=LONG),
        ("serve", "--stdio"),
        *(
            pytest.param(words, marks=pytest.mark.thorough)
            for words in (
                ("optimize", "drop.toml", *OPTIMIZED, "stone.height=1..2", "--local"),
                (
                    "optimize",
                    "one.toml",
                    "--maximize",
                    "max(stone.stone)",
                    *OPTIMIZED[2:],
                    "stone.stone.height=1..2",
                ),
                ("calibrate", "drop.toml", "--data", "data.csv", "--fit", "stone.height=1..3", "-q"),
                ("profile", "drop.toml"),
                ("equilibrium", "drop.toml"),
                ("linearize", "drop.toml"),
                ("plot", "data.csv", "-o", "plot.png"),
                ("compare", "data.csv", "data.csv"),
                ("animate", "arm.toml", "-q"),
                ("import", "arm.urdf", "-o", "arm2.toml"),
                ("describe", "signals.ramp"),
                ("schema", "model"),
                ("new", "model", "fresh"),
                ("completion", "bash"),
                ("cosimulate", "one.toml", "-q", "--isolate"),
                ("export", "drop.toml", "-q", "-o", "python.fmu"),
                ("validate", "python.fmu"),
                ("cosimulate", "python.toml", "-q"),
                ("cosimulate", "python.toml", "-q", "--isolate"),
                ("export", "one.toml", "-q", "-o", "one.fmu"),
                ("export", "one.toml", "-o", "one.ssp"),
                ("cosimulate", "one.ssp", "-q", "--step", "10 ms"),
                ("run", "arm.toml", "-q", "--verify", "--plot", "arm.png"),
            )
        ),
        pytest.param(("info", "drop.toml"), marks=LONG),
        pytest.param(("plugins",), marks=LONG),
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_python_files_beside_the_data_of_a_command_are_not_run(words: tuple[str, ...], folder: Path) -> None:
    if words[0] == "export" and not any(map(shutil.which, ("gcc", "cc"))):
        pytest.skip("no C compiler")
    needed = ["python.fmu" if word == "python.toml" else word for word in words[1:2]]
    if any(name.endswith((".fmu", ".ssp")) and not (folder / name).exists() for name in needed):
        pytest.skip(f"no {needed[0]}")
    done = cosim_command(folder, *words)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.glob("RAN-*")) == []


def test_a_careless_process_would_run_the_planted_files(folder: Path) -> None:
    """So the tests above can fail."""
    place = folder / "RAN-pickle"
    try:
        careless = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
        subprocess.run([sys.executable, "-c", "import pickle"], cwd=folder, env=careless, check=True)
        assert place.exists()
        place.unlink()
        subprocess.run(python_command("-c", "import pickle"), cwd=folder, check=True)
        assert not place.exists()
    finally:
        place.unlink(missing_ok=True)


def test_python_m_cosim_does_not_import_from_the_present_folder(folder: Path) -> None:
    """Except for a `cosim.py`, which Python finds before any of our code runs."""
    present = folder / "present"
    present.mkdir()
    (present / "pickle.py").write_text("raise SystemExit('planted')\n")
    (present / "drop.toml").write_text(MODEL)
    words = [sys.executable, "-m", "cosim", "run", "drop.toml", "-q"]
    done = subprocess.run(words, cwd=present, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def starts_of_processes(name: str, text: str) -> list[str]:
    """The lines of a module that start processes otherwise than by `child_process`."""
    if not MAY_START.search(text):  # true for most files, which take long to parse
        return []
    lines = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            starts = owner in ("subprocess", "os") and node.func.attr in STARTERS
            forks = owner == "os" and node.func.attr == "fork" and name not in FORKS
            if starts or forks:
                lines.append(f"{name}:{node.lineno} {owner}.{node.func.attr}")
        is_pool = isinstance(node, ast.Attribute) and node.attr in ("get_context", "ProcessPoolExecutor")
        if is_pool and name != "cosim_ensembles/own_processes.py":
            lines.append(f"{name}:{node.lineno} makes processes")
    return lines


def test_other_processes_are_started_in_one_module() -> None:
    starts = []
    for root in PACKAGES.values():
        for path in root.rglob("*.py"):
            name = path.relative_to(root.parent).as_posix()
            if name != "cosim_compiler/child_process.py":
                starts += starts_of_processes(name, path.read_text("utf-8"))
    assert starts == []


def test_a_spawn_restores_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "", "1"):
        if before is None:
            monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        else:
            monkeypatch.setenv("PYTHONSAFEPATH", before)
        with safe_spawn():
            assert os.environ["PYTHONSAFEPATH"] == "1"
        assert os.environ.get("PYTHONSAFEPATH") == before


def test_a_session_that_imports_from_its_folder_lets_its_child_processes_do_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", ["", "/somewhere"])
    assert python_environment()["PYTHONPATH"] == os.pathsep.join([os.getcwd(), "/somewhere"])
