"""``[output] interval`` and ``decimation``: which communication points are recorded."""

from pathlib import Path

import numpy as np
import pytest
from falling_ball import FallingBall
from scenario_files import LOOP, write_loop

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation


@pytest.mark.few(1)
@pytest.mark.parametrize("output", ['interval = "1 min"', "interval = 60.0", "decimation = 6"])
def test_every_sixth_point_and_the_end_are_recorded(tmp_path: Path, output: str) -> None:
    all_points = CoSimulation.from_file(write_loop(tmp_path)).simulate("1250 s")
    path = write_loop(tmp_path, f"{LOOP}[output]\n{output}\n")
    result = CoSimulation.from_file(path).simulate("1250 s")
    rows = [*range(0, 121, 6), 125]  # the end, too
    assert result.time.tolist() == all_points.time[rows].tolist()
    for name in all_points.names:
        assert result[name].tobytes() == all_points[name][rows].tobytes()
    assert result.coupling.figures() == all_points.coupling.figures()


def test_an_interval_in_python_takes_precedence(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_loop(tmp_path, f"{LOOP}[output]\ndecimation = 6\n"))
    assert len(loop.simulate("120 s", interval="20 s")) == 7
    assert len(loop.simulate("120 s", interval="10 s")) == 13
    assert len(loop.simulate("120 s")) == 3


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("interval = 15.0", "is 15 s, needs a multiple of the communication step, 10 s"),
        ("interval = 0.0", "is 0 s, needs a multiple"),
        ('interval = "1 kg"', "needs a time"),
        ("decimation = 0", "needs a whole number from 1 on"),
        ("decimation = 2.5", "needs a whole number from 1 on"),
        ("decimation = 2\ninterval = 20.0", "says the same as interval"),
    ],
)
def test_wrong_intervals_are_refused(tmp_path: Path, output: str, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=rf"loop\.toml:1\d: output\..*{message}"):
        CoSimulation.from_file(write_loop(tmp_path, f"{LOOP}[output]\n{output}\n"))


def test_files_and_streams_have_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_loop(tmp_path, f'{LOOP}[output]\ninterval = "1 min"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cosim_master.recording.recorder.NUMBERS_IN_PIECE", 64)  # several pieces
    for name in ("x.csv", "x.parquet"):
        assert main(["cosimulate", "loop.toml", "-o", name, "-q"]) == 0
    csv, parquet = cosim.read_result("x.csv"), cosim.read_result("x.parquet")
    assert csv.time.tolist() == [60.0 * i for i in range(21)] == parquet.time.tolist()
    assert csv["room.temperature"].tobytes() == parquet["room.temperature"].tobytes()


def test_events_between_recorded_points_are_recorded() -> None:
    class BouncingBall(FallingBall):
        """A ball that bounces."""

        @cosim.on(FallingBall.floor, does="unrestricted")
        def bounce(speed, speed_next):
            speed_next[0] = -speed

    model = cosim.Model("ball")
    model.add(BouncingBall, "b")
    loop = CoSimulation({"ball": model}, step=0.05)
    all_points = loop.simulate(1.0, record="ball.b.*")
    result = loop.simulate(1.0, record="ball.b.*", interval=0.5)
    jumps = np.flatnonzero(np.diff(all_points.time) == 0.0)
    assert len(jumps) == 1
    assert result.time.tolist() == [0.0, *all_points.time[[jumps[0]] * 2].tolist(), 0.5, 1.0]
