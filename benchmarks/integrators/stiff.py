"""Stiff problems: ours beside SciPy, SUNDIALS and diffrax, evaluations and time to an error.

The problems and their published solutions are those of the tests (tests/integrators/stiff_problems.py). Each
method runs at falling tolerances; the table says how many evaluations (those of Jacobians are counted) and
milliseconds it needs to get below an error, between two runs by the straight line through their logarithms.
Functions of SciPy and SUNDIALS are Python here; ours and diffrax's are compiled, which is not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "integrators"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dynamics"))
from block_system import BlockSystem
from compare import machine
from peers import PeerError, run_peer
from stiff_problems import PROBLEMS, StiffProblem

import cosim
from cosim import kit

HERE = Path(__file__).resolve().parent
OURS = ("radau3", "radau5", "esdirk43", "bdf")
ACCURACIES = [10.0**-e for e in range(2, 11)]
LEVELS = (1e-3, 1e-5, 1e-7)
PEERS = {"scikit-sundae": "stiff_sundials.py", "diffrax": "stiff_diffrax.py"}

Run = tuple[str, str, float, int, float]
"""Problem, method, seconds, evaluations, error."""


def ours(problem: StiffProblem, rounds: int) -> list[Run]:
    """Our methods, many steps in one call."""
    system = BlockSystem(problem.block, len(problem.start))
    runs = []
    for name in OURS:
        for accuracy in ACCURACIES[: 6 if name == "radau3" else None]:
            seconds = np.inf
            for _ in range(rounds):
                state = system.state(problem.start, parameters=problem.parameters)
                floor = accuracy * problem.floor
                integrator = cosim.registry().get("integrator", f"integrators.{name}")(
                    accuracy=accuracy, relative_tolerance=accuracy, absolute_tolerance=floor
                )
                integrator.initialize(system, state)
                begin = time.perf_counter()
                code = integrator.advance(system, state, problem.until)
                seconds = min(seconds, time.perf_counter() - begin)
            if code is kit.StepCode.DONE:
                count = integrator.statistics.evaluations
                runs.append((problem.name, name, seconds, count, problem.error(state.y)))
    return runs


def scipys(problem: StiffProblem, rounds: int) -> list[Run]:
    """SciPy's solvers; those of Jacobians count, too."""
    from scipy.integrate import solve_ivp

    n, runs = len(problem.start), []
    derivatives, counted = np.zeros(n + 1), [0]

    def law(t: float, y: Any) -> Any:
        counted[0] += 1
        problem.block(t, y, problem.parameters, None, None, None, derivatives, None, 0, 0)
        return derivatives[:n].copy()

    for name in ("Radau", "BDF", "LSODA"):
        for accuracy in ACCURACIES[:7]:
            options = {"method": name, "rtol": accuracy, "atol": accuracy * problem.floor}
            seconds = np.inf
            for _ in range(max(1, rounds // 3)):
                counted[0], begin = 0, time.perf_counter()
                answer = solve_ivp(law, (0.0, problem.until), problem.start, **options)
                seconds = min(seconds, time.perf_counter() - begin)
            if answer.success:
                runs.append(
                    (problem.name, f"SciPy {name}", seconds, counted[0], problem.error(answer.y[:, -1]))
                )
    return runs


def theirs(answer: dict[str, Any]) -> list[Run]:
    """The runs of a peer with their errors."""
    by_name = {p.name: p for p in PROBLEMS}
    runs = []
    for name, method, seconds, evaluations, end in answer["runs"]:
        error = by_name[name].error(np.array(end, dtype=float))
        if np.isfinite(error):
            runs.append((name, method, float(seconds), int(evaluations), error))
    return runs


def to_reach(runs: list[Run], level: float, column: int) -> float:
    """The work of a method for an error: the least of the runs at or below, interpolated; NaN: never."""
    points = sorted((r[4], float(r[column])) for r in runs if r[4] > 0.0)
    below = [cost for error, cost in points if error <= level]
    if not below:
        return float("nan")
    above = [(e, cost) for e, cost in points if e > level]
    best = min(below)
    for error, cost in points:
        for worse, cheaper in above:
            if error <= level and cost == best and cheaper < cost:
                part = np.log(worse / level) / np.log(worse / error)
                return float(np.exp(np.log(cheaper) + part * np.log(cost / cheaper)))
    return best


def table(runs: list[Run]) -> str:
    """Markdown: a row for each problem and error, evaluations and milliseconds of each method."""
    methods = list(dict.fromkeys(r[1] for r in runs))
    lines = ["| problem | error | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    for problem in dict.fromkeys(r[0] for r in runs):
        for level in LEVELS:
            cells = []
            for method in methods:
                own_runs = [r for r in runs if r[:2] == (problem, method)]
                count, seconds = to_reach(own_runs, level, 3), to_reach(own_runs, level, 2)
                shown_count = f"{count:.0f}" if count else "?"
                cells.append("–" if np.isnan(seconds) else f"{shown_count} / {1e3 * seconds:.2f}")
            lines.append(f"| {problem} | {level:.0e} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-peers", action="store_true")
    options = parser.parse_args()
    runs: list[Run] = []
    for problem in PROBLEMS:
        runs += ours(problem, options.rounds) + scipys(problem, options.rounds)
    cases = [[p.name, list(p.start), p.until, list(p.parameters), p.floor] for p in PROBLEMS]
    for peer, script in {} if options.without_peers else PEERS.items():
        try:
            order = json.dumps({"problems": cases, "accuracies": ACCURACIES[:8], "rounds": options.rounds})
            runs += theirs(run_peer(peer, HERE / "peers" / script, [order]))
        except PeerError as error:
            print(f"{peer}: {error}", file=sys.stderr)
    print(f"{machine()}\n\nEvaluations / milliseconds to an error at the end:\n\n{table(runs)}")


if __name__ == "__main__":
    main()
