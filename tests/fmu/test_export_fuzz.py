"""Exported FMUs under calls in any order, with any values; nothing is left behind by instances."""

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


def fuzz(path: Path, first: int, count: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SCRIPT), str(path), str(first), str(count)],
        capture_output=True, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


LONG = pytest.mark.thorough


@pytest.mark.thorough
@pytest.mark.parametrize("make", [ball, pytest.param(oscillator, marks=LONG), pytest.param(fuse, marks=LONG)])
def test_no_sequence_of_calls_is_fatal(make: Any, tmp_path: Path) -> None:
    found = fuzz(export(make(), tmp_path / "x.fmu"), 1, many(70) if make is oscillator else many(20))
    assert found["wrong"] == []
    assert set(found["statuses"]) <= {"0", "1", "2", "3"}
    assert found["statuses"]["0"] > 50 and found["statuses"]["3"] > 50


MEMORY = """
import json, sys
from fuzz_run import size
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
    sizes.append(size())
print(json.dumps(sizes))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_instances_leave_nothing_behind(tmp_path: Path) -> None:
    """Up to about 2 kB each, which pythonfmu leaks; a State and its system are hundreds."""
    count = many(30)
    path = export(oscillator(), tmp_path / "x.fmu")
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path), str(count)], capture_output=True, text=True, check=True
    )
    sizes = json.loads(done.stdout.splitlines()[-1])
    assert sizes[-1] - sizes[count // 3] < 4 * count + 2000
