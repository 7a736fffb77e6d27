"""The engine mount: equilibrium, energies, the same bytes twice, and whole against cut in two."""

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
from cosim_mechanics.testing import ForceElementContract
from cosim_workbench import ModelFile

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "engine_mount"
MASSES, GRAVITY = 700.0 + 120.0, 9.81
MODELS = ("engine_mount", "plant")


@pytest.fixture(scope="module")
def example(install: Callable[[Path], Any]) -> Iterator[Any]:
    """The example's plugin is installed, and its scripts can be imported."""
    found = install(EXAMPLE / "plugin")
    sys.path.insert(0, str(EXAMPLE))
    with kit.use_registry(found.registry):
        yield found


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


def model(name: str) -> cosim.Model:
    return ModelFile.read(EXAMPLE / f"{name}.toml")


@pytest.mark.parametrize("name", MODELS)
def test_it_starts_at_rest_in_its_static_equilibrium(example: Any, name: str) -> None:
    system = model(name).build()
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    assert np.abs(state.u).max() == 0.0
    assert np.abs(state.y_dot[system.nq : system.nq + system.nu]).max() < 1e-9
    assert state["suspension.f"][5] == pytest.approx(MASSES * GRAVITY, rel=1e-12)


def test_the_equilibrium_is_found_from_elsewhere(example: Any) -> None:
    lifted = model("engine_mount")
    lifted.set_start("chassis_joint.q", [0.7])
    lifted.set_start("engine_joint.q", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    found = start_values(equilibrium(lifted.build()))
    wanted = model("engine_mount").starts
    assert found.keys() == wanted.keys()
    for path, values in wanted.items():
        assert found[path] == pytest.approx(values, abs=1e-14)


def test_the_same_run_gives_the_same_bytes(whole: cosim.Result, tmp_path: Path) -> None:
    again = importlib.import_module("run_whole").run()
    first, second = whole.to_csv(tmp_path / "first.csv"), again.to_csv(tmp_path / "second.csv")
    assert first.read_bytes() == second.read_bytes()


def test_energy_is_what_was_put_in(whole: cosim.Result) -> None:
    shaken, damped = whole["shaker.supplied_energy"], whole["active_damper.supplied_energy"]
    balance = whole["energy.total"] - shaken - damped
    assert np.ptp(balance) < 1e-7 * shaken[-1]
    assert np.diff(whole["energy.dissipated"]).min() >= -1e-12 * shaken[-1]
    assert whole["energy.kinetic"][0] == 0.0
    assert np.all(whole["energy.kinetic"] >= 0.0)
    # In the mean over the run the active damper takes energy out, more than the rubber does.
    assert -shaken[-1] < damped[-1] < -whole["energy.dissipated"][-1] < 0.0


def test_the_sensor_is_five_milliseconds_late(whole: cosim.Result) -> None:
    late = round(0.005 / (whole.time[1] - whole.time[0]))
    assert late == 5
    error = np.abs(whole["felt"][late:] - whole["vertical_speed"][:-late]).max()
    assert error < 1e-6 * np.abs(whole["vertical_speed"]).max()
    assert np.all(whole["felt"][:late] == 0.0)


def test_the_active_damper_calms_the_start(whole: cosim.Result) -> None:
    run_whole = importlib.import_module("run_whole")
    without = run_whole.run(gain=0.0)
    assert np.all(without["controller.force"] == 0.0)
    for path, at_most in (("vertical_speed", 0.7), ("chassis.az", 0.75)):
        assert run_whole.peak(whole[path]) < at_most * run_whole.peak(without[path])


def test_the_shaker_is_the_law_of_the_pistons(example: Any) -> None:
    shaker = importlib.import_module("engine_mount_parts").Shaker
    m, r, length, omega = 0.6, 0.045, 0.145, 80.0
    force, speed = np.zeros(1), np.zeros(1)

    def turn(t: float, run_up_time: float) -> tuple[float, float]:
        shaker.turn(t, m, r, length, omega, run_up_time, force, speed)
        return float(force[0]), float(speed[0])

    for t in np.linspace(0.0, 0.2, 41):
        constant = 4.0 * m * r * (r / length) * omega**2 * math.cos(2.0 * omega * t)
        assert turn(t, 0.0) == pytest.approx((constant, omega), rel=1e-12, abs=1e-9)
    # Run-up: minus four masses times the second derivative of r^2/(4 l) cos(2 phi), phi from the speed.
    times = np.linspace(0.0, 1.2, 24001)
    values = np.array([turn(t, 1.0) for t in times])
    step = times[1]
    phi = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:, 1] + values[:-1, 1])) * step])
    lift = r * r / (4.0 * length) * np.cos(2.0 * phi)
    reaction = -4.0 * m * np.diff(lift, 2) / step**2
    assert np.abs(reaction - values[1:-1, 0]).max() < 1e-3 * np.abs(values[:, 0]).max()


def test_the_controller_has_a_limit(example: Any) -> None:
    law = importlib.import_module("engine_mount_parts").Controller.law
    force = np.zeros(1)
    for speed, wanted in ((0.01, -30.0), (-0.01, 30.0), (1.0, -400.0), (-1.0, 400.0)):
        law(speed, 3000.0, 400.0, force)
        assert force[0] == wanted


def test_plant_and_controller_are_the_whole(example: Any) -> None:
    whole, plant, controller = (model(name).to_dict() for name in ("engine_mount", "plant", "controller"))

    def by_name(data: dict[str, Any]) -> dict[str, Any]:
        return {part["name"]: part for part in data["parts"]}

    assert by_name(plant) | by_name(controller) == by_name(whole)
    assert by_name(plant).keys() & by_name(controller).keys() == set()
    assert plant["starts"] == whole["starts"]
    assert plant["settings"] == whole["settings"]
    assert set(model("plant").build().inputs) == {"active_damper.force"}
    joined = [
        [a.partition(".")[2], b.partition(".")[2]] for a, b in importlib.import_module("compare").CONNECTIONS
    ]
    assert joined == whole["connections"]


@pytest.mark.thorough
def test_cut_in_two_it_moves_as_the_whole(example: Any, tmp_path: Path) -> None:
    compare = importlib.import_module("compare")
    fmus = compare.export(tmp_path)
    differences = [compare.compare(fmus, step, until=0.3).difference for step in (0.8e-3, 0.4e-3, 0.2e-3)]
    assert differences[-1] < 0.01
    # The coupling is of first order in the step.
    assert differences[1] / differences[0] == pytest.approx(0.5, abs=0.1)
    assert differences[2] / differences[1] == pytest.approx(0.5, abs=0.1)


def command(site: Path, folder: Path, *words: str, **environment: str) -> str:
    """What a command of the command line printed, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "cosim", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_command_line_does_the_same(example: Any, whole: cosim.Result, tmp_path: Path) -> None:
    for name in (*MODELS, "controller", "loop"):
        shutil.copy(EXAMPLE / f"{name}.toml", tmp_path)
    command(example.site, tmp_path, "run", "engine_mount.toml", "-o", "engine_mount.csv")
    expected = whole.to_csv(tmp_path / "expected.csv")
    assert (tmp_path / "engine_mount.csv").read_bytes() == expected.read_bytes()
    command(example.site, tmp_path, "export", "plant.toml", "--python", "-o", "plant.fmu")
    command(example.site, tmp_path, "export", "controller.toml", "--python", "-o", "controller.fmu")
    said = command(example.site, tmp_path, "cosimulate", "loop.toml", "--until", "0.05")
    assert "ecu → plant" in said
    assert "500 steps" in said
    lines = (tmp_path / "loop.csv").read_text("utf-8").splitlines()
    assert len(lines) == 1 + 501
    assert '"plant.engine.az"' in lines[0]


def test_compiled_or_not_the_bytes_are_the_same(example: Any, tmp_path: Path) -> None:
    words = ("run", str(EXAMPLE / "engine_mount.toml"), "--until", "0.05", "-q", "-o")
    command(example.site, tmp_path, *words, "compiled.csv", COSIM_PLAIN="0")
    command(example.site, tmp_path, *words, "plain.csv", COSIM_PLAIN="1")
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
def test_its_page_in_three_dimensions_is_small(tmp_path: Path) -> None:
    target = tmp_path / "mount.html"
    assert (
        main(["animate", str(EXAMPLE / "engine_mount.toml"), "-o", str(target), "--until", "0.1", "-q"]) == 0
    )
    page = target.read_text("utf-8")
    assert target.stat().st_size < 1.5e6
    assert all(f'"name":"{body}"' in page for body in ("ground", "engine", "chassis"))


@pytest.mark.thorough
@pytest.mark.parametrize("version", [2, 3])
def test_its_c_sources_are_less_than_10000_lines(example: Any, version: int, tmp_path: Path) -> None:
    from cosim_export.native.native_exporter import NativeFmuExporter

    target = tmp_path / "mount.fmu"
    NativeFmuExporter().export(model("engine_mount"), target, sources=True, fmi=version)
    with zipfile.ZipFile(target) as archive:
        sources = [name for name in archive.namelist() if name.endswith((".c", ".h"))]
        lines = {name: archive.read(name).count(b"\n") for name in sources}
    assert 5000 < lines["sources/code.c"] < sum(lines.values()) < 10_000
