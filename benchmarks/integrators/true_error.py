"""The cost and the gain of the share of the accuracy that a step gets.

Usage: python benchmarks/integrators/true_error.py

The problems of the tests (`tests/integrators/error_problems.py`) that make less than ten of a small error.
Largest error of a recorded state in accuracies, and evaluations of all problems together: with
`relative_tolerance=accuracy` (each step is held to the accuracy) and without.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "integrators"))

from error_problems import ERROR_PROBLEMS
from test_true_error import ACCURACIES, INTEGRATORS, LOWER_ORDER, measure

GROWING_LESS = 10.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=INTEGRATORS)
    problems = [problem for problem in ERROR_PROBLEMS if problem.growth < GROWING_LESS]
    heads = [f"{a:g}: each step held to it | its share | evaluations" for a in ACCURACIES]
    print(f"| integrator | {' | '.join(heads)} |")
    print("|---" * (1 + 3 * len(ACCURACIES)) + "|")
    for method in parser.parse_args().methods:
        cells = []
        for accuracy in ACCURACIES:
            if method in LOWER_ORDER and accuracy < 1e-6:
                cells += ["", "", ""]
                continue
            before = [measure(p, method, accuracy, relative_tolerance=accuracy) for p in problems]
            now = [measure(p, method, accuracy) for p in problems]
            ratio = sum(count for _, count in now) / sum(count for _, count in before)
            cells += [f"{max(error for error, _ in pairs) / accuracy:.2g}" for pairs in (before, now)]
            cells.append(f"× {ratio:.2f}")
        print(f"| `{method}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
