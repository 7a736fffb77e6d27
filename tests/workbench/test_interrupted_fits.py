"""Ctrl-C and SIGTERM in the middle of a fit or an optimization: what was computed is printed and written."""

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

ENDS = [(KeyboardInterrupt(), 130), (Terminated("terminated"), 143)]
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


def after(calls: int, function: Any, end: BaseException) -> Any:
    """The function, which raises when it is called once more than that."""
    count = [0]

    def counted(*given: Any, **named: Any) -> Any:
        count[0] += 1
        if count[0] > calls:
            raise end
        return function(*given, **named)

    return counted


@pytest.mark.parametrize(("end", "status"), ENDS)
def test_the_best_values_of_a_fit_are_kept(
    end: BaseException,
    status: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["calibrate", "wave.toml", "--data", "data.csv", *FIT, "-o", "fit.csv"]
    monkeypatch.setattr(ModelFitRuns, "differentiate", after(2, ModelFitRuns.differentiate, end))
    assert main([*words, "--json"]) == status
    reported = json.loads(capsys.readouterr().out)["result"]
    assert reported["converged"] is False and reported["doubts"] == []
    values = [each["value"] for each in reported["parameters"].values()]
    kept = cosim.read_result(folder / "fit.csv")
    first = [math.sin(2.0 * t + 0.5) for t in kept.time]
    remains = [float(((kept["wave"] - kept["wave measured"]) ** 2).sum())]
    assert remains[0] < sum((kept["wave measured"] - first) ** 2)  # that of the values of the file
    assert kept["wave"] == pytest.approx(
        [values[0] * math.sin(2.0 * t + values[1]) for t in kept.time], abs=1e-6
    )


def test_an_end_before_the_first_run_has_nothing_to_keep(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ModelFitRuns, "differentiate", after(0, ModelFitRuns.differentiate, ENDS[0][0]))
    assert main(["calibrate", "wave.toml", "--data", "data.csv", *FIT, "-o", "fit.csv"]) == 130
    assert not Path("fit.csv").exists() and "the best so far" not in capsys.readouterr().out


def test_starts_that_have_ended_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first runs of an ensemble that is interrupted."""
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


@pytest.mark.parametrize(("end", "status"), ENDS)
@pytest.mark.parametrize("runs", [0, 1])
def test_the_table_of_an_optimization_has_all_points_that_were_tried(
    end: BaseException,
    status: int,
    runs: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With those of the generation that was running."""
    run = ModelRuns.run

    def ended(self: Any, columns: Any, count: int, pool: Any, tell: Any, keep: Any) -> None:
        if ended.calls == runs:  # type: ignore[attr-defined]
            run(self, {name: column[:3] for name, column in columns.items()}, 3, pool, tell, keep)
            raise end
        ended.calls += 1  # type: ignore[attr-defined]
        run(self, columns, count, pool, tell, keep)

    ended.calls = 0  # type: ignore[attr-defined]
    monkeypatch.setattr(ModelRuns, "run", ended)
    words = ["optimize", "wave.toml", "--vary", "wave.amplitude=0.5..4", "--minimize", "max(wave)"]
    assert main([*words, "--runs", "60", "-o", "tried.csv"]) == status
    said = capsys.readouterr()
    assert "interrupted" in said.out and "all points → tried.csv" in said.out
    rows = [line.split(",") for line in Path("tried.csv").read_text().splitlines()]
    assert rows[0] == ['"wave.amplitude"', '"max(wave)"'] and len(rows) == 1 + 8 * runs + 3
    amplitudes, peaks = zip(*((float(a), float(b)) for a, b in rows[1:]), strict=True)
    assert peaks == pytest.approx([a * math.sin(1.5) for a in amplitudes], rel=1e-2)
