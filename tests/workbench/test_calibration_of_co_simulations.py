"""Parameters of a co-simulation that fit measured signals."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_workbench.studies import Calibration

PARTS = '''\
import cosim


class Tank(cosim.Component):
    """A level with an inflow, and an outflow in proportion to it."""

    inflow = cosim.input(unit="m3/s")
    area = cosim.parameter(unit="m2", default=1.0, minimum=0.0)
    outlet = cosim.parameter(unit="m2/s", default=0.5, minimum=0.0)
    level = cosim.auxiliary_state(unit="m")

    @cosim.kernel
    def rate(inflow, area, outlet, level, level_dot):
        level_dot[0] = (inflow - outlet * level) / area
'''
SCENARIO = """\
connections = ["pump.flow -> tank.inflow"]
[participants.pump]
series = { flow = [[0.0, 2.0], [2.0, 0.5]] }
options = { units = { flow = "m3/s" } }
[participants.tank]
type = "parts:Tank"
[master]
step = 0.1
until = 9.0
[output]
signals = ["tank.level"]
"""
AREA, OUTLET = 1.7, 0.8


def tank_level(times: Any) -> Any:
    """The exact level: an inflow of 2 m3/s until 2 s, of 0.5 m3/s after that."""
    rate = OUTLET / AREA
    filling = 2.0 / OUTLET * (1.0 - np.exp(-rate * times))
    level_at_2 = 2.0 / OUTLET * (1.0 - np.exp(-rate * 2.0))
    after = 0.5 / OUTLET + (level_at_2 - 0.5 / OUTLET) * np.exp(-rate * (times - 2.0))
    return np.where(times < 2.0, filling, after)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text(PARTS, "utf-8")
    (tmp_path / "tank.toml").write_text(SCENARIO, "utf-8")
    times = np.linspace(0.0, 4.0, 21)
    measured = cosim.Result(times, {"tank.level": tank_level(times)}, {"tank.level": "m"})
    measured.to_csv(tmp_path / "measured.csv")
    return tmp_path / "tank.toml"


UNKNOWNS = {"tank.area": "0.5 m2..4 m2", "tank.outlet": (0.1, 3.0)}


@pytest.mark.thorough
def test_a_scenario_file_is_calibrated(scenario: Path) -> None:
    measured = scenario.with_name("measured.csv")
    calibration = Calibration(scenario, UNKNOWNS, measured, ["tank.level"], threads=1)
    assert [(u.path, u.start) for u in calibration.unknowns] == [("tank.area", 1.0), ("tank.outlet", 0.5)]
    fit = calibration.fit()
    assert fit.is_converged
    assert fit.values["tank.area"] == pytest.approx(AREA, rel=1e-4)
    assert fit.values["tank.outlet"] == pytest.approx(OUTLET, rel=1e-4)
    assert fit.units == {"tank.area": "m2", "tank.outlet": "m2/s", "tank.level": "m"}
    with pytest.raises(cosim.CosimError, match="write the values"):
        fit.apply()


@pytest.mark.thorough
def test_a_co_simulation_is_calibrated_between_communication_points(scenario: Path) -> None:
    """Measured at other times than those of the exchanges; the values of the fit become start values."""
    loop = CoSimulation.from_file(scenario)
    loop.set_start("tank.area", "1.7 m2")
    times = np.array([0.05, 0.43, 0.99, 1.51, 2.53, 3.37])
    data = cosim.Result(times, {"height": tank_level(times) * 1000.0}, {"height": "mm"})
    fit = Calibration(loop, {"tank.outlet": (0.1, 3.0)}, data, {"tank.level": "height"}, threads=1).fit()
    assert fit.is_converged
    fit.apply()
    assert loop.start_values["tank"]["outlet"] == fit.values["tank.outlet"]
    assert fit.values["tank.outlet"] == pytest.approx(OUTLET, rel=1e-3)
    with pytest.raises(cosim.ModelError, match="Nearest: area"):
        loop.set_start("tank.aria", 1.0)


@pytest.mark.thorough
def test_the_command_calibrates_a_scenario(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scenario.parent)
    words = ["calibrate", "tank.toml", "--data", "measured.csv", "--threads", "1"]
    words += ["--fit", "tank.outlet=0.1..3 m2/s", "--fit", "tank.area=0.5..4 m2", "-o", "fit.csv"]
    assert main(words) == 0
    assert "tank.outlet  0.8" in capsys.readouterr().out
    compared = cosim.read_result("fit.csv")
    assert np.abs(compared["tank.level"] - compared["tank.level measured"]).max() < 1e-4


@pytest.mark.parametrize(
    ("unknowns", "signals", "settings", "message"),
    [
        ({"tank.outlett": (1, 2)}, ["tank.level"], {}, "Nearest: outlet"),
        ({"tank.outlet": (1, 2)}, {"tank.levl": "tank.level"}, {}, "Nearest: level"),
        ({"tank.outlet": (1, 2)}, ["tank.level"], {"accuracy": 1e-3}, "belongs to the co-simulation"),
    ],
)
def test_wrong_arguments(scenario: Path, unknowns: Any, signals: Any, settings: Any, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        Calibration(scenario, unknowns, scenario.with_name("measured.csv"), signals, **settings)


@pytest.mark.thorough
def test_a_failing_start_of_a_calibration_is_an_error(scenario: Path) -> None:
    parts = scenario.with_name("parts.py")
    code = parts.read_text("utf-8").replace("(inflow -", "1e300 * 1e300 * (inflow -")
    parts.write_text(code, "utf-8")
    calibration = Calibration(
        scenario, {"tank.outlet": (0.1, 3.0)}, scenario.with_name("measured.csv"), ["tank.level"], threads=1
    )
    with pytest.raises(cosim.SimulationError, match="where it begins"):
        calibration.fit()
    assert "parts" not in sys.modules
