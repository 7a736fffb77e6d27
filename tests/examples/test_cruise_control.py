"""The example of a controller in Python beside a scenario."""

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation

HERE = Path(__file__).parents[2] / "examples" / "cruise_control"
DRAG, MASS = 20.0, 1200.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with its FMU."""
    place = tmp_path_factory.mktemp("cruise")
    for path in HERE.iterdir():
        if path.suffix in (".toml", ".py", ".csv"):
            shutil.copy(path, place)
    cosim.Model.from_file(place / "car.toml").export_fmu(
        place / "car.fmu", outputs=["car.x", "car.vx"], native=False
    )
    return place


def test_the_car_does_what_its_forces_want(folder: Path) -> None:
    loop = CoSimulation.from_file(folder / "cruise.toml")
    result = loop.simulate()
    assert result.time[-1] == 120.0 and len(result) == 2 * 120 + 1
    # between two points of the file the law of the car holds, with the force that is held over a step
    fine = loop.simulate(interval=loop.step)
    speed, force, hill = (fine[n] for n in ("car.car.vx", "controller.force", "road.hill"))
    decay = np.exp(-DRAG / MASS * loop.step)
    final = (force[1:] + hill[:-1]) / DRAG
    expected = final + (speed[:-1] - final) * decay
    assert np.abs(speed[1:] - expected)[1:].max() < 2e-5
    assert speed[-1] > (2000.0 - 1700.0) / DRAG  # toward which it falls, and where it has not come yet


@pytest.mark.thorough
def test_the_limit_falls_behind_the_pass(folder: Path) -> None:
    result = CoSimulation.from_file(folder / "cruise.toml").simulate(interval="50 ms")
    (event,) = (e for e in result.events if e.handler.startswith("changes."))
    at = int(np.flatnonzero(result["car.car.x"] > 1500.0)[0])
    assert event.time == pytest.approx(result.time[at], abs=1e-9)
    assert result["controller.limit"][at] == 4000.0 and result["controller.limit"][at + 1] == 2000.0


@pytest.mark.thorough
def test_it_is_swept_and_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(folder)
    words = ["sweep", "cruise.toml", "--vary", "controller.gain=400, 1600", "--objective", "min(car.car.vx)"]
    assert main([*words, "--series", "-o", "study", "--until", "20 s", "--threads", "1", "-q"]) == 0
    module = runpy.run_path(str(folder / "plot.py"))
    module["main"](folder / "study")
    assert (folder / "cruise_control.png").stat().st_size > 10_000
