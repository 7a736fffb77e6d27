"""Bouncing balls with every method here and every one of Simbody's: the fewest evaluations to an error.

    python benchmarks/events/all_methods.py [--balls 100] [--until 10] [--accuracy 1e-4 1e-6 1e-8]

Writes two tables (markdown): all runs, and for each program the run with the fewest evaluations of those
whose times of impact are all as exact as asked.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

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
PATIENCE = 200.0  # s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--balls", type=int, default=100)
    parser.add_argument("--until", type=float, default=10.0)
    parser.add_argument("--accuracy", type=float, nargs="+", default=[1e-4, 1e-6, 1e-8])
    arguments = parser.parse_args()
    print("| program | method | accuracy | impacts | evaluations / impact | time / impact | largest error |")
    print("|---|---|---|---|---|---|---|")
    runs: list[tuple[str, str, float, float, float]] = []
    for program, methods in METHODS.items():
        for method in methods:
            for accuracy in arguments.accuracy:
                figures = figures_of(program, method, arguments, accuracy)
                if isinstance(figures, str):
                    print(f"| {program} | {method} | {accuracy:g} | {figures} | | | |", flush=True)
                    continue
                error, impacts = lateness(figures, arguments.until), max(1, figures["impacts"])
                count = figures["evaluations"] / impacts
                shown_error = f"{error:.1e} s" if error == error else "impacts are missing"
                print(
                    f"| {program} | {method} | {accuracy:g} | {figures['impacts']} | {count:.2f} | "
                    f"{1e6 * figures['wall'] / impacts:.0f} µs | {shown_error} |",
                    flush=True,
                )
                runs.append((program, method, accuracy, count, error))
    print("\n| times exact to | program | method | accuracy | evaluations / impact |\n|---|---|---|---|---|")
    for wanted in ERRORS:
        for program in METHODS:
            good = [run for run in runs if run[0] == program and run[4] <= wanted]
            best = min(good, key=lambda run: run[3], default=None)
            best_run = "none | |" if best is None else f"{best[1]} | {best[2]:g} | {best[3]:.2f}"
            print(f"| {wanted:g} s | {program} | {best_run} |")


def figures_of(program: str, method: str, arguments: argparse.Namespace, accuracy: float) -> Any:
    """The figures of a run, or why there are none."""
    balls, until = arguments.balls, arguments.until
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
