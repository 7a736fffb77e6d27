"""CSV files that grow while a run goes on."""

import math
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
    """The rows from `first` to before `end` of a result with numbers and texts."""
    times = np.arange(first, end) / 8.0
    signals: dict[str, Any] = {"x": times / 3.0, "said": [f'"{time}"' for time in times]}
    return cosim.Result(times, signals, unfinished=unfinished)


def stream(path: Path) -> ResultStream:
    return result_sink(path).stream(path)


def test_a_file_of_pieces_has_the_bytes_of_one_that_is_written_at_once(tmp_path: Path) -> None:
    path, expected = tmp_path / "run.csv", piece(0, 9).to_csv(tmp_path / "whole.csv").read_bytes()
    path.write_text("precious")
    growing_file = stream(path)
    assert path.read_text() == "precious"
    for first, end in ((0, 1), (1, 4), (4, 4), (4, 9)):
        growing_file.append(piece(first, end))
        so_far = cosim.read_result(path)
        assert (len(so_far), so_far.unfinished) == (end, "the run has not ended")
    growing_file.close(piece(8, 9))
    assert path.read_bytes() == expected


@pytest.mark.parametrize("rows", [0, 3])
def test_the_end_says_why_rows_are_missing(tmp_path: Path, rows: int) -> None:
    growing_file = stream(tmp_path / "run.csv")
    if rows:
        growing_file.append(piece(0, rows))
    growing_file.close(piece(0, 0, "the spring broke"))
    result = cosim.read_result(tmp_path / "run.csv")
    assert (len(result), result.unfinished) == (rows, "the spring broke")


def test_a_run_without_rows(tmp_path: Path) -> None:
    stream(tmp_path / "run.csv").close(piece(0, 0))
    assert (tmp_path / "run.csv").read_text() == '"time","x","said"\n'


def test_a_pipe_is_refused(tmp_path: Path) -> None:
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


class ShortCalls:
    """In place of `Simulator.advance_some`: calls of 0.25 s, before each of which the file is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last_lines: list[bytes] = []
        self.fails_at = math.inf

    def __call__(self, simulator: cosim.Simulator, until: float) -> Any:
        time = simulator.state.time
        if time > self.fails_at:
            raise cosim.SimulationError(time, "the spring broke")
        self.last_lines.append(self.path.read_bytes().splitlines()[-1] if self.path.exists() else b"")
        return simulator.advance_to(min(until, time + 0.25))


@pytest.mark.parametrize("fails", [False, True])
def test_a_long_run_is_written_while_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fails: bool
) -> None:
    path = tmp_path / "ball.csv"
    advance = ShortCalls(path)
    monkeypatch.setattr(
        "cosim.simulation.simulator.Simulator.advance_some", lambda *arguments: advance(*arguments)
    )
    (tmp_path / "ball.toml").write_text(MODEL)
    command = ["run", str(tmp_path / "ball.toml"), "-o", str(path)]

    # as a short run, which is written at its end
    assert main(command) == 0
    expected = path.read_bytes()
    assert len(advance.last_lines) > 4
    path.unlink()

    # as a long one, of which each row is written at once
    monkeypatch.setattr("cosim_workbench.run_command.LONG_RUN", 100)
    monkeypatch.setattr("cosim.simulation.recorder.VALUES", 1)
    monkeypatch.setattr("cosim.simulation.recorder.ROWS", 1)
    advance.last_lines.clear()
    advance.fails_at = 1.0 if fails else math.inf
    assert main(command) == (1 if fails else 0)
    assert len(advance.last_lines) > 4
    assert set(advance.last_lines[1:]) == {b"# not whole: the run has not ended"}
    if fails:
        result = cosim.read_result(path)
        assert result.time[-1] > 1.0 and "the spring broke" in result.unfinished
        assert path.read_bytes().splitlines()[:100] == expected.splitlines()[:100]
    else:
        assert path.read_bytes() == expected


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
