"""A pendulum of ten links, 5 s: wall time to an energy error of 1e-5 J, beside Simbody, Drake and Exudyn.

Every program runs each of its explicit methods at falling tolerances; of each method the fastest run counts
whose energy is right to 1e-5 J at every half second. The energy is computed here, from angles and rates.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cosim

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dynamics"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from compare import build, machine
from peers import PeerError, run_peer
from trees import GRAVITY, chain

LINKS, ANGLE, END = 10, 0.3, 5.0
WANTED = 1e-5  # J
MARKS = [0.5 * i for i in range(1, 11)]
ACCURACIES = [m * 10.0**-e for e in range(4, 11) for m in (3.0, 1.0)]
METHODS = ("runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853")
SOLVERS = ("dynamics.composite_rigid_body", "dynamics.articulated_body")

Run = dict[str, Any]


def energy(state: Sequence[Sequence[float]]) -> float:
    """Kinetic and potential energy of joint angles and rates, J."""
    angle = rate = x_rate = z_rate = z = total = 0.0
    for q, u in state:
        angle, rate = angle + q, rate + u
        s, c = math.sin(angle), math.cos(angle)
        across, up = x_rate - 0.5 * c * rate, z_rate + 0.5 * s * rate
        total += 0.5 * (across * across + up * up) + 0.5 * 1.0025 / 12 * rate * rate
        total += 9.81 * (z - 0.5 * c)
        x_rate, z_rate, z = x_rate - c * rate, z_rate + s * rate, z - c
    return total


def started(system: cosim.System, method: str, accuracy: float) -> cosim.Simulator:
    """Ours, at the start."""
    how = {"accuracy": accuracy, "relative_tolerance": accuracy}  # of a step, as the others take theirs
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", **how)
    simulator.initialize()
    return simulator


def ours(rounds: int) -> list[Run]:
    """All methods with all solvers at all accuracies."""
    runs = []
    for solver in SOLVERS:
        system = build(chain(LINKS), solver)
        for method in METHODS:
            for accuracy in ACCURACIES:
                seconds = math.inf
                for _ in range(rounds):
                    simulator = started(system, method, accuracy)
                    begin = time.perf_counter()
                    simulator.advance_to(END)
                    seconds = min(seconds, time.perf_counter() - begin)
                evaluations = simulator.statistics.evaluations
                simulator, states = started(system, method, accuracy), []
                for mark in MARKS:
                    simulator.advance_to(mark)
                    states.append(list(zip(simulator.state.q, simulator.state.u, strict=True)))
                runs.append(
                    {
                        "method": f"{method}, {solver.rpartition('.')[2]}",
                        "accuracy": accuracy,
                        "seconds": seconds,
                        "evaluations": evaluations,
                        "states": states,
                    }
                )
    return runs


def best_of(runs: list[Run]) -> dict[str, Run]:
    """The fastest run of each method that keeps the energy, with its error."""
    whole, fastest = energy([(ANGLE, 0.0)] * LINKS), {}
    for run in runs:
        run["error"] = max(abs(energy(state) - whole) for state in run["states"])
        fastest_run = fastest.get(run["method"])
        if run["error"] <= WANTED and (fastest_run is None or run["seconds"] < fastest_run["seconds"]):
            fastest[run["method"]] = run
    return fastest


def peers(rounds: int, folder: Path) -> dict[str, list[Run]]:
    """The runs of the peers that can run here, by name and version."""
    task = {
        "tree": {**chain(LINKS), "q": ANGLE, "gravity": GRAVITY},
        "links": LINKS,
        "q": ANGLE,
        "rounds": rounds,
        "accuracies": ACCURACIES,
        "marks": MARKS,
    }
    (folder / "task.json").write_text(json.dumps(task))
    numbers = [LINKS, ANGLE, rounds, len(ACCURACIES), *ACCURACIES, len(MARKS), *MARKS]
    (folder / "task.txt").write_text(" ".join(map(repr, numbers)))
    runs_of = {}
    for peer, script, file in (
        ("drake", "pendulum_drake.py", "task.json"),
        ("exudyn", "pendulum_exudyn.py", "task.json"),
        ("simbody", "pendulum_simbody.cpp", "task.txt"),
    ):
        try:
            answer = run_peer(peer, f"integrators/peers/{script}", [str(folder / file)])
            runs_of[answer["name"]] = answer["runs"]
        except PeerError as error:
            print(f"{peer} is left out: {error}", file=sys.stderr)
    return runs_of


def main(arguments: list[str] | None = None) -> int:
    """Print a table, fastest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="the best of this many rounds counts")
    rounds = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as folder:
        programs = {"cosim": ours(rounds), **peers(rounds, Path(folder))}
    rows = [(name, run) for name, runs in programs.items() for run in best_of(runs).values()]
    print(machine())
    print("\n| program | method | its tolerance | energy error, J | evaluations | wall time, ms |")
    print("|---|---|---|---|---|---|")
    for name, run in sorted(rows, key=lambda row: float(row[1]["seconds"])):
        count = run.get("evaluations", "")
        print(
            f"| {name} | {run['method']} | {run['accuracy']:.0e} | {run['error']:.1e} | {count} "
            f"| {1e3 * run['seconds']:.1f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
