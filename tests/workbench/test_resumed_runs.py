"""`cosim run --checkpoint` and `--resume`: results continue, and no results of others are replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim.cli import main


def test_a_resumed_run_ends_with_the_state_of_an_uninterrupted_one(
    ball_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "ball.toml", "-q", "--until", "1.2", "--checkpoint", "whole.state"]) == 0
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state"]) == 0
    arguments = ["--resume", "half.state", "--checkpoint", "end.state", "--checkpoint-every", "1 ms"]
    assert main(["run", "ball.toml", "-q", "--until", "1.2", *arguments]) == 0
    system = cosim.Model.from_file(ball_folder / "ball.toml").build()
    whole, end = (cosim.read_checkpoint(system, ball_folder / f"{n}.state") for n in ("whole", "end"))
    assert end.time == whole.time == 1.2
    assert end["ball.bounces"] == whole["ball.bounces"] == 3
    assert end["ball.height"] == pytest.approx(whole["ball.height"], abs=1e-6)
    assert sorted(p.name for p in ball_folder.iterdir()) == [
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
    until: str, output: str, status: int, text: str, ball_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state"]) == 0
    before = (ball_folder / "ball.csv").read_bytes()
    words = ["run", "ball.toml", "--until", until, "--resume", "half.state", "-o", output]
    assert main(words) == status
    assert text in capsys.readouterr().err
    assert not (ball_folder / "none.csv").exists()
    if until != "700.1 ms":
        assert (ball_folder / "ball.csv").read_bytes() == before
    else:
        assert cosim.read_result(ball_folder / "ball.csv").time[-1] == pytest.approx(0.7001)


def test_results_of_a_resumed_run_continue(ball_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = ["--fixed-step", "10 ms", "--integrator", "runge_kutta_4"]
    assert main(["run", "ball.toml", "-q", "--until", "1.5", "-o", "whole.csv", *grid]) == 0
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state", *grid]) == 0
    assert main(["run", "ball.toml", "--until", "1.5", "--resume", "half.state", *grid]) == 0
    assert "t = 0.7 s in ball.csv" in capsys.readouterr().err
    sink = cosim.registry().get("result_sink", "workbench.csv")()
    uninterrupted, joined = (sink.read(ball_folder / f"{name}.csv") for name in ("whole", "ball"))
    assert joined.time[0] == 0.0 and joined.time[-1] == 1.5
    assert (np.diff(joined.time) >= 0.0).all()
    late = joined.time > 0.7
    assert np.allclose(joined.time[late], uninterrupted.time[uninterrupted.time > 0.7], rtol=0.0, atol=1e-9)
    assert np.allclose(
        joined["ball.height"][late], uninterrupted["ball.height"][uninterrupted.time > 0.7], atol=1e-7
    )
    to_another_file = ["--resume", "half.state", "-o", "other.csv"]
    assert (
        main(["run", "ball.toml", "--until", "1.5", *to_another_file]) == 2
    )  # without the options of the first part
    assert "another integrator" in capsys.readouterr().err
    assert main(["run", "ball.toml", "--until", "1.5", *to_another_file, *grid]) == 0
    assert "t = 0.7 s: other.csv" in capsys.readouterr().err
    assert sink.read(ball_folder / "other.csv").time[0] == 0.7


def test_derivatives_of_a_resumed_run_continue(ball_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by = ["--derivatives", "ball.height, ball.speed"]
    grid = ["-q", "--integrator", "runge_kutta_4", "--fixed-step", "1 ms", *by]
    assert main(["run", "ball.toml", "--until", "1.5", "-o", "whole.csv", *grid]) == 0
    assert main(["run", "ball.toml", "--until", "0.7", "--checkpoint", "half.state", *grid]) == 0
    assert main(["run", "ball.toml", "--until", "1.5", "--resume", "half.state", *grid]) == 0
    uninterrupted, joined = (cosim.read_result(ball_folder / f"{name}.csv") for name in ("whole", "ball"))
    for path in ("ball.height", "ball.speed"):
        slopes = joined.derivative("ball.height", path)[joined.time > 0.7]
        assert slopes == pytest.approx(
            uninterrupted.derivative("ball.height", path)[uninterrupted.time > 0.7], rel=1e-9
        )
    assert uninterrupted.derivative("ball.height", "ball.height")[0] == 1.0
    assert main(["run", "ball.toml", "-q", "--until", "1.5", "--resume", "half.state"]) == 2
    assert main(["run", "ball.toml", "-q", "--derivatives", "ball.weight"]) == 2
    assert "ball.weight" in capsys.readouterr().err
    assert main(["run", "ball.toml", *grid, "--verify"]) == 2


def test_a_checkpoint_between_two_output_times_is_resumed_without_a_gap(ball_folder: Path) -> None:
    grid = ["-q", "--fixed-step", "1 ms", "--integrator", "runge_kutta_4"]
    model = ball_folder / "grid.toml"
    model.write_text((ball_folder / "ball.toml").read_text() + 'output = { interval = "10 ms" }\n')
    assert main(["run", "grid.toml", "--until", "0.5", "-o", "whole.csv", *grid]) == 0
    assert main(["run", "grid.toml", "--until", "0.203", "--checkpoint", "part.state", *grid]) == 0
    part = ball_folder / "grid.csv"  # as a kill leaves it: up to 0.2 s
    part.write_text("".join(part.read_text().splitlines(keepends=True)[:-1]))
    assert main(["run", "grid.toml", "--until", "0.5", "--resume", "part.state", *grid]) == 0
    sink = cosim.registry().get("result_sink", "workbench.csv")()
    uninterrupted, joined = sink.read(ball_folder / "whole.csv"), sink.read(part)
    assert np.allclose(joined.time, uninterrupted.time, rtol=0.0, atol=1e-12)
    assert np.allclose(joined["ball.height"], uninterrupted["ball.height"], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (lambda text: text[: len(text) // 3].rpartition("\n")[0] + "\n", "they end at t = "),
        (lambda text: text.replace("ball.height", "ball.depth"), "other signals"),
        (lambda text: text.rpartition("\n0.7,")[0] + "\n0.7" + 4 * ",9.0" + "\n", "other values there"),
        (lambda text: "a letter\n", "is not a result"),
    ],
)
def test_a_resumed_run_replaces_no_other_results(
    ball_folder: Path, capsys: pytest.CaptureFixture[str], changed: Callable[[str], str], reason: str
) -> None:
    grid = ["--fixed-step", "10 ms", "--integrator", "runge_kutta_4"]
    assert main(["run", "ball.toml", "-q", "--until", "0.7", "--checkpoint", "half.state", *grid]) == 0
    text = changed((ball_folder / "ball.csv").read_text())
    (ball_folder / "ball.csv").write_text(text)
    assert main(["run", "ball.toml", "-q", "--until", "1.5", "--resume", "half.state", *grid]) == 2
    message = capsys.readouterr().err
    assert "up to t = 0.7" in message and reason in message
    assert (ball_folder / "ball.csv").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--resume", "none.state"], "none.state: cannot be read"),
        (["--resume", "ball.toml"], "ball.toml: these are not the bytes of a State"),
        (["--checkpoint", "none/a.state"], "none/a.state: a checkpoint cannot be written there"),
        (["--checkpoint", "a", "--checkpoint-every", "0 s"], "--checkpoint-every"),
    ],
)
def test_checkpoints_that_cannot_be_read_or_written(
    ball_folder: Path, capsys: pytest.CaptureFixture[str], arguments, text
) -> None:
    assert main(["run", "ball.toml", *arguments]) != 0
    output = capsys.readouterr()
    assert text in output.err
    assert "Traceback" not in output.err
