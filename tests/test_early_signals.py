"""Ctrl-C and SIGTERM at random moments of commands give their status, and no traceback."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals"),
]
EXAMPLES = Path(__file__).parents[1] / "examples"
COMMANDS = (
    ("run", str(EXAMPLES / "quarter_car" / "quarter_car.toml"), "-q"),
    ("run", str(EXAMPLES / "quarter_car" / "quarter_car.toml"), "-q", "--until", "1000"),
    ("cosimulate", str(EXAMPLES / "cruise_control" / "cruise.toml"), "-o", "loop.csv"),
    ("sweep", str(EXAMPLES / "dc_motor" / "dc_motor.toml"), "--help"),
    ("info", str(EXAMPLES / "slider_crank" / "slider_crank.toml")),
    ("linearize", str(EXAMPLES / "quarter_car" / "quarter_car.toml")),
    ("plugins",),
    ("schema", "model"),
    ("--help",),
)
MESSAGES_OF_PYTHON = ("Could not import runpy module", "Fatal Python error", "Error processing line")
"""The first words of Python if it is interrupted while it starts."""
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}


def interrupted(
    words: tuple[str, ...], number: signal.Signals, delay: float, folder: Path
) -> tuple[int, str]:
    """Send a signal to all processes of a command; its status as in a shell, and its standard error."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "cosim", *words],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        time.sleep(delay)
        if process.poll() is None:
            os.killpg(process.pid, number)
        _, stderr = process.communicate(timeout=120)
        with pytest.raises(ProcessLookupError):  # no process is left
            for _ in range(200):
                os.killpg(process.pid, 0)
                time.sleep(0.05)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    code = process.returncode
    return (128 - code if code < 0 else code), stderr


@pytest.mark.parametrize("longest", [0.5, 4.0])
@pytest.mark.parametrize("number", STATUS)
def test_a_signal_at_a_random_moment(number: signal.Signals, longest: float, tmp_path: Path) -> None:
    draw, statuses = random.Random(f"{number}{longest}"), Counter[int]()
    for i in range(50):
        words, delay = draw.choice(COMMANDS), draw.uniform(0.0, longest)
        status, stderr = interrupted(words, number, delay, tmp_path)
        statuses[status] += 1
        context = f"{i}: {words[0]} after {delay:.3f} s: {status}, {stderr}"
        if stderr.startswith(MESSAGES_OF_PYTHON):
            continue
        assert status in (0, STATUS[number]), context
        if "Traceback" in stderr:  # of Python itself, before `main` is called
            assert "in main" not in stderr and stderr.endswith("KeyboardInterrupt\n"), context
    assert statuses[STATUS[number]] > (40 if longest < 1.0 else 10)
