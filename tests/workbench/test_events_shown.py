"""Events as a table, as a picture, as lines; checkpoints of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from falling_ball import FallingBall
from optional_packages import needs_packages

import cosim
from cosim import kit
from cosim.cli import main

pytestmark = needs_packages("pandas")


class Ball(FallingBall):
    """A ball on a floor."""

    bounces = cosim.discrete(dtype=int)
    marks = cosim.discrete(shape=1)

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, bounces, speed_next, bounces_next):
        speed_next[0] = -0.5 * speed
        bounces_next[0] = bounces + 1


@pytest.fixture
def with_balls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder with a model file, and a plugin that has its ball."""
    monkeypatch.chdir(tmp_path)
    text = '[model]\nname = "ball"\n[components.ball]\ntype = "toys.ball"\n[simulation]\nuntil = 1.5\n'
    (tmp_path / "ball.toml").write_text(text, "utf-8")
    ours = [r for r in cosim.registry().plugins if r.status == "loaded"]
    entry = kit.RegisteredClass("toys.ball", Ball, "toys", "toys", "1.0")
    toys = kit.PluginRecord("toys", "toys", "1.0", "toys", "loaded", None, (entry,))
    with kit.use_registry(kit.Registry([*ours, toys])):
        yield tmp_path


def simulated(until: float = 1.0) -> cosim.Result:
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    return model.simulate(until=until, accuracy=1e-6)


def test_table() -> None:
    table = simulated().events_to_pandas()
    first = table.iloc[0]
    assert list(table["handler"]) == ["ball.bounce"] * 2
    assert (first["cause"], first["name"], first["owner"]) == ("triggered", "floor", "ball")
    assert first["window_start"] <= first["window_end"] == first["time"]
    assert first["witness_before"] > 0.0 >= first["witness_after"]
    assert first["status"] == "succeeded"
    assert first["duration"] == 0.0  # only Python methods are timed
    assert first["changed"].startswith("ball.speed: -4.42945 → 2.21472, ball.bounces: 0 → 1")
    assert list(simulated(0.1).events_to_pandas().columns) == list(table.columns)


def test_table_in_a_file(tmp_path: Path) -> None:
    sink = cosim.registry().get("result_sink", "workbench.event_table")()
    lines = sink.write(simulated(), tmp_path / "ball.events").read_text("utf-8").splitlines()
    assert lines[0].split("\t")[:3] == ["time", "cause", "name"]
    assert len(lines) == 3


def test_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = simulated()
    figure = result.plot_events("ball.height")
    lines = [line for line in figure.axes[0].lines if line.get_zorder() == 0]
    assert [line.get_xdata()[0] for line in lines] == [event.time for event in result.events]
    assert "2 × ball.bounce" in [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert result.plot_events(path=tmp_path / "ball.png").stat().st_size > 1000


def test_trace_and_summary(with_balls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "ball.toml", "--trace", "events"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert float(said[0].split()[0]) == pytest.approx((2.0 / 9.81) ** 0.5, abs=1e-8)
    assert said[0].split()[1:6] == ["s", "triggered", "ball.bounce", "on", "floor"]
    assert any("zeno" in line and "ball.floor fires ever faster" in line for line in said)
    assert any(line.startswith("events") and "× ball.bounce" in line for line in said)
    assert any(line.startswith("noticed") for line in said)


def test_checkpoint_and_resume(with_balls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "ball.toml", "-q", "--until", "1.2", "--checkpoint", "whole.state"]) == 0
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state"]) == 0
    arguments = ["--resume", "half.state", "--checkpoint", "end.state", "--checkpoint-every", "1 ms"]
    assert main(["run", "ball.toml", "-q", "--until", "1.2", *arguments]) == 0
    system = cosim.Model.from_file(with_balls / "ball.toml").build()
    whole, end = (cosim.read_checkpoint(system, with_balls / f"{n}.state") for n in ("whole", "end"))
    assert end.time == whole.time == 1.2
    assert end["ball.bounces"] == whole["ball.bounces"] == 3
    assert end["ball.height"] == pytest.approx(whole["ball.height"], abs=1e-6)
    assert sorted(p.name for p in with_balls.iterdir()) == [
        *("ball.csv", "ball.toml", "end.state", "half.state", "whole.state"),
    ]


@pytest.mark.parametrize(
    ("until", "output", "status", "text"),
    [
        ("0.7", "ball.csv", 0, "the run had ended at t = 0.7 s: nothing is left to do"),
        ("0.7", "none.csv", 2, "--resume: half.state was made at t = 0.7 s, and the run ends at 0.7 s"),
        ("0.3", "ball.csv", 2, "and the run ends at 0.3 s: name a later end with --until"),
        ("0.3", "none.csv", 2, "and the run ends at 0.3 s: name a later end with --until"),
        ("700.1 ms", "ball.csv", 0, "results go on behind those up to t = 0.7 s"),
    ],
)
def test_resuming_at_the_end(
    until: str, output: str, status: int, text: str, with_balls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state"]) == 0
    before = (with_balls / "ball.csv").read_bytes()
    words = ["run", "ball.toml", "--until", until, "--resume", "half.state", "-o", output]
    assert main(words) == status
    assert text in capsys.readouterr().err
    assert not (with_balls / "none.csv").exists()
    if until != "700.1 ms":
        assert (with_balls / "ball.csv").read_bytes() == before
    else:
        assert cosim.read_result(with_balls / "ball.csv").time[-1] == pytest.approx(0.7001)


def test_results_of_a_resumed_run_go_on_behind_those_before(
    with_balls: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = ["--fixed-step", "10 ms", "--integrator", "runge_kutta_4"]
    assert main(["run", "ball.toml", "-q", "--until", "1.5", "-o", "whole.csv", *grid]) == 0
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state", *grid]) == 0
    assert main(["run", "ball.toml", "--until", "1.5", "--resume", "half.state", *grid]) == 0
    assert "t = 0.7 s in ball.csv" in capsys.readouterr().err
    sink = cosim.registry().get("result_sink", "workbench.csv")()
    whole, parts = (sink.read(with_balls / f"{name}.csv") for name in ("whole", "ball"))
    assert parts.time[0] == 0.0 and parts.time[-1] == 1.5
    assert (np.diff(parts.time) >= 0.0).all()
    late = parts.time > 0.7
    assert np.allclose(parts.time[late], whole.time[whole.time > 0.7], rtol=0.0, atol=1e-9)
    assert np.allclose(parts["ball.height"][late], whole["ball.height"][whole.time > 0.7], atol=1e-7)
    other = ["--resume", "half.state", "-o", "other.csv"]
    assert main(["run", "ball.toml", "--until", "1.5", *other]) == 2  # without the options of the first part
    assert "another integrator" in capsys.readouterr().err
    assert main(["run", "ball.toml", "--until", "1.5", *other, *grid]) == 0
    assert "t = 0.7 s: other.csv" in capsys.readouterr().err
    assert sink.read(with_balls / "other.csv").time[0] == 0.7


def test_derivatives_of_a_resumed_run_go_on(with_balls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by = ["--derivatives", "ball.height, ball.speed"]
    grid = ["-q", "--integrator", "runge_kutta_4", "--fixed-step", "1 ms", *by]
    assert main(["run", "ball.toml", "--until", "1.5", "-o", "whole.csv", *grid]) == 0
    assert main(["run", "ball.toml", "--until", "0.7", "--checkpoint", "half.state", *grid]) == 0
    assert main(["run", "ball.toml", "--until", "1.5", "--resume", "half.state", *grid]) == 0
    whole, parts = (cosim.read_result(with_balls / f"{name}.csv") for name in ("whole", "ball"))
    for path in ("ball.height", "ball.speed"):
        found = parts.derivative("ball.height", path)[parts.time > 0.7]
        assert found == pytest.approx(whole.derivative("ball.height", path)[whole.time > 0.7], rel=1e-9)
    assert whole.derivative("ball.height", "ball.height")[0] == 1.0
    assert main(["run", "ball.toml", "-q", "--until", "1.5", "--resume", "half.state"]) == 2
    assert main(["run", "ball.toml", "-q", "--derivatives", "ball.weight"]) == 2
    assert "ball.weight" in capsys.readouterr().err
    assert main(["run", "ball.toml", *grid, "--verify"]) == 2


def test_a_checkpoint_between_two_points_of_the_output_is_resumed_without_a_gap(with_balls: Path) -> None:
    grid = ["-q", "--fixed-step", "1 ms", "--integrator", "runge_kutta_4"]
    model = with_balls / "grid.toml"
    model.write_text((with_balls / "ball.toml").read_text() + 'output = { interval = "10 ms" }\n')
    assert main(["run", "grid.toml", "--until", "0.5", "-o", "whole.csv", *grid]) == 0
    assert main(["run", "grid.toml", "--until", "0.203", "--checkpoint", "part.state", *grid]) == 0
    part = with_balls / "grid.csv"  # a kill leaves it so: up to 0.2 s
    part.write_text("".join(part.read_text().splitlines(keepends=True)[:-1]))
    assert main(["run", "grid.toml", "--until", "0.5", "--resume", "part.state", *grid]) == 0
    sink = cosim.registry().get("result_sink", "workbench.csv")()
    whole, joined = sink.read(with_balls / "whole.csv"), sink.read(part)
    assert np.allclose(joined.time, whole.time, rtol=0.0, atol=1e-12)
    assert np.allclose(joined["ball.height"], whole["ball.height"], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda text: text[: len(text) // 3].rpartition("\n")[0] + "\n", "they end at t = "),
        (lambda text: text.replace("ball.height", "ball.depth"), "other signals"),
        (lambda text: text.rpartition("\n0.7,")[0] + "\n0.7" + 4 * ",9.0" + "\n", "other values there"),
        (lambda text: "a letter\n", "is not a result"),
    ],
)
def test_a_resumed_run_replaces_no_other_results(
    with_balls: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[str], str], why: str
) -> None:
    grid = ["--fixed-step", "10 ms", "--integrator", "runge_kutta_4"]
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state", *grid]) == 0
    other = spoil((with_balls / "ball.csv").read_text())
    (with_balls / "ball.csv").write_text(other)
    assert main(["run", "ball.toml", "-q", "--until", "1.5", "--resume", "half.state", *grid]) == 2
    message = capsys.readouterr().err
    assert "up to t = 0.7" in message and why in message
    assert (with_balls / "ball.csv").read_text() == other


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--resume", "none.state"], "none.state: cannot be read"),
        (["--resume", "ball.toml"], "ball.toml: these are not the bytes of a State"),
        (["--checkpoint", "none/a.state"], "none/a.state: a checkpoint cannot be written there"),
        (["--checkpoint", "a", "--checkpoint-every", "0 s"], "--checkpoint-every"),
    ],
)
def test_bad_checkpoints(with_balls: Path, capsys: pytest.CaptureFixture[str], arguments, text) -> None:
    assert main(["run", "ball.toml", *arguments]) != 0
    said = capsys.readouterr()
    assert text in said.err
    assert "Traceback" not in said.err
