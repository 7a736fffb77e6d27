"""A hundred bouncing balls for 10 s at accuracy 1e-6, 639 impacts, beside Simbody.

Usage: python benchmarks/step/balls.py [--passes 2]

The balls and both programs are those of ``benchmarks/events/bouncing_balls.py``, which counts evaluations.
Methods of one order stand beside each other; the error is the largest of all times of impact, s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "events"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bouncing_balls import RESTITUTION, lateness, ours
from peers import PeerError, run_peer
from runs import OURS, Run, best, rows, run_and_print

BALLS, UNTIL, ACCURACY = 100, 10.0, 1e-6
METHODS = {"runge_kutta_merson": "merson", "bogacki_shampine": "rk3"}


def run(program: str, method: str, figures: dict[str, Any]) -> Run:
    """Run a program, and check its times."""
    return Run(program, method, ACCURACY, lateness(figures, UNTIL), figures["cpu"])


def here() -> list[Run]:
    """Ours, with each method."""
    return [run(OURS, method, ours(BALLS, UNTIL, ACCURACY, method)) for method in METHODS]


def simbody() -> list[Run]:
    """The program in C++."""
    numbers = [str(x) for x in (BALLS, UNTIL, ACCURACY, RESTITUTION)]

    def runs() -> Iterator[Run]:
        for method in METHODS.values():
            yield run(
                "Simbody 3.7",
                method,
                run_peer("simbody", "events/bouncing_balls_simbody.cpp", [*numbers, method]),
            )

    try:
        return list(runs())
    except PeerError as error:
        print(f"simbody is left out: {error}", file=sys.stderr)
        return []


def compare(passes: int) -> list[str]:
    """Rows of the table."""
    runs, lines = best([here, simbody], passes), []
    for own_method, method_of_peer in METHODS.items():
        lines += rows("100 balls, 639 impacts", [r for r in runs if r.method in (own_method, method_of_peer)])
    return lines


if __name__ == "__main__":
    run_and_print(compare)
