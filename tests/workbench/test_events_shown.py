"""Events of a result as a table, as a picture and as lines of a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from ball_plugin import Ball
from optional_packages import needs_packages

import cosim
from cosim.cli import main

pytestmark = needs_packages("pandas")


def simulated(until: float = 1.0) -> cosim.Result:
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    return model.simulate(until=until, accuracy=1e-6)


def test_a_table_has_a_row_for_each_event() -> None:
    table = simulated().events_to_pandas()
    bounce = table.iloc[0]
    assert list(table["handler"]) == ["ball.bounce"] * 2
    assert (bounce["cause"], bounce["name"], bounce["owner"]) == ("triggered", "floor", "ball")
    assert bounce["window_start"] <= bounce["window_end"] == bounce["time"]
    assert bounce["witness_before"] > 0.0 >= bounce["witness_after"]
    assert bounce["status"] == "succeeded"
    assert bounce["duration"] == 0.0  # the time of compiled handlers is not measured
    assert bounce["changed"].startswith("ball.speed: -4.42945 → 2.21472, ball.bounces: 0 → 1")
    assert list(simulated(0.1).events_to_pandas().columns) == list(table.columns)


def test_the_table_as_a_file(tmp_path: Path) -> None:
    sink = cosim.registry().get("result_sink", "workbench.event_table")()
    lines = sink.write(simulated(), tmp_path / "ball.events").read_text("utf-8").splitlines()
    assert lines[0].split("\t")[:3] == ["time", "cause", "name"]
    assert len(lines) == 3


def test_a_picture_marks_the_events(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = simulated()
    figure = result.plot_events("ball.height")
    lines = [line for line in figure.axes[0].lines if line.get_zorder() == 0]
    assert [line.get_xdata()[0] for line in lines] == [event.time for event in result.events]
    assert "2 × ball.bounce" in [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert result.plot_events(path=tmp_path / "ball.png").stat().st_size > 1000


def test_the_trace_and_the_summary_of_a_run(ball_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "ball.toml", "--trace", "events"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0].split()[0]) == pytest.approx((2.0 / 9.81) ** 0.5, abs=1e-8)
    assert lines[0].split()[1:6] == ["s", "triggered", "ball.bounce", "on", "floor"]
    assert any("zeno" in line and "ball.floor fires ever faster" in line for line in lines)
    assert any(line.startswith("events") and "× ball.bounce" in line for line in lines)
    assert any(line.startswith("noticed") for line in lines)
