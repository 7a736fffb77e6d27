"""Ctrl-C and SIGTERM during a fit or an optimization: what was computed is printed and written."""

import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.cli import main
from cosim.simulation.interrupt import Terminated
from cosim_workbench.studies import Calibration
from cosim_workbench.studies.model_fit_runs import ModelFitRuns
from cosim_workbench.studies.model_runs import ModelRuns

INTERRUPTIONS = [(KeyboardInterrupt(), 130), (Terminated("terminated"), 143)]
MODEL = """[components.wave]
type = "measures.sinusoid"
amplitude = 1.0
frequency = 2.0
phase = 0.5
[simulation]
until = 1.0
"""
FIT = ["--signal", "wave=seen", "--fit", "wave.amplitude=0.5..4", "--fit", "wave.phase=0..1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model and data: twice its wave, with another phase."""
    monkeypatch.chdir(tmp_path)
    Path("wave.toml").write_text(MODEL)
    rows = [f"{i / 8},{2.0 * math.sin(2.0 * i / 8 + 0.25) + 0.01 * (-1) ** i}" for i in range(9)]
    Path("data.csv").write_text("\n".join(["time,seen", *rows, ""]))
    return tmp_path


def raising_after(calls: int, function: Any, exception: BaseException) -> Any:
    """The function, which raises an exception once it has been called so many times."""
    remaining = iter(range(calls))

    def counted(*arguments: Any, **options: Any) -> Any:
        if next(remaining, None) is None:
            raise exception
        return function(*arguments, **options)

    return counted


@pytest.mark.parametrize(("exception", "status"), INTERRUPTIONS)
def test_an_interrupted_fit_writes_its_best_values(
    exception: BaseException,
    status: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["calibrate", "wave.toml", "--data", "data.csv", *FIT, "-o", "fit.csv"]
    monkeypatch.setattr(
        ModelFitRuns, "differentiate", raising_after(2, ModelFitRuns.differentiate, exception)
    )
    assert main([*words, "--json"]) == status
    reported = json.loads(capsys.readouterr().out)["result"]
    assert reported["converged"] is False and reported["doubts"] == []
    values = [parameter["value"] for parameter in reported["parameters"].values()]
    table = cosim.read_result(folder / "fit.csv")
    start_values = [math.sin(2.0 * t + 0.5) for t in table.time]  # of the model file
    best = ((table["wave"] - table["wave measured"]) ** 2).sum()
    assert best < ((table["wave measured"] - start_values) ** 2).sum()
    assert table["wave"] == pytest.approx(
        [values[0] * math.sin(2.0 * t + values[1]) for t in table.time], abs=1e-6
    )


def test_an_interruption_before_the_first_run_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        ModelFitRuns, "differentiate", raising_after(0, ModelFitRuns.differentiate, INTERRUPTIONS[0][0])
    )
    assert main(["calibrate", "wave.toml", "--data", "data.csv", *FIT, "-o", "fit.csv"]) == 130
    assert not Path("fit.csv").exists() and "the best so far" not in capsys.readouterr().out


def test_starts_that_have_ended_before_an_interruption_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ensemble of the first runs is interrupted after three of them."""
    calibration = Calibration(
        cosim.Model.from_file(folder / "wave.toml"),
        {"wave.amplitude": "0.5..4", "wave.phase": "0..1"},
        folder / "data.csv",
        {"wave": "seen"},
        threads=1,
    )

    def press(ended: int, runs: int) -> None:
        if ended >= 3:
            signal.raise_signal(signal.SIGINT)

    run = type(calibration.runs_of._ensemble).run
    monkeypatch.setattr(
        type(calibration.runs_of._ensemble), "run", lambda self, values: run(self, values, progress=press)
    )
    with pytest.raises(KeyboardInterrupt) as caught:
        calibration.fit(starts=5000)
    best = caught.value.result
    assert best.is_interrupted and not best.is_converged and set(best.standard_errors.values()) == {math.inf}
    assert best.deviations["wave"] < 1.5 and "the best so far" in str(best)


@pytest.mark.parametrize(("exception", "status"), INTERRUPTIONS)
@pytest.mark.parametrize("runs", [0, 1])
def test_an_interrupted_optimization_writes_all_points_that_were_tried(
    exception: BaseException,
    status: int,
    runs: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """After `runs` generations of 8 points, and 3 points of the next generation."""
    run, generations = ModelRuns.run, iter(range(runs))

    def interrupted(self: Any, columns: Any, count: int, pool: Any, tell: Any, keep: Any) -> None:
        if next(generations, None) is None:
            run(self, {name: column[:3] for name, column in columns.items()}, 3, pool, tell, keep)
            raise exception
        run(self, columns, count, pool, tell, keep)

    monkeypatch.setattr(ModelRuns, "run", interrupted)
    words = ["optimize", "wave.toml", "--vary", "wave.amplitude=0.5..4", "--minimize", "max(wave)"]
    assert main([*words, "--runs", "60", "-o", "tried.csv"]) == status
    output = capsys.readouterr()
    assert "interrupted" in output.out and "all points → tried.csv" in output.out
    rows = [line.split(",") for line in Path("tried.csv").read_text().splitlines()]
    assert rows[0] == ['"wave.amplitude"', '"max(wave)"'] and len(rows) == 1 + 8 * runs + 3
    amplitudes, peaks = zip(*((float(a), float(b)) for a, b in rows[1:]), strict=True)
    assert peaks == pytest.approx([a * math.sin(1.5) for a in amplitudes], rel=1e-2)
