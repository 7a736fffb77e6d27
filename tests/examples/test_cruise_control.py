"""The cruise-control example, compared with the law of its car, swept and drawn."""

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation

EXAMPLE = Path(__file__).parents[2] / "examples" / "cruise_control"
DRAG, MASS = 20.0, 1200.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the example to a folder and export its FMU there."""
    target = tmp_path_factory.mktemp("cruise")
    for path in EXAMPLE.iterdir():
        if path.suffix in (".toml", ".py", ".csv"):
            shutil.copy(path, target)
    model = cosim.Model.from_file(target / "car.toml")
    model.export_fmu(target / "car.fmu", outputs=["car.x", "car.vx"], native=False)
    return target


def test_the_car_obeys_its_law_in_each_step(folder: Path) -> None:
    loop = CoSimulation.from_file(folder / "cruise.toml")
    result = loop.simulate()
    assert result.time[-1] == 120.0 and len(result) == 2 * 120 + 1
    # The closed form of the speed over a step, in which the forces are constant.
    fine = loop.simulate(interval=loop.step)
    speed, force, hill = (fine[name] for name in ("car.car.vx", "controller.force", "road.hill"))
    decay = np.exp(-DRAG / MASS * loop.step)
    final = (force[1:] + hill[:-1]) / DRAG
    expected = final + (speed[:-1] - final) * decay
    assert np.abs(speed[1:] - expected)[1:].max() < 2e-5
    assert speed[-1] > (2000.0 - 1700.0) / DRAG  # the speed approaches this value from above


@pytest.mark.thorough
def test_the_limit_falls_in_the_row_after_the_pass(folder: Path) -> None:
    result = CoSimulation.from_file(folder / "cruise.toml").simulate(interval="50 ms")
    (event,) = (event for event in result.events if event.handler.startswith("changes."))
    row = int(np.flatnonzero(result["car.car.x"] > 1500.0)[0])
    assert event.time == pytest.approx(result.time[row], abs=1e-9)
    assert result["controller.limit"][row] == 4000.0 and result["controller.limit"][row + 1] == 2000.0


@pytest.mark.thorough
def test_a_sweep_is_run_and_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(folder)
    sweep = ["sweep", "cruise.toml", "--vary", "controller.gain=400, 1600", "--objective", "min(car.car.vx)"]
    assert main([*sweep, "--series", "-o", "study", "--until", "20 s", "--threads", "1", "-q"]) == 0
    module = runpy.run_path(str(folder / "plot.py"))
    module["main"](folder / "study")
    assert (folder / "cruise_control.png").stat().st_size > 10_000
