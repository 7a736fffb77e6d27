"""Exported FMUs survive calls in any order with any values, and instances leave no memory behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from export_tools import ball, export, fuse, oscillator
from how_many import many

SCRIPT = Path(__file__).parent / "fuzz_run.py"


LONG = pytest.mark.thorough
MEASURE_MEMORY = """
import json, sys
from fuzz_run import resident_size
from export_tools import Fmu
from pathlib import Path
fmu = Fmu(Path(sys.argv[1]))
fmu.slave.fmi2FreeInstance(fmu.slave.component)
sizes = []
for i in range(int(sys.argv[2])):
    fmu.slave.instantiate(callbacks=fmu._callbacks, loggingOn=True)
    fmu.start()
    fmu.steps(0, 3)
    fmu.slave.freeFMUState(fmu.slave.getFMUState())
    fmu.slave.reset()
    fmu.start()
    fmu.slave.fmi2FreeInstance(fmu.slave.component)
    sizes.append(resident_size())
print(json.dumps(sizes))
"""


def fuzz(path: Path, first: int, count: int) -> dict[str, Any]:
    """The report of ``fuzz_run.py``."""
    process = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SCRIPT), str(path), str(first), str(count)],
        capture_output=True, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-3000:]
    report: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return report


@pytest.mark.thorough
@pytest.mark.parametrize("make", [ball, pytest.param(oscillator, marks=LONG), pytest.param(fuse, marks=LONG)])
def test_no_sequence_of_calls_is_fatal(make: Any, tmp_path: Path) -> None:
    report = fuzz(export(make(), tmp_path / "x.fmu"), 1, many(70) if make is oscillator else many(20))
    assert report["wrong"] == []
    assert set(report["statuses"]) <= {"0", "1", "2", "3"}
    assert report["statuses"]["0"] > 50 and report["statuses"]["3"] > 50


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_instances_leave_nothing_behind(tmp_path: Path) -> None:
    """Pythonfmu leaks about 2 kB for each instance; a State with its system has hundreds of kB."""
    count = many(30)
    path = export(oscillator(), tmp_path / "x.fmu")
    process = subprocess.run(
        [sys.executable, "-c", MEASURE_MEMORY, str(path), str(count)],
        capture_output=True,
        text=True,
        check=True,
    )
    sizes = json.loads(process.stdout.splitlines()[-1])
    assert sizes[-1] - sizes[count // 3] < 4 * count + 2000  # kB, after a third to warm up
