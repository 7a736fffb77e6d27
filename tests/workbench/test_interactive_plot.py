"""Results as an HTML page that holds all of its data and loads nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import check_offline
import numpy as np
import pytest

import cosim
from cosim.cli import main


def data_of(page: str) -> dict[str, Any]:
    """The data in a page."""
    script = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert script is not None
    return json.loads(script.group(1))


def test_a_page_has_the_data_and_loads_nothing(tmp_path: Path) -> None:
    result = cosim.Result([0.0, 1.0], {"a.x": [1.0, 2.5], "a.v": [0.0, np.nan]}, {"a.x": "m"})
    path = result.plot(path=tmp_path / "r.html")
    data = data_of(path.read_text("utf-8"))
    assert data["time"] == [0.0, 1.0]
    assert [panel["label"] for panel in data["panels"]] == ["a.x in m", "a.v"]
    assert [line["values"] for panel in data["panels"] for line in panel["lines"]] == [[1, 2.5], [0, None]]
    assert check_offline.loads(tmp_path) == []
    assert "http" not in path.read_text("utf-8").replace('http-equiv="Content-Security-Policy"', "")


def test_names_of_signals_and_models_are_escaped(tmp_path: Path) -> None:
    name = "</script><script>alert(1)</script>"
    result = cosim.Result([0.0, 1.0], {name: [0.0, 1.0]}, statistics={"model": "<b>{{data}}"})
    page = result.plot(path=tmp_path / "r.html").read_text("utf-8")
    assert page.count("<script") == 2 and "<b>" not in page
    assert "<title>&lt;b&gt;{{data}}</title>" in page
    assert data_of(page)["panels"][0]["lines"][0]["name"] == name


def test_long_runs_keep_their_extremes(tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 300_001)
    values = np.sin(50.0 * t)
    values[123_457] = 9.0
    path = cosim.Result(t, {"s": values}).plot(path=tmp_path / "r.html")
    data = data_of(path.read_text("utf-8"))
    (line,) = data["panels"][0]["lines"]
    assert data["time"] is None and len(line["time"]) == len(line["values"]) <= 40_002
    assert line["time"][line["values"].index(9)] == pytest.approx(t[123_457], rel=1e-6)
    assert line["time"] == sorted(line["time"])
    assert "300001 points" in data["notes"][-1]


def test_a_page_needs_no_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    (tmp_path / "run.csv").write_text("time,a\n0,1\n1,2\n")
    assert main(["plot", str(tmp_path / "run.csv"), "-o", str(tmp_path / "x.html")]) == 0
    assert data_of((tmp_path / "x.html").read_text("utf-8"))["panels"][0]["label"] == "a"


def test_the_script_is_valid(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    page = cosim.Result([0.0, 1.0], {"a": [0.0, 1.0]}).plot(path=tmp_path / "r.html").read_text("utf-8")
    script = tmp_path / "script.js"
    script.write_text(page.rpartition("<script>")[2].partition("</script>")[0], "utf-8")
    subprocess.run([node, "--check", str(script)], check=True)
