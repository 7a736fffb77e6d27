"""One table of costs that grow with a model, and of fixed costs of calls, compared with other libraries.

    python benchmarks/structure/table.py [--rows 1000000] [--only loops vectors …] [--peers ""]

Each line has several sizes; the exponents tell how its time grows from one size to the next. All times are
CPU times of all threads, the least of several rounds. The peer is measured in the same run of this script.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "results"))
sys.path.insert(0, str(Path(__file__).parents[1] / "ensembles"))

import loops
import numpy as np
import vectors
from files import measure_files, measure_memory, measure_monitor
from measured import least_time
from models import TASKS, Task, ball, pendulum
from peers import try_peer

import cosim
from cosim_mechanics import Multibody

ROUNDS = 5
RUNS = 500  # of an ensemble
SIZES = {
    "loops": (50, 200, 800),
    "vectors": (100, 400, 1000, 1600),
    "bodies": (250, 1000, 4000),
    "tree": (125, 500, 2000),
}
HIGH_ORDER = "integrators.dormand_prince_853"  # as in numbalsoda, for pendulums
TOLERANCES = (1e-5, 7e-6, 5e-6, 3e-6, 2e-6, 1e-6)
PEER_TOLERANCES = (*TOLERANCES, 7e-7, 5e-7, 3e-7, 2e-7, 1e-7)


class Line(NamedTuple):
    """A line of the table: our times by size, s, and those of a peer."""

    name: str
    sizes: Sequence[Any]
    times: Sequence[float]
    peer: str = ""
    peer_times: Sequence[float] = ()


def answer_of(options: argparse.Namespace, name: str, script: str, request: dict[str, Any]) -> Any:
    """The answer of a peer to a request; None if it cannot run, or the option leaves peers out."""
    return try_peer(name, script, [json.dumps(request)]) if options.peers else None


def measure_loops(options: argparse.Namespace) -> list[Line]:
    """Steps of mechanisms with many loops."""
    sizes = SIZES["loops"]
    cases = [[case, n] for case in loops.METHODS for n in sizes]
    request = {"cases": cases, "q": loops.START, "step": loops.STEP, "steps": loops.STEPS, "rounds": ROUNDS}
    ours = {case: [loops.measure(case, n) for n in sizes] for case in loops.METHODS}
    answer = answer_of(options, "mujoco", "structure/peer_mujoco.py", request)
    rows = answer["rows"] if answer else []
    return [
        Line(f"a step of {case}", sizes, ours[case], "MuJoCo", [s for name, _, s in rows if name == case])
        for case in loops.METHODS
    ]


def measure_vectors(options: argparse.Namespace) -> list[Line]:
    """Stiff runs with one vector of states, and one with threads of BLAS."""
    sizes = SIZES["vectors"]
    cases = [[problem, n] for problem in vectors.PROBLEMS for n in sizes]
    measured = [vectors.measure(problem, n) for problem, n in cases]
    answer = answer_of(options, "scikit-sundae", "structure/peer_cvode.py", vectors.request_of(cases))
    rows = answer["rows"] if answer else []
    count, lines = len(sizes), []
    for i, problem in enumerate(vectors.PROBLEMS):
        of_problem = slice(i * count, (i + 1) * count)
        exact = [m.exact for m in measured[of_problem]]
        for error in vectors.ERRORS:
            times = [vectors.time_at_error(m.seconds, m.ends, m.exact, error) for m in measured[of_problem]]
            peer_times = [
                vectors.time_at_error(row["seconds"], row["ends"], exact_ends, error)
                for row, exact_ends in zip(rows[of_problem], exact, strict=False)
            ]
            name = f"{problem}, bdf, at an error of {error:.0e}"
            lines.append(Line(name, sizes, times, "CVODE, a band", peer_times))
    code = f"import vectors; print([vectors.measure('heat', n, [1e-4]).seconds[0] for n in {sizes!r}])"
    threads = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", code]
    process = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **threads}
    )
    return [*lines, Line("heat, bdf at 1e-4, 2 threads of BLAS allowed", sizes, json.loads(process.stdout))]


def measure_calls(options: argparse.Namespace) -> list[Line]:
    """A repeated call of `simulate`, the steps of its run alone, and a call of a runner."""
    system, until = TASKS["ball"](1).system, 0.5
    simulator = cosim.Simulator(system, accuracy=1e-6)

    def run_alone() -> float:
        simulator.replace_state(system.default_state())
        simulator.initialize()
        grid = {"origin": 0.0, "interval": until / 500, "point": 1.0, "until": until}
        simulator.record(["ball.height", "ball.speed"], "grid", **grid)
        start = time.process_time()
        simulator.advance_to(until)
        seconds = time.process_time() - start
        simulator.stop_recording()
        simulator.take_rows()
        return seconds

    ensemble = cosim.Ensemble(system, until, output_interval=until, threads=1)
    runner = ensemble.runner(["ball.restitution"])
    calls = {
        "the steps of that run, recorded": min(run_alone() for _ in range(200)),
        "`simulate()` again, 500 rows": least_time(lambda: cosim.simulate(system, until), 200),
        "a runner called again, no rows": least_time(lambda: runner([0.5]), 200),
    }
    return [Line(name, ["ball"], [seconds]) for name, seconds in calls.items()]


def run_ensemble(task: Task, **options: Any) -> tuple[float, Any]:
    """CPU time of one of `RUNS` runs in one thread, s, and the values of the task's signal at their ends."""
    ensemble = cosim.Ensemble(
        task.system,
        task.until,
        output_interval=task.interval,
        signals=[task.signal],
        threads=1,
        **options,
    )
    ensemble.run({path: values[:8] for path, values in task.values.items()})  # compiles
    results: list[Any] = []
    seconds = least_time(lambda: results.append(ensemble.run(task.values)), ROUNDS) / RUNS
    return seconds, results[-1].last(task.signal)


def pendulum_in_numbalsoda(options: argparse.Namespace, task: Task, exact: Any, error: float) -> list[float]:
    """The least CPU time of a run whose end has at most this error, s; empty if there is none."""
    request = {
        "angles": np.ravel(next(iter(task.values.values()))).tolist(),
        "until": task.until,
        "interval": task.interval,
        "tolerances": PEER_TOLERANCES,
        "threads": 1,
        "passes": ROUNDS,
    }
    answer = answer_of(options, "numbalsoda", "ensembles/peers/pendulum_numbalsoda.py", request)
    runs = answer["runs"] if answer else []
    accurate = [run["cpu"] for run in runs if np.abs(run["end"] - exact).max() <= error]
    return [min(accurate) / RUNS] if accurate else []


def measure_ensembles(options: argparse.Namespace) -> list[Line]:
    """A run of an ensemble of balls, and of pendulums, beside numbalsoda at the error of our default."""
    default = {"accuracy": 1e-6, "relative_tolerance": 1e-6}
    balls, _ = run_ensemble(ball(RUNS), **default)
    task = pendulum(RUNS)
    _, exact = run_ensemble(task, integrator=HIGH_ORDER, accuracy=1e-12)
    seconds, end = run_ensemble(task, **default)
    error = np.abs(end - exact).max()
    runs = [
        run_ensemble(task, integrator=HIGH_ORDER, accuracy=tolerance, relative_tolerance=tolerance)
        for tolerance in TOLERANCES
    ]
    least = min(time_of_run for time_of_run, ends in runs if np.abs(ends - exact).max() <= error)
    peer_times = pendulum_in_numbalsoda(options, task, exact, error)
    return [
        Line("a ball run of an ensemble", [RUNS], [balls]),
        Line(f"a pendulum run, error {error:.1e}", [RUNS], [seconds]),
        Line("the same, `dormand_prince_853`", [RUNS], [least], "numbalsoda, dop853", peer_times),
    ]


def tree_of(count: int) -> Multibody:
    """A binary tree of bodies on pins."""
    model = Multibody("tree", gravity=(0.0, 0.0, -9.81))
    for i in range(count):
        parent = "ground" if i == 0 else f"body{(i - 1) // 2}"
        model.body(f"body{i}", mass=1.0, center_of_mass=(0.0, 0.0, -0.1), inertia=(0.1, 0.1, 0.1))
        end_of_parent = (0.0, 0.0, 0.0 if i == 0 else -0.2)
        model.joint("pin", name=f"pin{i}", child=f"body{i}", parent=parent, frame_on_parent=end_of_parent)
    return model


def measure_bodies(options: argparse.Namespace) -> list[Line]:
    """Building the system of a tree, and runs of 20 steps, each with a recorded row."""
    sizes = SIZES["tree"]
    tree_of(2).build()
    build = [least_time(lambda n=n: tree_of(n).build(), ROUNDS) for n in sizes]
    answer = answer_of(options, "mujoco", "structure/peer_mujoco_tree.py", {"sizes": sizes, "rounds": ROUNDS})
    lines = [Line("building a tree", sizes, build, "MuJoCo", answer["seconds"] if answer else [])]
    first_runs, repeated_runs, steps = [], [], []
    fixed_steps: dict[str, Any] = {"integrator": "integrators.runge_kutta_4", "fixed_step": 1e-3}
    for n in SIZES["bodies"]:
        systems = iter([tree_of(n).build() for _ in range(2)])
        system = tree_of(n).build()

        def run(system: cosim.System) -> None:
            cosim.simulate(system, 0.02, output_interval=1e-3, **fixed_steps)

        run(system)
        first_runs.append(least_time(lambda systems=systems: run(next(systems)), 2))
        repeated_runs.append(least_time(lambda system=system: run(system), ROUNDS))
        simulator = cosim.Simulator(system, **fixed_steps)
        simulator.initialize()
        ends = iter(0.02 * (1 + i) for i in range(ROUNDS))
        steps.append(least_time(lambda s=simulator, ends=ends: s.advance_to(next(ends)), ROUNDS))
    named_times = {"first `simulate()`": first_runs, "again": repeated_runs, "its 20 steps alone": steps}
    lines += [
        Line(f"{name}, bodies of a tree", SIZES["bodies"], times) for name, times in named_times.items()
    ]
    return lines


def measure_results(options: argparse.Namespace) -> list[Line]:
    """Files, memory and a monitor."""
    cases = [[options.rows // 10, 2], [options.rows, 2]]
    sizes = [f"{rows:,} rows" for rows, _ in cases]
    ours = [measure_files(*case) for case in cases]
    answer = answer_of(options, "polars", "results/peer_tables.py", {"cases": cases, "rounds": ROUNDS})
    rows = answer["rows"] if answer else []
    lines = []
    for kind in ("parquet", "csv"):
        peer_times = [row[f"{kind} pyarrow"] for row in rows]
        lines.append(Line(kind, sizes, [row[f"{kind} cosim"] for row in ours], "pyarrow", peer_times))
    numbers, largest = measure_memory(options.rows)
    text = f"memory of {options.rows:,} rows of 2: {numbers:.0f} MB of numbers, {largest:.0f} MB at most"
    print(text, file=sys.stderr)
    plain, monitored = measure_monitor(20_000)
    times = [1e-6 * plain, 1e-6 * monitored]
    return [*lines, Line("a step, without a monitor and with one", ["without", "with"], times)]


GROUPS: dict[str, Callable[[argparse.Namespace], list[Line]]] = {
    "loops": measure_loops,
    "vectors": measure_vectors,
    "calls": measure_calls,
    "ensembles": measure_ensembles,
    "bodies": measure_bodies,
    "results": measure_results,
}


def time_text(seconds: float) -> str:
    """A time in s, ms or µs."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1.0:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def cells(line: Line) -> list[str]:
    """The cells of a line of the table."""
    numbers = [n for n in line.sizes if isinstance(n, int)]
    exponents = ""
    if len(numbers) == len(line.times) > 1:
        exponents = ", ".join(f"{x:.2f}" for x in loops.exponents(numbers, line.times))
    ratios = ", ".join(f"{a / b:.2f}" for a, b in zip(line.times, line.peer_times, strict=False))
    ours = [", ".join(map(str, line.sizes)), ", ".join(map(time_text, line.times)), exponents]
    peer = line.peer if line.peer_times else ""
    return [line.name, *ours, peer, ", ".join(map(time_text, line.peer_times)), ratios]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--peers", default="all")
    options = parser.parse_args()
    print("| what | sizes | cosim | exponents | peer | its times | ratio |\n" + "|---" * 7 + "|", flush=True)
    for group in options.only:
        for line in GROUPS[group](options):
            print(f"| {' | '.join(cells(line))} |", flush=True)


if __name__ == "__main__":
    main()
