"""If an FMU in a model crashes or does not return, the message names its instance and the function."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faulty_fmu import faulty_library
from model3_fmu import make_model3

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, signals and the GNU C library")

MODEL = """[model]
name = "m"
[components.ball]
type = "fmu.model_exchange"
fmu = "{fmu}"
[components.fan]
type = "signals.ramp"
[[connections]]
from = "fan.value"
to = "ball.push"
[simulation]
until = "1 s"
"""
FUNCTIONS = ["SetTime", "SetContinuousStates", "GetContinuousStateDerivatives", "GetEventIndicators"]
"""The functions that compiled code calls in each evaluation."""


def start_run(folder: Path, fault: str) -> subprocess.Popen[str]:
    """Start a run of the model with a fault in its FMU."""
    fmu = make_model3(folder, faulty_library, "BALL")
    (folder / "m.toml").write_text(MODEL.format(fmu=fmu.name))
    words = [sys.executable, "-m", "cosim", "run", "m.toml", "-o", "out.csv"]
    environment = {**os.environ, "FMU_FAULT": fault, "FMU_CALLS": str(folder / "calls")}
    return subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    "function",
    [
        *(pytest.param(name, marks=pytest.mark.thorough) for name in FUNCTIONS[1:]),
        FUNCTIONS[0],
        *(pytest.param(name, marks=pytest.mark.thorough) for name in ("SetFloat64", "GetFloat64")),
    ],
)
def test_a_crash_names_the_instance_and_the_function(function: str, tmp_path: Path) -> None:
    with start_run(tmp_path, f"fmi3{function} 12 crash") as process:
        messages = process.communicate()[1]
    assert process.returncode == 1 and "Traceback" not in messages
    assert f"ball: fmi3{function}: the FMU crashed: SIGSEGV" in messages


@pytest.mark.thorough
def test_sigterm_ends_a_run_whose_fmu_does_not_return_and_names_the_function(tmp_path: Path) -> None:
    with start_run(tmp_path, "fmi3GetContinuousStateDerivatives 12 loop") as process:
        calls = tmp_path / "calls"
        while not calls.exists() or calls.read_text().count("GetContinuousStateDerivatives") < 12:
            time.sleep(0.05)
        process.terminate()
        messages = process.communicate()[1]
    assert process.returncode == 128 + signal.SIGTERM and "Traceback" not in messages
    assert "ball: fmi3GetContinuousStateDerivatives: the FMU did" in messages
