"""The engine-mount example: its equilibrium, energies, laws, commands and FMUs."""

from __future__ import annotations

import doctest
import importlib
import math
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim.cli import main
from cosim_dynamics import equilibrium, start_values
from cosim_export.native.native_exporter import NativeFmuExporter
from cosim_mechanics.testing import ForceElementContract
from cosim_workbench import ModelFile

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "engine_mount"
MASSES, GRAVITY = 700.0 + 120.0, 9.81
MODELS = ("engine_mount", "plant")


@pytest.fixture(scope="module")
def example(install: Callable[[Path], Any]) -> Iterator[Any]:
    """Install the plugin of the example and make its scripts importable."""
    plugin = install(EXAMPLE / "plugin")
    sys.path.insert(0, str(EXAMPLE))
    with kit.use_registry(plugin.registry):
        yield plugin


@pytest.fixture(scope="module")
def whole(example: Any) -> cosim.Result:
    result: cosim.Result = importlib.import_module("run_whole").run()
    return result


@pytest.mark.usefixtures("example")
class TestActiveDamper(ForceElementContract):
    make = staticmethod(
        lambda: importlib.import_module("engine_mount_parts").ActiveDamper(
            station_on_body2=(0.1, -0.2, 0.3), force=50.0
        )
    )


def read_model(name: str) -> cosim.Model:
    return ModelFile.read(EXAMPLE / f"{name}.toml")


def run_command(site: Path, folder: Path, *arguments: str, **environment: str) -> str:
    """Run the command line in a process of its own and return what it printed."""
    finished = subprocess.run(
        [sys.executable, "-m", "cosim", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.mark.parametrize("name", MODELS)
def test_the_start_is_a_static_equilibrium(example: Any, name: str) -> None:
    system = read_model(name).build()
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    assert np.abs(state.u).max() == 0.0
    assert np.abs(state.y_dot[system.nq : system.nq + system.nu]).max() < 1e-9
    assert state["suspension.f"][5] == pytest.approx(MASSES * GRAVITY, rel=1e-12)


def test_the_equilibrium_is_found_from_a_lifted_start(example: Any) -> None:
    lifted = read_model("engine_mount")
    lifted.set_start("chassis_joint.q", [0.7])
    lifted.set_start("engine_joint.q", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    computed = start_values(equilibrium(lifted.build()))
    expected = read_model("engine_mount").starts
    assert computed.keys() == expected.keys()
    for path, values in expected.items():
        assert computed[path] == pytest.approx(values, abs=1e-14)


def test_a_repeated_run_gives_the_same_bytes(whole: cosim.Result, tmp_path: Path) -> None:
    repeated = importlib.import_module("run_whole").run()
    first, second = whole.to_csv(tmp_path / "first.csv"), repeated.to_csv(tmp_path / "second.csv")
    assert first.read_bytes() == second.read_bytes()


def test_the_energy_is_that_of_shaker_and_damper(whole: cosim.Result) -> None:
    shaken, damped = whole["shaker.supplied_energy"], whole["active_damper.supplied_energy"]
    balance = whole["energy.total"] - shaken - damped
    assert np.ptp(balance) < 1e-7 * shaken[-1]
    assert np.diff(whole["energy.dissipated"]).min() >= -1e-12 * shaken[-1]
    assert whole["energy.kinetic"][0] == 0.0
    assert np.all(whole["energy.kinetic"] >= 0.0)
    # The active damper removes more energy than the rubber.
    assert -shaken[-1] < damped[-1] < -whole["energy.dissipated"][-1] < 0.0


def test_the_sensor_is_delayed_by_five_milliseconds(whole: cosim.Result) -> None:
    rows = round(0.005 / (whole.time[1] - whole.time[0]))
    assert rows == 5
    error = np.abs(whole["felt"][rows:] - whole["vertical_speed"][:-rows]).max()
    assert error < 1e-6 * np.abs(whole["vertical_speed"]).max()
    assert np.all(whole["felt"][:rows] == 0.0)


def test_the_active_damper_reduces_the_peaks(whole: cosim.Result) -> None:
    run_whole = importlib.import_module("run_whole")
    without = run_whole.run(gain=0.0)
    assert np.all(without["controller.force"] == 0.0)
    for path, ratio in (("vertical_speed", 0.7), ("chassis.az", 0.75)):
        assert run_whole.peak(whole[path]) < ratio * run_whole.peak(without[path])


def test_the_shaker_obeys_the_law_of_the_pistons(example: Any) -> None:
    shaker = importlib.import_module("engine_mount_parts").Shaker
    m, r, length, omega = 0.6, 0.045, 0.145, 80.0
    force, speed = np.zeros(1), np.zeros(1)

    def force_and_speed(t: float, run_up_time: float) -> tuple[float, float]:
        shaker.turn(t, m, r, length, omega, run_up_time, force, speed)
        return float(force[0]), float(speed[0])

    for t in np.linspace(0.0, 0.2, 41):
        constant = 4.0 * m * r * (r / length) * omega**2 * math.cos(2.0 * omega * t)
        assert force_and_speed(t, 0.0) == pytest.approx((constant, omega), rel=1e-12, abs=1e-9)
    # In the run-up the force is -4 m times the second derivative of r^2/(4 l) cos(2 phi); phi is the
    # integral of the speed.
    times = np.linspace(0.0, 1.2, 24001)
    values = np.array([force_and_speed(t, 1.0) for t in times])
    step = times[1]
    phi = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:, 1] + values[:-1, 1])) * step])
    lift = r * r / (4.0 * length) * np.cos(2.0 * phi)
    reaction = -4.0 * m * np.diff(lift, 2) / step**2
    assert np.abs(reaction - values[1:-1, 0]).max() < 1e-3 * np.abs(values[:, 0]).max()


def test_the_force_of_the_controller_is_limited(example: Any) -> None:
    law = importlib.import_module("engine_mount_parts").Controller.law
    force = np.zeros(1)
    for speed, expected in ((0.01, -30.0), (-0.01, 30.0), (1.0, -400.0), (-1.0, 400.0)):
        law(speed, 3000.0, 400.0, force)
        assert force[0] == expected


def test_plant_and_controller_have_the_parts_of_the_whole(example: Any) -> None:
    whole, plant, controller = (
        read_model(name).to_dict() for name in ("engine_mount", "plant", "controller")
    )

    def by_name(data: dict[str, Any]) -> dict[str, Any]:
        return {part["name"]: part for part in data["parts"]}

    assert by_name(plant) | by_name(controller) == by_name(whole)
    assert by_name(plant).keys() & by_name(controller).keys() == set()
    assert plant["starts"] == whole["starts"]
    assert plant["settings"] == whole["settings"]
    assert set(read_model("plant").build().inputs) == {"active_damper.force"}
    connections = importlib.import_module("compare").CONNECTIONS
    assert [[end.partition(".")[2] for end in ends] for ends in connections] == whole["connections"]


@pytest.mark.thorough
def test_co_simulation_converges_to_the_whole_in_the_first_order(example: Any, tmp_path: Path) -> None:
    compare = importlib.import_module("compare")
    fmus = compare.export(tmp_path)
    differences = [compare.compare(fmus, step, until=0.3).difference for step in (0.8e-3, 0.4e-3, 0.2e-3)]
    assert differences[-1] < 0.01
    assert differences[1] / differences[0] == pytest.approx(0.5, abs=0.1)
    assert differences[2] / differences[1] == pytest.approx(0.5, abs=0.1)


@pytest.mark.thorough
def test_commands_give_the_bytes_of_the_scripts(example: Any, whole: cosim.Result, tmp_path: Path) -> None:
    for name in (*MODELS, "controller", "loop"):
        shutil.copy(EXAMPLE / f"{name}.toml", tmp_path)
    run_command(example.site, tmp_path, "run", "engine_mount.toml", "-o", "engine_mount.csv")
    expected = whole.to_csv(tmp_path / "expected.csv")
    assert (tmp_path / "engine_mount.csv").read_bytes() == expected.read_bytes()
    run_command(example.site, tmp_path, "export", "plant.toml", "--python", "-o", "plant.fmu")
    run_command(example.site, tmp_path, "export", "controller.toml", "--python", "-o", "controller.fmu")
    output = run_command(example.site, tmp_path, "cosimulate", "loop.toml", "--until", "0.05")
    assert "ecu → plant" in output
    assert "500 steps" in output
    lines = (tmp_path / "loop.csv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + 501
    assert '"plant.engine.az"' in lines[0]


def test_compiled_and_plain_python_give_the_same_bytes(example: Any, tmp_path: Path) -> None:
    run = ("run", str(EXAMPLE / "engine_mount.toml"), "--until", "0.05", "-q", "-o")
    run_command(example.site, tmp_path, *run, "compiled.csv", COSIM_PLAIN="0")
    run_command(example.site, tmp_path, *run, "plain.csv", COSIM_PLAIN="1")
    assert (tmp_path / "compiled.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()


@pytest.mark.thorough
def test_the_picture_is_drawn(example: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    importlib.import_module("plot").draw(tmp_path / "engine_mount.png")
    assert (tmp_path / "engine_mount.png").read_bytes().startswith(b"\x89PNG")


def test_examples_in_docstrings(example: Any) -> None:
    names = ("active_damper", "controller", "shaker")
    results = [doctest.testmod(importlib.import_module(f"engine_mount_parts.{name}")) for name in names]
    assert all(result.attempted and not result.failed for result in results)


@pytest.mark.usefixtures("example")
def test_the_page_of_the_animation_is_small(tmp_path: Path) -> None:
    target = tmp_path / "mount.html"
    model = str(EXAMPLE / "engine_mount.toml")
    assert main(["animate", model, "-o", str(target), "--until", "0.1", "-q"]) == 0
    page = target.read_text("utf-8")
    assert target.stat().st_size < 1.5e6
    assert all(f'"name":"{body}"' in page for body in ("ground", "engine", "chassis"))


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, 3])
def test_the_c_sources_have_less_than_10000_lines(example: Any, version: int, tmp_path: Path) -> None:
    target = tmp_path / "mount.fmu"
    NativeFmuExporter().export(read_model("engine_mount"), target, sources=True, fmi=version)
    with zipfile.ZipFile(target) as archive:
        sources = [name for name in archive.namelist() if name.endswith((".c", ".h"))]
        lines = {name: archive.read(name).count(b"\n") for name in sources}
    assert 5000 < lines["sources/code.c"] < sum(lines.values()) < 10_000
