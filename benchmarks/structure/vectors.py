"""Stiff runs with a vector of states, here and by CVODE with a band, and how the time grows with its length.

    python benchmarks/structure/vectors.py [--sizes 100 400 1600] [--peers ""]

The medical Akzo Nobel problem (test set for IVP solvers, University of Bari; to t = 20 at 1e-4) and the heat
equation of a rod (to t = 0.1 at 1e-4), by `integrators.bdf`. Times are CPU times of a run, the best of three;
the peer's right-hand side is NumPy's.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from peers import PeerError, run_peer

import cosim

ACCURACY, ROUNDS = 1e-4, 3
ENDS = {"akzo": 20.0, "heat": 0.1}


def akzo_of(states: int) -> type[cosim.Component]:
    """The medical Akzo Nobel problem; concentrations of both substances in turn."""

    class Akzo(cosim.Component):
        """Penetration of tissue by a labelled antibody. Law: as in the test set."""

        y = cosim.auxiliary_state(shape=states, start=[0.0, 1.0] * (states // 2))

        @cosim.kernel
        def derivatives(t, y, y_dot):
            cells = len(y) // 2
            width = 1.0 / cells
            phi = 2.0 if t <= 5.0 else 0.0
            for j in range(cells):
                x = (j + 1) * width - 1.0
                alpha = 0.125 * x * x * x
                beta = 0.0625 * x * x * x * x
                u = y[2 * j]
                before = phi if j == 0 else y[2 * j - 2]
                after = u if j == cells - 1 else y[2 * j + 2]
                reaction = 100.0 * u * y[2 * j + 1]
                bend = before - 2.0 * u + after
                flow = alpha * (after - before) / (2.0 * width) + beta * bend / (width * width)
                y_dot[2 * j] = flow - reaction
                y_dot[2 * j + 1] = -reaction

    return Akzo


def heat_of(states: int) -> type[cosim.Component]:
    """A rod whose ends are at 0."""

    class Heat(cosim.Component):
        """A rod. Law: T' = rate (T_left - 2 T + T_right)."""

        rate = cosim.parameter(default=float((states + 1) ** 2))
        T = cosim.auxiliary_state(
            shape=states, start=[0.1 + math.sin(math.pi * (i + 1) / (states + 1)) for i in range(states)]
        )

        @cosim.kernel
        def derivatives(T, rate, T_dot):
            last = len(T) - 1
            for i in range(last + 1):
                left = T[i - 1] if i > 0 else 0.0
                right = T[i + 1] if i < last else 0.0
                T_dot[i] = rate * (left - 2.0 * T[i] + right)

    return Heat


PROBLEMS = {"akzo": akzo_of, "heat": heat_of}


def measure(problem: str, states: int) -> dict[str, Any]:
    """Time of a run, of what comes before it, and the end."""
    model = cosim.Model(problem)
    model.add(PROBLEMS[problem](states), "x")
    system = model.build()
    best, prepared = math.inf, 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        simulator = cosim.Simulator(system, integrator="integrators.bdf", accuracy=ACCURACY)
        begun = time.process_time()
        simulator.initialize()
        simulator.advance_to(ENDS[problem])
        best, prepared = min(best, time.process_time() - begun), begun - start
    return {"seconds": best, "prepared": prepared, "end": simulator.state.y.tolist()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 400, 1600])
    parser.add_argument("--peers", default="cvode")
    given = parser.parse_args()
    cases = [[problem, n] for problem in PROBLEMS for n in given.sizes]
    programs = {"cosim": [measure(problem, n) for problem, n in cases]}
    if given.peers:
        request = {"cases": cases, "ends": ENDS, "accuracy": ACCURACY, "rounds": ROUNDS}
        try:
            answer = run_peer("scikit-sundae", "structure/peer_cvode.py", [json.dumps(request)])
            programs[f"CVODE, a band ({answer['version']})"] = answer["rows"]
        except PeerError as error:
            print(f"scikit-sundae: {error}", file=sys.stderr)
    print(
        "| problem | states | program | run, ms | before it, ms | ends differ by |\n|---|---|---|---|---|---|"
    )
    for i, (problem, n) in enumerate(cases):
        for program, rows in programs.items():
            away = np.abs(np.subtract(rows[i]["end"], programs["cosim"][i]["end"])).max()
            before = f"{1e3 * rows[i]['prepared']:.3g}" if "prepared" in rows[i] else ""
            differ = f"{away:.1e}" if program != "cosim" else ""
            print(f"| {problem} | {n} | {program} | {1e3 * rows[i]['seconds']:.4g} | {before} | {differ} |")


if __name__ == "__main__":
    main()
