"""Each helper process ends if the process that started it is killed, at whatever moment."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_fmu import make_faulty

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")

COMPILE_AHEAD = """
import os, time
from cosim_compiler import ahead, kernel_cache, native, units

native.is_plain = lambda: False
units.is_at_hand = lambda *item: False
units.compile_and_keep = lambda *item: time.sleep(60.0)  # as long as a large function takes, and longer
units.one_of_each = list
kernel_cache.can_keep = lambda: True
os.sched_getaffinity = lambda process: {0, 1}
print("begins", flush=True)
ahead.compile_ahead([(f, "d>d") for f in (print, len, max, min, abs, sum, any, all)])  # enough for two
"""

MakeFmu = Callable[..., Path]


WAIT_IN_POOL = """
import time
from cosim_ensembles.kit import {executor}

if __name__ == "__main__":
    with {executor}(2) as pool:
        print("begins", flush=True)
        [pool.submit(time.sleep, 60.0) for _ in range(4)][0].result()
"""
COMMAND = """
from cosim.cli import main

if __name__ == "__main__":
    print("begins", flush=True)
    main({words!r})
"""
SCENARIO = """\
[participants.device]
fmu = "heavy.fmu"
[participants.device.parameters]
hang_at = 0.05
[master]
step = "10 ms"
until = 0.1
"""


def parents() -> dict[int, int]:
    """The parent of each process that has not ended."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = place.read_text("utf-8", "replace").rpartition(") ")
        except OSError:  # it has ended
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            parents[int(place.parent.name)] = int(parent)
    return parents


def descendants(process: int) -> set[int]:
    """The processes that a process has started, and those that they have started."""
    parent_of, processes, new = parents(), set[int](), {process}
    while new:
        new = {child for child, parent in parent_of.items() if parent in new} - processes
        processes |= new
    return processes


def left_behind(script: str, moment: float, folder: Path) -> set[int]:
    """The helpers of a script that remain after it was killed, `moment` s after the first of them started.

    A helper that has just started ends after it has imported its modules: seconds on a busy machine.
    """
    file = folder / "run.py"
    file.write_text(script)
    process = subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, cwd=folder, start_new_session=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == b"begins\n"
        until = time.monotonic() + 30.0
        while not descendants(process.pid):
            assert time.monotonic() < until, "no helper was started"
            time.sleep(0.001)
        time.sleep(moment)
        helpers = descendants(process.pid)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    until = time.monotonic() + 15.0
    while (remaining := helpers & parents().keys()) and time.monotonic() < until:
        time.sleep(0.02)
    for helper in remaining:
        os.kill(helper, signal.SIGKILL)
    return remaining


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_processes_that_compile_ahead_end(seed: int, tmp_path: Path) -> None:
    moment = random.Random(seed).uniform(0.0, 0.3)
    assert left_behind(COMPILE_AHEAD, moment, tmp_path) == set()


@pytest.mark.parametrize("executor", ["OwnProcesses", "OwnThreads"])
def test_processes_of_executors_end(executor: str, tmp_path: Path) -> None:
    moment = random.Random(executor).uniform(0.0, 1.5)
    assert left_behind(WAIT_IN_POOL.format(executor=executor), moment, tmp_path) == set()


@pytest.mark.thorough
@pytest.mark.parametrize("run_in", ["processes", "threads"])
def test_processes_of_studies_end_while_an_fmu_loops(run_in: str, make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(SCENARIO)
    words = ["sweep", "one.toml", "--vary", "device.u=0..1:4", "--threads", "2", "--run-in", run_in]
    moment = random.Random(run_in).uniform(1.0, 4.0)
    assert left_behind(COMMAND.format(words=words), moment, tmp_path) == set()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_probes_of_validate_end_while_an_fmu_loops(
    seed: int, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    make_faulty(tmp_path, compiled, "GetReal", "for (;;) { }")
    words = ["validate", "faults.fmu"]
    moment = random.Random(seed).uniform(0.0, 1.5)
    assert left_behind(COMMAND.format(words=words), moment, tmp_path) == set()
