"""Pictures of results."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cosim

UNITS = {"ball.z": "m", "ball.x": "m", "ball.vz": "m/s"}


def result() -> cosim.Result:
    signals = {"ball.z": [2.0, 1.0], "ball.vz": [0.0, -1.0], "ball.x": [0.0, 0.5], "wheel.q": [[1, 0], [0, 1]]}
    return cosim.Result([0.0, 1.0], signals, UNITS)


@pytest.mark.parametrize(("ending", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_file(tmp_path: Path, ending: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"r{ending}"
    assert result().plot("ball.z", path=path) == path
    assert path.read_bytes().startswith(begins)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_signals_of_one_unit_share_a_panel() -> None:
    pytest.importorskip("matplotlib")
    panels = result().plot().axes
    assert [[line.get_label() for line in panel.get_lines()] for panel in panels] == [
        ["ball.z", "ball.x"],
        ["ball.vz"],
        ["wheel.q[0]", "wheel.q[1]"],
    ]
    assert "m" in panels[0].get_ylabel() and "m/s" in panels[1].get_ylabel()
    assert "time" in panels[-1].get_xlabel()
    assert all(panel.get_legend() is not None for panel in panels)


def test_patterns_choose() -> None:
    pytest.importorskip("matplotlib")
    (panel,) = result().plot("ball.v*").axes
    assert [line.get_label() for line in panel.get_lines()] == ["ball.vz"]


def test_no_signals() -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(cosim.CosimError, match="nothing to"):
        cosim.Result([0.0, 1.0], {}).plot()


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(cosim.CosimError, match=r"cosim-framework\[plot\]"):
        result().plot(path=tmp_path / "r.png")
