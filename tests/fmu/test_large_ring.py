"""Runs of many FMUs and many steps do not grow in memory, and leave no files or threads behind."""

import gc
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared_loops import PythonJacobi

from cosim_fmu import CoSimulation

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from node_fmu import make_node
from ring import STEP, exact, links

STATM = Path("/proc/self/statm")


def resident() -> int:
    """Memory in use, bytes."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.thorough
@pytest.mark.skipif(not STATM.exists(), reason="memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("algorithm", "count", "steps", "threads"),
    [("jacobi", 1000, 10_000, 1), ("jacobi", 1000, 300, 2), (PythonJacobi, 1000, 300, 1)],
)
def test_a_ring_of_a_thousand_fmus_needs_constant_memory(
    tmp_path: Path, algorithm: Any, count: int, steps: int, threads: int
) -> None:
    node = make_node(tmp_path)
    loop = CoSimulation(
        {f"n{i}": node for i in range(count)},
        links(count, "ring"),
        algorithm,
        STEP,
        starts={"n0.y": 2.0},
        threads=threads,
    )
    sizes: list[int] = []
    result = loop.simulate(steps * STEP, record=["n0.y"], progress=lambda time: sizes.append(resident()))
    assert result.statistics["steps"] == steps
    assert result["n0.y"][-1] == pytest.approx(exact(count, steps), abs=1e-9)
    # 4 MiB for the allocator, and 64 bytes for each recorded row
    assert sizes[-1] - min(sizes) < 2**22 + 64 * steps
    after_runs = []
    for _ in range(8):
        loop.simulate(5 * STEP, record=["n0.y"])
        after_runs.append(resident())
    assert after_runs[-1] - after_runs[3] < 2**21  # after some runs the allocator needs no more memory
    assert np.isfinite(result["n0.y"]).all()


@pytest.mark.thorough
@pytest.mark.skipif(not STATM.exists(), reason="memory is read from Linux's /proc")
def test_ten_thousand_participants_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File descriptors, threads, temporary folders and memory are the same after each run."""
    node, count, folder = make_node(tmp_path), 10_000, tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    resources, memory = [], []
    for _ in range(4):
        loop = CoSimulation(
            {f"n{i}": node for i in range(count)}, links(count, "ring"), "jacobi", STEP, starts={"n0.y": 2.0}
        )
        result = loop.simulate(20 * STEP, record=["n0.y"])
        assert result["n0.y"][-1] == pytest.approx(exact(count, 20), abs=1e-9)
        del loop, result
        gc.collect()
        descriptors = len(os.listdir("/proc/self/fd"))
        resources.append((descriptors, threading.active_count(), os.listdir(folder)))
        memory.append(resident())
    assert resources[1] == resources[2] == resources[3]
    assert os.listdir(folder) == []
    assert memory[3] - memory[1] < 2**25
