"""CSV files that grow while a run goes on."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim.kit import ResultStream, result_sink
from cosim_workbench.run_command import _is_streamed


def piece(first: int, end: int, unfinished: str = "") -> cosim.Result:
    times = np.arange(first, end) / 8.0
    signals: dict[str, Any] = {"x": times / 3.0, "said": [f'"{time}"' for time in times]}
    return cosim.Result(times, signals, unfinished=unfinished)


def stream(path: Path) -> ResultStream:
    return result_sink(path).stream(path)


def test_pieces_make_the_file_of_the_whole(tmp_path: Path) -> None:
    path, whole = tmp_path / "run.csv", piece(0, 9).to_csv(tmp_path / "whole.csv").read_bytes()
    path.write_text("precious")
    parts = stream(path)
    assert path.read_text() == "precious"
    for first, end in ((0, 1), (1, 4), (4, 4), (4, 9)):
        parts.append(piece(first, end))
        so_far = cosim.read_result(path)
        assert (len(so_far), so_far.unfinished) == (end, "the run has not ended")
    parts.close(piece(8, 9))
    assert path.read_bytes() == whole


@pytest.mark.parametrize("rows", [0, 3])
def test_the_end_says_why_rows_are_missing(tmp_path: Path, rows: int) -> None:
    parts = stream(tmp_path / "run.csv")
    if rows:
        parts.append(piece(0, rows))
    parts.close(piece(0, 0, "the spring broke"))
    found = cosim.read_result(tmp_path / "run.csv")
    assert (len(found), found.unfinished) == (rows, "the spring broke")


def test_a_run_without_rows(tmp_path: Path) -> None:
    stream(tmp_path / "run.csv").close(piece(0, 0))
    assert (tmp_path / "run.csv").read_text() == '"time","x","said"\n'


def test_a_pipe_does_not_grow(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.csv")
    with pytest.raises(cosim.CosimError, match="run.csv.*written"):
        stream(tmp_path / "run.csv")


MODEL = """
[simulation]
until = 2.0
output.interval = 0.01
[bodies.ball]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
[joints.flight]
type = "free"
child = "ball"
"""


@pytest.mark.parametrize("failing", [False, True])
def test_a_long_run_is_written_while_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failing: bool
) -> None:
    def in_small_bites(simulator: cosim.Simulator, until: float) -> Any:
        if failing and seen_before and simulator.state.time > 1.0:
            raise cosim.SimulationError(simulator.state.time, "the spring broke")
        seen.append(path.read_bytes().splitlines()[-1] if path.exists() else b"")
        return simulator.advance_to(min(until, simulator.state.time + 0.25))

    (tmp_path / "ball.toml").write_text(MODEL)
    monkeypatch.setattr("cosim.simulation.simulator.Simulator.advance_some", in_small_bites)
    path, seen, seen_before = tmp_path / "ball.csv", list[bytes](), list[bytes]()
    command = ["run", str(tmp_path / "ball.toml"), "-o", str(path)]
    assert main(command) == 0
    whole = path.read_bytes()
    path.unlink()
    seen_before, seen = seen, []
    monkeypatch.setattr("cosim_workbench.run_command.LONG_RUN", 100)
    monkeypatch.setattr("cosim.simulation.recorder.VALUES", 1)
    monkeypatch.setattr("cosim.simulation.recorder.ROWS", 1)
    assert main(command) == (1 if failing else 0)
    assert len(seen_before) > 4 and len(seen) > 4
    assert set(seen[1:]) == {b"# not whole: the run has not ended"}
    if failing:
        found = cosim.read_result(path)
        assert found.time[-1] > 1.0 and "the spring broke" in found.unfinished
        assert path.read_bytes().splitlines()[:100] == whole.splitlines()[:100]
    else:
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("settings", "is_streamed"),
    [
        ({"until": 1.0}, False),
        ({"until": 1.0, "output_interval": 1e-5}, False),
        ({"until": 1.0 + 2e-5, "output_interval": 1e-5}, True),
        ({"until": "2 s", "output_interval": "10 us"}, True),
    ],
)
def test_long_runs_are_streamed(settings: dict[str, Any], is_streamed: bool, tmp_path: Path) -> None:
    for name, expected in (("run.csv", is_streamed), ("run.parquet", True)):
        assert _is_streamed(result_sink(Path(name)), tmp_path / name, settings) == expected
    os.mkfifo(tmp_path / "pipe.csv")
    assert not _is_streamed(result_sink(Path("pipe.csv")), tmp_path / "pipe.csv", settings)
