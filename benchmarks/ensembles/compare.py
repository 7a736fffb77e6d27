"""Runs per second of ensembles, compared with MuJoCo, numbalsoda, diffrax and FMPy, with equal threads.

Usage: python benchmarks/ensembles/compare.py [--runs 500] [--passes 3] [--peers mujoco numbalsoda]

MuJoCo, numbalsoda and diffrax run the pendulum of five links: MuJoCo from the same bodies, the other two from
equations written by hand. FMPy runs mount, ball and delayed loop, as native FMUs of the models. All record
one signal at fixed intervals. Programs are compared at equal errors: the table has the fastest run of each
whose error is not above that of cosim with an accuracy of 1e-6; if it has none, its run with the smallest
error. The error is that of the signal at the end, the largest over all runs, against cosim with an accuracy
of 1e-11.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from models import TASKS, Task

import cosim

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from peers import PeerError, run_peer  # noqa: E402

PEERS = ("mujoco", "numbalsoda", "diffrax")
THREADS = 2


def ours(task: Task, threads: int, passes: int, accuracy: float = 1e-6) -> dict[str, Any]:
    """Elapsed and CPU time of the runs in cosim (s), and their values at the end."""
    ensemble = cosim.Ensemble(
        *(task.system, task.until),
        accuracy=accuracy,
        relative_tolerance=accuracy,
        output_interval=task.interval,
        signals=[task.signal],
        threads=threads,
    )
    ensemble.run({path: values[:8] for path, values in task.values.items()})
    seconds = cpu = np.inf
    for _ in range(passes):
        began, used = time.perf_counter(), time.process_time()
        result = ensemble.run(task.values)
        seconds, cpu = min(seconds, time.perf_counter() - began), min(cpu, time.process_time() - used)
    assert result.is_done.all()
    end = result.last(task.signal).tolist()
    how = {"method": f"runge_kutta_merson, {accuracy:g}", "threads": threads}
    return how | {"seconds": seconds, "cpu": cpu, "end": end}


def fmpy(task: Task, task_name: str, passes: int, folder: Path) -> dict[str, Any]:
    """The same of FMPy with the native FMU of the model."""
    (path_varied, values), *_ = task.values.items()
    array = path_varied.rpartition("[")[0]
    shown = {"outputs": [task.signal], "parameters": [array or path_varied]}
    path = task.system.export_fmu(folder / f"{task_name}.fmu", native=True, fmi="2.0", **shown)
    variable = f"{array}[{int(path_varied[len(array) + 1 : -1]) + 1}]" if array else path_varied
    request = {
        "fmu": str(path),
        "variable": variable,  # elements are counted from 1 there
        "values": np.ravel(values).tolist(),
        "signal": task.signal,
        "until": task.until,
        "interval": task.interval,
        "threads": THREADS,
        "passes": passes,
    }
    done = subprocess.run(
        [sys.executable, str(HERE / "peers" / "fmpy_runs.py"), json.dumps(request)],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise PeerError(done.stderr[-2000:])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def rows_of(name: str, runs: list[dict[str, Any]], exact: np.ndarray, wanted: float) -> list[str]:
    """A row of the table: with each number of threads, the fastest run whose error is not above `wanted`."""
    cells: dict[int, dict[str, Any]] = {}
    for threads in (1, THREADS):
        with_threads = [run for run in runs if run["threads"] == threads]
        for run in with_threads:
            run["error"] = float(np.abs(np.array(run["end"]) - exact).max())
        accurate = [run for run in with_threads if run["error"] <= 1.05 * wanted]
        cells[threads] = (
            min(accurate, key=lambda run: run["seconds"])
            if accurate
            else min(with_threads, key=lambda run: run["error"])
        )
    one, several, count = cells[1], cells[THREADS], len(exact)
    rates = [count / cells[threads]["seconds"] for threads in (1, THREADS)]
    return [
        f"{name}, {one['method']}",
        f"{one['error']:.1e}",
        f"{1e3 * one['cpu'] / count:.3g} ms",
        f"{rates[0]:.0f}",
        f"{rates[1]:.0f}",
        f"{rates[1] / rates[0]:.2f}",
        f"{1e3 * several['cpu'] / count:.3g} ms",
    ]


def compare(task_name: str, runs: int, passes: int, peers: list[str], folder: Path) -> None:
    """Print the rows of one task."""
    task = TASKS[task_name](runs)
    exact = np.array(ours(task, THREADS, 1, 1e-11)["end"])
    our_runs = [ours(task, threads, passes) for threads in (1, THREADS)]
    wanted = float(np.abs(np.array(our_runs[0]["end"]) - exact).max())
    lines = [rows_of("cosim", our_runs, exact, wanted)]
    request = {
        "angles": np.ravel(next(iter(task.values.values()))).tolist(),
        "until": task.until,
        "interval": task.interval,
        "threads": THREADS,
        "passes": passes,
    }
    for peer in peers:
        try:
            # the pendulum varies a start value, which is not a parameter of an FMU
            if peer == "fmpy" and task_name != "pendulum":
                answer = fmpy(task, task_name, passes, folder)
            elif peer != "fmpy" and task_name == "pendulum":
                answer = run_peer(peer, f"ensembles/peers/pendulum_{peer}.py", [json.dumps(request)])
            else:
                continue
        except PeerError as error:
            print(f"{task_name}: {peer}: {error}", file=sys.stderr)
            continue
        lines.append(rows_of(answer["name"], answer["runs"], exact, wanted))
    for line in lines:
        print("| " + " | ".join([task_name, *line]) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=[*PEERS, "fmpy"], choices=[*PEERS, "fmpy"])
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors")
    heads = (
        "task",
        "program, method",
        "error",
        "CPU a run",
        "runs/s, 1 thread",
        "2 threads",
        "factor",
        "CPU, 2",
    )
    print("| " + " | ".join(heads) + " |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tasks:
            compare(name, options.runs, options.passes, options.peers, Path(folder))
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
