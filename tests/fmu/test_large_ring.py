"""Many FMUs for many steps: memory stays where it is."""

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
def test_ring(tmp_path: Path, algorithm: Any, count: int, steps: int, threads: int) -> None:
    node = make_node(tmp_path)
    loop = CoSimulation(
        {f"n{i}": node for i in range(count)},
        links(count, "ring"),
        algorithm,
        STEP,
        starts={"n0.y": 2.0},
        threads=threads,
    )
    seen: list[int] = []
    result = loop.simulate(steps * STEP, record=["n0.y"], progress=lambda time: seen.append(resident()))
    assert result.statistics["steps"] == steps
    assert result["n0.y"][-1] == pytest.approx(exact(count, steps), abs=1e-9)
    grown = seen[-1] - min(seen)
    print(
        f"{count} FMUs, {steps} steps: {result.statistics['stepping_time']:.2f} s, "
        f"{seen[-1] / 2**20:.0f} MiB, "
        f"{grown / 2**10:.0f} KiB more than at the least of {len(seen)} looks"
    )
    assert grown < 2**22 + 64 * steps
    after_runs = []
    for _ in range(8):
        loop.simulate(5 * STEP, record=["n0.y"])
        after_runs.append(resident())
    assert after_runs[-1] - after_runs[3] < 2**21  # the allocator has what it needs after a few runs
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
    left, memory = [], []
    for _ in range(4):
        loop = CoSimulation(
            {f"n{i}": node for i in range(count)}, links(count, "ring"), "jacobi", STEP, starts={"n0.y": 2.0}
        )
        result = loop.simulate(20 * STEP, record=["n0.y"])
        assert result["n0.y"][-1] == pytest.approx(exact(count, 20), abs=1e-9)
        del loop, result
        gc.collect()
        left.append((len(os.listdir("/proc/self/fd")), threading.active_count(), os.listdir(folder)))
        memory.append(resident())
    assert left[1] == left[2] == left[3] and left[3][2] == []
    assert memory[3] - memory[1] < 2**25
