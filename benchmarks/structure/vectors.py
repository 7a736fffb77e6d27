"""Stiff runs with a vector of states, here and by CVODE with a band, and how the time grows with its length.

    python benchmarks/structure/vectors.py [--sizes 100 400 1600] [--errors 1e-5 1e-6] [--peers ""]

The medical Akzo Nobel problem (test set for IVP solvers, University of Bari; to t = 20) and the heat equation
of a rod (to t = 0.1), by `integrators.bdf` as it stands. Programs are compared at errors, since each
estimates its error in its own way: both run a ladder of tolerances, and the fastest run counts that is right
to the error. An error is the largest difference of a state at the end from a far tighter run. Times are CPU
times of a run, the best of three; the peer's right-hand side is NumPy's.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from peers import try_peer

import cosim

ROUNDS = 3
# Tolerances so close to each other that no program wins because its own lie better for an error.
LADDER = [float(f"{digit}e-{power}") for power in range(3, 8) for digit in (7, 5, 3, 2, 1)]
EXACT = {"accuracy": 1e-7, "absolute_tolerance": 1e-9}
ERRORS = (1e-5, 1e-6)
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


class Measured(NamedTuple):
    """The runs of one problem with one number of states.

    Attributes
    ----------
    seconds : list of float
        CPU time of a run from its initialization on, by tolerance, s.
    prepared : float
        CPU time before that: making the Simulator, s.
    ends : list of list of float
        The states at the end, by tolerance.
    exact : list of float
        The states at the end of a far tighter run.
    """

    seconds: list[float]
    prepared: float
    ends: list[list[float]]
    exact: list[float]


def measure(problem: str, states: int, accuracies: Sequence[float] = LADDER) -> Measured:
    """Run a problem with so many states at all of these accuracies, each `ROUNDS` times."""
    model = cosim.Model(problem)
    model.add(PROBLEMS[problem](states), "x")
    system = model.build()
    prepared = math.inf

    def run(rounds: int, **options: float) -> tuple[float, list[float]]:
        nonlocal prepared
        best = math.inf
        for _ in range(rounds):
            start = time.process_time()
            simulator = cosim.Simulator(system, integrator="integrators.bdf", **options)
            begun = time.process_time()
            simulator.initialize()
            simulator.advance_to(ENDS[problem])
            best, prepared = min(best, time.process_time() - begun), min(prepared, begun - start)
        return best, simulator.state.y.tolist()

    runs = [run(ROUNDS, accuracy=accuracy) for accuracy in accuracies]
    return Measured([s for s, _ in runs], prepared, [end for _, end in runs], run(1, **EXACT)[1])


def request_of(cases: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The request for the peer."""
    return {"cases": cases, "ends": ENDS, "tolerances": LADDER, "rounds": ROUNDS}


def fastest(
    seconds: Sequence[float], ends: Sequence[Sequence[float]], exact: Sequence[float], wanted: float
) -> float:
    """The least time of the runs of a ladder that are right to an error; infinite where none is."""
    right = [
        s for s, end in zip(seconds, ends, strict=True) if np.abs(np.subtract(end, exact)).max() <= wanted
    ]
    return min(right, default=math.inf)


def fastest_of_peer(row: dict[str, Any] | None, exact: Sequence[float], wanted: float) -> float:
    """As `fastest`, for the peer's runs of one problem and size; NaN where it could not run."""
    return math.nan if row is None else fastest(row["seconds"], row["ends"], exact, wanted)


def main() -> None:
    """Print a row for each problem, size and error: the fastest runs of both that are right to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 400, 1600])
    parser.add_argument("--errors", type=float, nargs="+", default=ERRORS)
    parser.add_argument("--peers", default="cvode")
    options = parser.parse_args()
    cases = [[problem, n] for problem in PROBLEMS for n in options.sizes]
    ours = [measure(problem, n) for problem, n in cases]
    answer = None
    if options.peers:
        answer = try_peer("scikit-sundae", "structure/peer_cvode.py", [json.dumps(request_of(cases))])
    theirs: list[dict[str, Any] | None] = [None] * len(cases) if answer is None else answer["rows"]
    peer = "CVODE, a band" + ("" if answer is None else f" ({answer['version']})")
    print(f"| problem | states | right to | cosim, ms | before it, ms | {peer}, ms | ratio |\n{'|---' * 7}|")
    for (problem, n), measured, row in zip(cases, ours, theirs, strict=True):
        for wanted in options.errors:
            time_here = 1e3 * fastest(measured.seconds, measured.ends, measured.exact, wanted)
            time_there = 1e3 * fastest_of_peer(row, measured.exact, wanted)
            times = f"{time_here:.4g} | {1e3 * measured.prepared:.3g} | {time_there:.4g}"
            print(f"| {problem} | {n} | {wanted:.0e} | {times} | {time_here / time_there:.2f} |")


if __name__ == "__main__":
    main()
