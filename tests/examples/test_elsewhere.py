"""The example of an FMU on another machine, with a server on this one."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from serving import Server

import cosim
from cosim.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "elsewhere"
RATE, STEP, STEPS = 40e3 / 20e3, 1e-3, 3000
"""Damping divided by mass in 1/s, the length of a step in s and the number of steps."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform == "win32", reason="cosim serve runs on Linux and macOS"),
]


def test_runs_with_and_without_a_server_have_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in EXAMPLE.glob("*.toml"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    model = cosim.Model.from_file("wagon.toml")
    model.export_fmu("wagon.fmu", outputs=["wagon.vx", "push"], names={"push": "force"})
    text = Path("wagons.toml").read_text("utf-8")
    host = 'host = "tcp://127.0.0.1:7364" '
    assert text.count(host) == 1
    Path("local.toml").write_text(text.replace(host, ""), "utf-8")
    server = Server(tmp_path)
    try:
        monkeypatch.setenv("COSIM_TOKEN_FILE", str(server.token))
        Path("wagons.toml").write_text(text.replace(host, f"host = {json.dumps(server.host)} "), "utf-8")
        assert main(["cosimulate", "wagons.toml", "-o", "with_server.csv"]) == 0
        assert f"FMUs at {server.host}: there\n" in capsys.readouterr().out
    finally:
        server.close()
    assert main(["cosimulate", "local.toml", "-o", "local.csv"]) == 0
    assert Path("with_server.csv").read_bytes() == Path("local.csv").read_bytes()
    time, first, second = np.loadtxt("with_server.csv", delimiter=",", skiprows=1).T
    # Inputs are held over a step, so each step multiplies the difference of the speeds by one factor.
    difference = 2.0 * (2.0 * np.exp(-RATE * STEP) - 1.0) ** np.rint(time / STEP)
    assert time[-1] == STEPS * STEP and abs(first + second - 2.0).max() < 1e-9
    assert abs(first - second - difference).max() < 1e-9
