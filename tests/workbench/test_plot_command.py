"""`cosim plot` draws saved results."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.cli import main

CSV = 'time,"a.x [m]","b.x [m]","energy [J]"\n0,0,1,2\n1,1,2,3\n2,4,3,2\n'


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.csv").write_text(CSV, "utf-8")
    return tmp_path


def test_the_picture_is_named_after_the_results(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "run.csv"]) == 0
    assert capsys.readouterr().out == "plot → run.png\n"
    assert (results / "run.png").read_bytes().startswith(b"\x89PNG")


def test_only_chosen_signals_are_drawn(results: Path) -> None:
    for name, signals in (("all.svg", []), ("some.svg", ["*.x"])):
        assert main(["plot", "run.csv", *signals, "-o", name]) == 0
    panels = [(results / name).read_text("utf-8").count('<g id="axes_') for name in ("all.svg", "some.svg")]
    assert panels == [2, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv"),
        (["run.csv", "a.z"], "Nearest: a.x"),
        (["run.csv", "-o", "run.jpg"], "the name of a picture ends in .png, .svg, .pdf"),
        (["run.xyz"], ".xyz"),
    ],
)
def test_wrong_arguments(
    results: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["plot", *words]) == 2
    errors = capsys.readouterr().err
    assert message in errors and "Traceback" not in errors
    assert list(results.glob("*.png")) == []
