"""The cost of a run in an ensemble against a single compiled run, and the gain by a second thread.

Usage: python benchmarks/ensembles/runs.py [--tasks pendulum mount ball loop] [--runs 2000] [--passes 5]

CPU time of a run: of an ensemble in one thread with a reduction, and of single runs through `Simulator`
with the same recording, from `initialize` to the end (least of all passes). Threads: wall time of the
ensemble with one thread and with two, beside the factor that two pure loops reach in the same minute (least
of all passes; a machine that does something else gives neither).
"""

from __future__ import annotations

import argparse
import resource
import threading
import time
from typing import NamedTuple

import numpy as np
from models import TASKS, Task

import cosim
from cosim import kit

ACCURACY = {"accuracy": 1e-6, "relative_tolerance": 1e-6}


def compute(count):
    """A loop that touches no memory."""
    total = 0.0
    for i in range(count):
        total += 1.0 / (1.0 + total * i)
    return total


def ensemble_of(task: Task, threads: int) -> cosim.Ensemble:
    """The ensemble of a task, with the largest value of its signal as the only result."""
    reduce = [f"max({task.signal})"]
    how = {"output_interval": task.interval, "reduce": reduce, "threads": threads}
    return cosim.Ensemble(task.system, task.until, **how, **ACCURACY)


def single(task: Task, count: int) -> float:
    """CPU seconds of a single run with the same recording."""
    simulator = cosim.Simulator(task.system, **ACCURACY, event_limit=0)
    runs = len(next(iter(task.values.values())))
    used = 0.0
    for run in range(0, runs, max(1, runs // count)):
        state = task.system.default_state()
        for path, values in task.values.items():
            state[path] = values[run]
        simulator.replace_state(state)
        began = time.process_time()
        simulator.initialize()
        grid = {"origin": 0.0, "interval": task.interval, "point": 1.0, "until": task.until}
        simulator.record([task.signal], "grid alone", **grid)
        simulator.record_now()
        simulator.advance_to(task.until)
        used += time.process_time() - began
        simulator.take_rows()
    return used / len(range(0, runs, max(1, runs // count)))


def time_of_loops(threads: int, count: int = 30_000_000) -> float:
    """The wall time of pure loops in each thread, s."""
    function = kit.compile_function(compute, "i>f")
    function(10)
    workers = [threading.Thread(target=function, args=(count,)) for _ in range(threads)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - began


class Measured(NamedTuple):
    """The least CPU time of a run (s), in an ensemble and alone, and rates (1/s) by the number of threads."""

    in_ensemble: float
    alone: float
    runs_per_second: dict[int, float]
    gain_of_loops: float

    def row(self, name: str) -> str:
        """A row of the table."""
        rate = self.runs_per_second
        cells = [
            name,
            f"{1e3 * self.in_ensemble:.3g} ms",
            f"{1e3 * self.alone:.3g} ms",
            f"{self.in_ensemble / self.alone:.2f}",
            f"{rate[1]:.0f}",
            f"{rate[2]:.0f}",
            f"{rate[2] / rate[1]:.2f}",
            f"{self.gain_of_loops:.2f}",
        ]
        return "| " + " | ".join(cells) + " |"


def measure(task: Task, runs: int, passes: int) -> Measured:
    """Measure a task, all ways by turns in each pass."""
    ensembles = {threads: ensemble_of(task, threads) for threads in (1, 2)}
    few = {path: values[:8] for path, values in task.values.items()}
    for ensemble in ensembles.values():
        ensemble.run(few)  # compiles
    in_ensemble, alone = [], []
    walls: dict[int, list[float]] = {1: [], 2: []}
    loop_walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(passes):
        alone.append(single(task, 100))
        for threads, ensemble in ensembles.items():
            began, used = time.perf_counter(), time.process_time()
            result = ensemble.run(task.values)
            walls[threads].append(time.perf_counter() - began)
            if threads == 1:
                in_ensemble.append((time.process_time() - used) / runs)
            assert result.is_done.all() and not np.isnan(result[result.names[0]]).any()
            loop_walls[threads].append(time_of_loops(threads))
    return Measured(
        min(in_ensemble),
        min(alone),
        {threads: runs / min(seconds) for threads, seconds in walls.items()},
        2.0 * min(loop_walls[1]) / min(loop_walls[2]),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    print("| task | CPU a run | single run | ratio | runs/s, 1 thread | 2 threads | factor | of pure loops |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.tasks:
        measured = measure(TASKS[name](options.runs), options.runs, options.passes)
        print(measured.row(name), flush=True)
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
