"""The best method for each error: evaluations of ours on fourteen problems, relative to the best of them.

For each error at the end: the mean (of logarithms) over the problems of the fewest evaluations with which a
method gets there, as a multiple of the fewest of all, and on how many problems the method is that best one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "integrators"))
from problems import PROBLEMS, Problem

import cosim

METHODS = (
    "runge_kutta_3",
    "bogacki_shampine",
    "runge_kutta_merson",
    "dormand_prince",
    "tsitouras",
    "dormand_prince_853",
)
LEVELS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
ACCURACIES = 10.0 ** -np.arange(2.0, 12.1, 0.5)
TIGHTEST = {"runge_kutta_3": 1e-8, "bogacki_shampine": 1e-8}
ENOUGH = 10  # problems on which a method gets to an error, to be compared


def runs(problem: Problem, method: str) -> list[tuple[float, int]]:
    """Error and evaluations at all accuracies at which the run gets to its end."""
    errors_and_counts = []
    for accuracy in ACCURACIES[TIGHTEST.get(method, 0.0) <= ACCURACIES]:
        how = {"accuracy": float(accuracy), "relative_tolerance": float(accuracy)}
        simulator = problem.simulator(integrator=f"integrators.{method}", **how)
        try:
            simulator.advance_to(problem.until)
        except cosim.SimulationError:  # so coarse that the satellite meets the moon
            continue
        errors_and_counts.append((problem.error(simulator.state), simulator.statistics.evaluations))
    return errors_and_counts


def main() -> int:
    """Print the table."""
    done = {(p.name, m): runs(p, m) for p in PROBLEMS for m in METHODS}
    print("| error | " + " | ".join(f"`{m}`" for m in METHODS) + " |")
    print("|---|" + "---|" * len(METHODS))
    for level in LEVELS:
        fewest = {
            key: min((count for error, count in pairs if error <= level), default=0)
            for key, pairs in done.items()
        }
        cells = [_cell(fewest, method) for method in METHODS]
        print(f"| {level:.0e} | " + " | ".join(cells) + " |")
    return 0


def _cell(fewest: dict[tuple[str, str], int], method: str) -> str:
    """The mean ratio of a method's evaluations to the fewest of all methods; 0 evaluations: not so exact."""
    ratios = []
    for problem in PROBLEMS:
        counts = [fewest[problem.name, m] for m in METHODS if fewest[problem.name, m]]
        if fewest[problem.name, method]:
            ratios.append(fewest[problem.name, method] / min(counts))
    if len(ratios) < ENOUGH:
        return "–"
    first = sum(ratio == 1.0 for ratio in ratios)
    return f"{float(np.exp(np.mean(np.log(ratios)))):.1f} (best on {first})"


if __name__ == "__main__":
    sys.exit(main())
