"""How many files a reader opens to follow an event, a delayed value or a parameter.

Measured with `sys.setprofile` in plain Python (`walk_run.py`). The bounds are goals of the design: a longer
walk has a border more than it needs. The file of the component, here one of the tests, counts as one more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
COMPONENT_FILE = 1


@pytest.fixture(scope="module")
def walks() -> dict[str, Any]:
    """The files of each walk, in the order in which they are met first."""
    process = subprocess.run(
        [sys.executable, str(HERE / "walk_run.py")],
        env={**os.environ, "COSIM_PLAIN": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    files: dict[str, Any] = json.loads(process.stdout)
    assert files["bounces"] == 1
    return files


def test_an_event_is_followed_in_ten_files(walks: dict[str, Any]) -> None:
    """From `Simulator.advance_to` to the handler, on the stack."""
    event = walks["event"]
    assert event[0] == "cosim/simulation/simulator.py"
    assert event[-1] == "cosim/walker.py"
    assert {"cosim/step/step.py", "cosim/step/updates.py"} < set(event)
    assert len(event) + COMPONENT_FILE <= 10, event


def test_the_value_of_a_delay_is_followed_in_five_files(walks: dict[str, Any]) -> None:
    """From the Step, which has it remembered, into the history; and from there to what the delay shows."""
    remembered, read = walks["remembered"], walks["read"]
    assert remembered[0] == "cosim/step/histories.py"
    assert remembered[-2:] == ["plugins/cosim_measures/delay.py", "cosim/component/history.py"]
    assert len(remembered) <= 5, remembered
    assert read[0] == "plugins/cosim_measures/delay.py"
    assert "cosim/component/history.py" in read
    assert len(read) <= 5, read


def test_a_parameter_passes_eight_files(walks: dict[str, Any]) -> None:
    """From `model.add` to the kernel function: files with a function that has the number in a variable."""
    parameter = walks["parameter"]
    borders = {"cosim/model/model.py", "cosim/component/values.py", "cosim/system/allocation.py"}
    assert borders < set(parameter)
    assert len(parameter) + COMPONENT_FILE <= 8, parameter
