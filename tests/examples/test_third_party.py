"""The third-party plugin is listed, run and exported, and no source of the framework names it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from native_tools import COMPILER, needs_compiler, own_platform

from cosim import kit
from cosim.cli import main
from cosim_mechanics import Multibody

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "third_party_plugin"
MASS, DAMPING, SPEED, UNTIL = 2.0, 5.0, 3.0, 0.5


@pytest.fixture(scope="module")
def acme(install: Callable[[Path], Any]) -> Iterator[Any]:
    plugin = install(PROJECT)
    with kit.use_registry(plugin.registry):
        yield plugin


def sliding_mass() -> Multibody:
    model = Multibody("sliding_mass", gravity=(0.0, 0.0, 0.0))
    cart = model.body("cart", mass=MASS, inertia=(0.0, 0.0, 0.0))
    model.joint("slider", child=cart, name="rail", q=1.0, u=SPEED)
    model.add("acme.quadratic_damper", "damper", body1="ground", body2=cart, damping=DAMPING)
    return model


def closed_form(time: float) -> float:
    """Return the speed v0 / (1 + c v0 t / m)."""
    return SPEED / (1.0 + DAMPING * SPEED / MASS * time)


def run_python(
    *arguments: str, path: Path | None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )


def test_the_damper_is_registered_with_its_distribution(acme: Any) -> None:
    entry = acme.registry.entry("component", "acme.quadratic_damper")
    assert (entry.distribution, entry.version, entry.kind) == ("acme-dampers", "1.0.0", "force_element")


def test_the_command_line_lists_the_plugin(acme: Any) -> None:
    listed = run_python("-m", "cosim", "plugins", path=acme.site)
    assert "acme: acme-dampers 1.0.0, acme_dampers, contract 1.0\n" in listed.stdout
    assert "force element: acme.quadratic_damper" in listed.stdout


def test_the_damper_obeys_its_law(acme: Any) -> None:
    result = sliding_mass().simulate(until=UNTIL, accuracy=1e-10)
    assert result["rail.speed"][-1] == pytest.approx(closed_form(UNTIL), rel=1e-8)


@pytest.mark.thorough  # plain `tox` runs them in an environment of their own
def test_the_tests_of_the_plugin_pass(acme: Any) -> None:
    pytest.importorskip("hypothesis", reason="the contract kit needs hypothesis")
    pytest_arguments = ("-m", "pytest", "-q", "-p", "no:cacheprovider", str(PROJECT))
    tested = run_python(*pytest_arguments, path=acme.site, cwd=acme.site)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert " passed" in tested.stdout


@pytest.mark.thorough
def test_an_fmu_runs_without_the_installed_plugin(acme: Any, tmp_path: Path) -> None:
    fmu = sliding_mass().export_fmu(
        tmp_path / "sliding_mass.fmu", outputs=["rail.speed"], accuracy=1e-10, native=False
    )
    with zipfile.ZipFile(fmu) as archive:
        assert archive.read("resources/acme_dampers.py") == (PROJECT / "acme_dampers.py").read_bytes()
    script = (
        "import sys, fmpy, importlib.metadata\n"
        "result = fmpy.simulate_fmu(sys.argv[1], stop_time=float(sys.argv[2]), output_interval=0.01)\n"
        "print(repr(float(result['rail.speed'][-1])), sys.modules['acme_dampers'].__file__)\n"
    )
    finished = run_python("-c", script, str(fmu), str(UNTIL), path=None, cwd=tmp_path)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    speed, file = finished.stdout.splitlines()[-1].split(maxsplit=1)
    assert float(speed) == pytest.approx(closed_form(UNTIL), rel=1e-8)
    assert str(acme.site) not in file


@needs_compiler
def test_a_native_fmu_has_no_python(acme: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fmpy import simulate_fmu

    assert main(["describe", "acme.quadratic_damper"]) == 0
    output = capsys.readouterr().out
    assert "acme-dampers" in output and "N.s2/m2" in output and output.endswith("(native FMU): yes\n")
    path = sliding_mass().export_fmu(
        tmp_path / "mass.fmu",
        native=True,
        platforms=[own_platform()],
        compiler=COMPILER,
        kind="cs",
        outputs=["rail.speed"],
        accuracy=1e-9,
    )
    with zipfile.ZipFile(path) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".py")]
    result = simulate_fmu(str(path), stop_time=UNTIL, output_interval=0.05)
    assert result["rail.speed"][-1] == pytest.approx(closed_form(UNTIL), rel=1e-7)


def test_no_source_of_the_framework_names_the_plugin() -> None:
    sources = [
        path for folder in ("cosim", "compiler", "plugins", "fmu") for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(sources) > 100
    assert [path for path in sources if "acme_dampers" in path.read_text("utf-8")] == []
