"""The example of an FMU on another machine: a server on this one, and the same bytes without it."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from serving import Server

import cosim
from cosim.cli import main

HERE = Path(__file__).parents[2] / "examples" / "elsewhere"
RATE, STEP, STEPS = 40e3 / 20e3, 1e-3, 3000
"""Damping by mass, 1/s; the length of a step (s), and how many there are."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform == "win32", reason="cosim serve runs on Linux and macOS"),
]


def test_the_run_with_a_server_has_the_bytes_of_the_run_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in HERE.glob("*.toml"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    model = cosim.Model.from_file("wagon.toml")
    model.export_fmu("wagon.fmu", outputs=["wagon.vx", "push"], names={"push": "force"})
    text = Path("wagons.toml").read_text("utf-8")
    served = 'host = "tcp://127.0.0.1:7364" '
    assert text.count(served) == 1
    Path("local.toml").write_text(text.replace(served, ""), "utf-8")
    server = Server(tmp_path)
    try:
        monkeypatch.setenv("COSIM_TOKEN_FILE", str(server.token))
        Path("wagons.toml").write_text(text.replace(served, f"host = {json.dumps(server.host)} "), "utf-8")
        assert main(["cosimulate", "wagons.toml", "-o", "there.csv"]) == 0
        assert f"FMUs at {server.host}: there\n" in capsys.readouterr().out
    finally:
        server.close()
    assert main(["cosimulate", "local.toml", "-o", "here.csv"]) == 0
    assert Path("there.csv").read_bytes() == Path("here.csv").read_bytes()
    time, first, second = np.loadtxt("there.csv", delimiter=",", skiprows=1).T
    # inputs are held over a step: the difference of the speeds shrinks by one factor in each
    left = 2.0 * (2.0 * np.exp(-RATE * STEP) - 1.0) ** np.rint(time / STEP)
    assert time[-1] == STEPS * STEP and abs(first + second - 2.0).max() < 1e-9
    assert abs(first - second - left).max() < 1e-9
