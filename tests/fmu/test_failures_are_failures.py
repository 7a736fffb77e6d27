"""A failure inside a participant is an error of the co-simulation, not a request to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from export_tools import export, fuse, oscillator

import cosim
from cosim import kit
from cosim_fmu import CoSimulation

SCENARIO = """
[participants.f]
fmu = "{fmu}"
parameters = {{ "fuse.signal" = 2.0 }}
[master]
step = 0.1
until = 1.0
"""


class WrongAnswers(cosim.Participant):
    """A participant that returns wrong values from `step` or `get`, and cannot be closed."""

    def __init__(self, step: object, get: object) -> None:
        self.answers = (step, get)

    def describe(self) -> kit.ParticipantDescription:
        return kit.ParticipantDescription("wrong", {"x": kit.ParticipantVariable("x", "output")})

    def initialize(self, start, stop, values, tolerance=None) -> None: ...

    def set(self, names, values) -> None: ...

    def step(self, time, size):
        return time + size if self.answers[0] == "right" else self.answers[0]

    def get(self, names):
        return [0.0] * len(names) if self.answers[1] == "right" else self.answers[1]

    def close(self) -> None:
        raise RuntimeError("cannot close")


@pytest.fixture(scope="module")
def fuse_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(fuse(), tmp_path_factory.mktemp("fuse") / "fuse.fmu")


def test_a_failing_component_raises(fuse_fmu: Path) -> None:
    loop = CoSimulation({"f": fuse_fmu}, [], "jacobi", 0.1, starts={"f.fuse.signal": 2.0})
    with pytest.raises(cosim.SimulationError, match="fuse has blown") as raised:
        loop.simulate(1.0)
    assert "Traceback" not in str(raised.value)


def test_the_command_reports_a_failing_component_with_status_1(fuse_fmu: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "loop.toml"
    scenario.write_text(SCENARIO.format(fmu=fuse_fmu.as_posix()), encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "cosim", "cosimulate", str(scenario), "-q"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert process.returncode == 1, process.stdout + process.stderr
    assert "fuse has blown" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_in_a_run_raises_keyboard_interrupt(tmp_path: Path) -> None:
    path = export(oscillator(), tmp_path / "oscillator.fmu")
    loop = CoSimulation({"o": path}, [], "jacobi", 1e-4)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    def progress(time: float) -> None:
        if not timer.is_alive() and not timer.finished.is_set():
            timer.start()

    with pytest.raises(KeyboardInterrupt):
        loop.simulate(1e4, progress=progress)
    timer.cancel()


@pytest.mark.parametrize(
    ("step", "get"),
    [(float("nan"), "right"), (99.0, "right"), (None, "right"), ("right", None), ("right", [])],
)
def test_after_a_wrong_answer_the_error_names_the_participant(step: object, get: object) -> None:
    loop = CoSimulation({"w": WrongAnswers(step, get)}, [], "jacobi", 0.1)
    with pytest.raises(cosim.SimulationError, match="w: "):
        loop.simulate(1.0)
