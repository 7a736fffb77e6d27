"""Bouncing balls with every method here and every one of Simbody's: the fewest evaluations to an error.

    python benchmarks/events/all_methods.py [--balls 100] [--until 10] [--accuracy 1e-4 1e-6 1e-8]

Writes two tables (markdown): all runs, and for each program the run with the fewest evaluations of those
whose times of impact are all as exact as asked.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from bouncing_balls import RESTITUTION, lateness, ours
from peers import PeerError, run_peer

SIMBODY = "events/bouncing_balls_simbody.cpp"
METHODS = {
    "cosim": [
        *("bogacki_shampine", "runge_kutta_merson", "dormand_prince", "tsitouras"),
        *("dormand_prince_853", "velocity_verlet", "bdf", "radau5"),
    ],
    "Simbody 3.7": ["euler", "semi_euler_2", "rk2", "verlet", "rk3", "merson", "feldberg", "cpodes"],
}
ERRORS = (1e-3, 1e-5, 1e-7)  # s
PATIENCE = 200.0  # s, for a run of the peer: with some of its methods it hardly ever ends


class MethodRun(NamedTuple):
    """A run of one method: its evaluations for each impact, and its largest error of a time, s."""

    program: str
    method: str
    accuracy: float
    evaluations: float
    error: float


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--balls", type=int, default=100)
    parser.add_argument("--until", type=float, default=10.0)
    parser.add_argument("--accuracy", type=float, nargs="+", default=[1e-4, 1e-6, 1e-8])
    options = parser.parse_args()
    print("| program | method | accuracy | impacts | evaluations / impact | time / impact | largest error |")
    print("|---|---|---|---|---|---|---|")
    runs: list[MethodRun] = []
    for program, methods in METHODS.items():
        for method in methods:
            for accuracy in options.accuracy:
                figures = figures_of(program, method, options, accuracy)
                head = f"| {program} | {method} | {accuracy:g}"
                if isinstance(figures, str):
                    print(f"{head} | {figures} | | | |", flush=True)
                    continue
                error, impacts = lateness(figures, options.until), max(1, figures["impacts"])
                run = MethodRun(program, method, accuracy, figures["evaluations"] / impacts, error)
                runs.append(run)
                error_text = f"{error:.1e} s" if error == error else "impacts are missing"
                time_text = f"{1e6 * figures['wall'] / impacts:.0f} µs"
                cells = f"{figures['impacts']} | {run.evaluations:.2f} | {time_text} | {error_text}"
                print(f"{head} | {cells} |", flush=True)
    print_fewest(runs)


def print_fewest(runs: list[MethodRun]) -> None:
    """Print for each error and program the run with the fewest evaluations that is as exact."""
    print("\n| times exact to | program | method | accuracy | evaluations / impact |\n|---|---|---|---|---|")
    for largest_error in ERRORS:
        for program in METHODS:
            exact = [run for run in runs if run.program == program and run.error <= largest_error]
            cells = "none | |"
            if exact:
                best = min(exact, key=lambda run: run.evaluations)
                cells = f"{best.method} | {best.accuracy:g} | {best.evaluations:.2f}"
            print(f"| {largest_error:g} s | {program} | {cells} |")


def figures_of(program: str, method: str, options: argparse.Namespace, accuracy: float) -> Any:
    """The figures of a run (see `bouncing_balls.ours`), or a text that says why there are none."""
    balls, until = options.balls, options.until
    try:
        if program == "cosim":
            return ours(balls, until, accuracy, method, repeats=1)
        numbers = [str(x) for x in (balls, until, accuracy, RESTITUTION)]
        return run_peer("simbody", SIMBODY, [*numbers, method], timeout=PATIENCE)
    except PeerError as error:
        lines = str(error).strip().splitlines() or ["failed"]
        return lines[-1][:80]
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:80]


if __name__ == "__main__":
    main()
