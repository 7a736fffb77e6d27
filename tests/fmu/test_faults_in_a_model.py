"""An FMU inside a model that ends the process or does not return: the instance and the function are named."""

import os
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
"""What compiled code calls in each evaluation."""


def begin(folder: Path, fault: str) -> subprocess.Popen[str]:
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
    with begin(tmp_path, f"fmi3{function} 12 crash") as process:
        said = process.communicate()[1]
    assert process.returncode == 1 and "Traceback" not in said
    assert f"ball: fmi3{function}: the FMU crashed: SIGSEGV" in said


@pytest.mark.thorough
def test_one_that_does_not_return_is_ended_after_a_signal_and_named(tmp_path: Path) -> None:
    with begin(tmp_path, "fmi3GetContinuousStateDerivatives 12 loop") as process:
        calls = tmp_path / "calls"
        while not calls.exists() or calls.read_text().count("GetContinuousStateDerivatives") < 12:
            time.sleep(0.05)
        process.terminate()
        said = process.communicate()[1]
    assert process.returncode == 143 and "Traceback" not in said
    assert "ball: fmi3GetContinuousStateDerivatives: the FMU did" in said
