"""Work against precision: ours beside SciPy, SUNDIALS, diffrax, PathSim and Drake on the same problems.

All run each of their explicit methods (SUNDIALS: Adams) at falling tolerances, the absolute one being a
thousandth of the relative one. For each problem and each error the program counts that gets there with the
fewest evaluations, and the one that gets there first. Functions of SciPy, SUNDIALS, PathSim and Drake are
Python; those of diffrax and ours are compiled, which is not counted. The error is the largest at the end,
relative to the largest state there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "integrators"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dynamics"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from compare import machine
from equal_errors import WorkAndError, best_runs
from laws import PROBLEMS
from peers import PeerError, run_peer
from problems import PROBLEMS as OURS
from problems import Problem

HERE = Path(__file__).resolve().parent
ACCURACIES = [10.0**-e for e in range(2, 13)]
LEVELS = (1e-3, 1e-6, 1e-9)
METHODS = ("bogacki_shampine", "runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853")
PEERS = {
    "scikit-sundae": "precision_sundials.py",
    "diffrax": "precision_diffrax.py",
    "pathsim": "precision_pathsim.py",
    "drake": "precision_drake.py",
}


class Run(NamedTuple):
    """What a run with a method costs (wall time in s, evaluations), and its error at the end."""

    problem: str
    method: str
    seconds: float
    evaluations: int
    error: float


class Cost(NamedTuple):
    """A cost of runs: its title and, for tables, the unit in which it is shown and the format."""

    title: str
    axis_label: str
    of: Callable[[Run], float]
    unit: float
    form: str


EVALUATIONS = Cost("evaluations", "evaluations", lambda run: run.evaluations, 1.0, ".0f")
WALL_TIME = Cost("wall time, ms", "wall time, s", lambda run: run.seconds, 1e3, ".2g")


def problem(name: str) -> Problem:
    """The problem of the tests with its solution."""
    return next(p for p in OURS if p.name == {"orbit": "orbit 0.5"}.get(name, name))


def ours(rounds: int) -> list[Run]:
    """All methods at all accuracies, through the Simulator."""
    runs = []
    for name in PROBLEMS:
        wanted = problem(name)
        for method in METHODS:
            for accuracy in ACCURACIES:
                if method == "bogacki_shampine" and accuracy < 1e-8:
                    continue
                seconds = np.inf
                for _ in range(rounds):
                    how = {"accuracy": accuracy, "relative_tolerance": accuracy}  # as the others take theirs
                    simulator = wanted.simulator(integrator=f"integrators.{method}", **how)
                    simulator.initialize()
                    begin = time.perf_counter()
                    simulator.advance_to(wanted.until)
                    seconds = min(seconds, time.perf_counter() - begin)
                error = wanted.error(simulator.state)
                runs.append(Run(name, method, seconds, simulator.statistics.evaluations, error))
    return runs


def theirs(answer: dict[str, Any]) -> list[Run]:
    """The runs of a peer with their errors."""
    runs = []
    for run in answer["runs"]:
        solution = np.array(problem(run["problem"]).solution)
        error = float(np.abs(np.array(run["end"])[: solution.size] - solution).max() / np.abs(solution).max())
        if np.isfinite(error):
            runs.append(Run(run["problem"], run["method"], run["seconds"], run["evaluations"], error))
    return runs


def all_programs(rounds: int) -> dict[str, list[Run]]:
    """Runs by program."""
    programs = {"cosim": ours(rounds)}
    arguments = [json.dumps(ACCURACIES), str(rounds)]
    try:
        import subprocess

        script = [sys.executable, str(HERE / "peers" / "precision_scipy.py"), *arguments]
        answer = json.loads(subprocess.run(script, capture_output=True, text=True, check=True).stdout)
        programs[answer["name"]] = theirs(answer)
    except (subprocess.CalledProcessError, ValueError) as error:
        print(f"SciPy is left out: {error}", file=sys.stderr)
    for peer, file in PEERS.items():
        try:
            answer = run_peer(peer, f"integrators/peers/{file}", arguments)
            programs[answer["name"]] = theirs(answer)
        except PeerError as error:
            print(f"{peer} is left out: {error}", file=sys.stderr)
    return programs


def table(programs: dict[str, list[Run]], cost: Cost) -> list[str]:
    """Least cost of each program to each error on each problem, the smallest one in bold."""
    names = list(programs)
    lines = ["| problem | error | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for name in PROBLEMS:
        for level in LEVELS:
            best_runs = []
            for program in names:
                good = [run for run in programs[program] if run.problem == name and run.error <= level]
                best_runs.append(min(good, key=cost.of, default=None))
            least = min((cost.of(run) for run in best_runs if run), default=np.inf)
            cells = []
            for run in best_runs:
                text = "" if run is None else f"{cost.of(run) * cost.unit:{cost.form}} {run.method}"
                cells.append(f"**{text}**" if run and cost.of(run) == least else text)
            lines.append(f"| {name} | {level:.0e} | " + " | ".join(cells) + " |")
    return lines


def wins(lines: list[str]) -> str:
    """The number of rows of a table in which the first program is the best."""
    rows = [line.split(" | ") for line in lines[2:]]
    return f"cosim first in {sum(row[2].startswith('**') for row in rows)} of {len(rows)}"


def plot(programs: dict[str, list[Run]], path: Path) -> None:
    """Evaluations and, below, wall time over the error: the best curve of each program for each problem."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    blocks = -(-len(PROBLEMS) // 3)
    figure, axes = pyplot.subplots(2 * blocks, 3, figsize=(9.6, 6.0 * blocks), squeeze=False)
    for number, name in enumerate(PROBLEMS):
        block, column = divmod(number, 3)
        for row, cost in enumerate((EVALUATIONS, WALL_TIME)):
            axis = axes[2 * block + row, column]
            for program, runs in programs.items():
                of_problem = [run for run in runs if run.problem == name]
                front = best_runs(WorkAndError(cost.of(run), run.error) for run in of_problem)
                if front:
                    work, errors = zip(*front, strict=True)
                    axis.loglog(errors, work, marker="o", ms=3, lw=1, label=program)
            axis.set_xlim(1e-12, 1e-1)
            axis.grid(alpha=0.3)
            if row == 0:
                axis.set_title(name, fontsize=10)
            else:
                axis.set_xlabel("error at the end")
            if column == 0:
                axis.set_ylabel(cost.axis_label)
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main(arguments: list[str] | None = None) -> int:
    """Print two tables; draw a picture if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="the best of this many rounds counts")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the curves: .png, .svg")
    chosen = parser.parse_args(arguments)
    programs = all_programs(chosen.rounds)
    print(machine())
    for cost in (EVALUATIONS, WALL_TIME):
        lines = table(programs, cost)
        print(f"\nLeast {cost.title} ({wins(lines)}):\n")
        print("\n".join(lines))
    if chosen.plot is not None:
        plot(programs, chosen.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
