"""The Brusselator to 20 s, right to 1e-8: `cosim.simulate()` of a built system beside numbalsoda.

Usage: python benchmarks/step/brusselator.py [--passes 2]

Ours is the whole call: options, a Simulator, the run, the result; once with its default recording of 501
rows, once with the first and the last row. numbalsoda's is its one call, with as many rows. Errors are
at the end, over the largest value there.
"""

from __future__ import annotations

import functools
import itertools
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "integrators"))
from problems import BRUSSELATOR, Brusselator
from runs import OURS, Run, best, fastest, least, of_peer, rows, run_and_print

import cosim

START, UNTIL, RUNS, LEVEL = (1.5, 3.0), 20.0, 30, 1e-8
METHODS = ("runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853")
TOLERANCES = [m * 10.0**-e for e in range(6, 11) for m in (3.0, 1.0)]
SOLUTION = np.array(BRUSSELATOR)


def error_of(end: list[float]) -> float:
    """Relative to the largest value."""
    return float(abs(np.array(end) - SOLUTION).max() / SOLUTION.max())


def ours(system: cosim.System, intervals: int) -> list[Run]:
    """All methods at all tolerances."""
    runs = []
    for method, tolerance in itertools.product(METHODS, TOLERANCES):
        call = functools.partial(
            cosim.simulate,
            system,
            until=UNTIL,
            integrator=f"integrators.{method}",
            accuracy=tolerance,
            relative_tolerance=tolerance,
            output_interval=UNTIL / intervals,
        )
        seconds, result = least(call, RUNS)
        assert len(result.time) == intervals + 1
        end = [float(result[f"part.y[{i}]"][-1]) for i in range(2)]
        runs.append(Run(OURS, method, tolerance, error_of(end), seconds))
    return runs


def compare(passes: int) -> list[str]:
    """Rows of the table."""
    model = cosim.Model("brusselator")
    model.add(Brusselator, "part")
    system, lines = model.build(), []
    for intervals in (500, 1):
        task = {
            "start": START,
            "until": UNTIL,
            "intervals": intervals,
            "tolerances": TOLERANCES,
            "runs": RUNS,
        }
        theirs = of_peer(
            "numbalsoda", "brusselator_numbalsoda.py", json.dumps(task), lambda run: error_of(run["end"])
        )
        runs = fastest(best([functools.partial(ours, system, intervals), theirs], passes), LEVEL)
        lines += rows(f"Brusselator, `simulate()` with {intervals + 1} rows, right to {LEVEL:.0e}", runs)
    return lines


if __name__ == "__main__":
    run_and_print(compare)
