"""The time of runs with derivatives, in runs without: an engine mount, ten links, a quarter car.

    python benchmarks/derivatives/directions.py [--rounds 10]

CPU times, the least of all rounds; runs with and without derivatives take turns. Of two runs in a row the
second one counts: a run by other variables than the one before is prepared anew, which the last column shows.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "dynamics"))

from compare import model_of
from trees import chain

import cosim

EXAMPLES = Path(__file__).parents[2] / "examples"
DIRECTIONS = (1, 2, 4, 9)
MOUNTS = [f"mount_{place}" for place in ("left", "right", "rear")]
LINKS = 10
SYSTEMS: dict[str, tuple[Callable[[], cosim.Model], float, list[str]]] = {
    "engine mount": (
        lambda: cosim.Model.from_file(EXAMPLES / "engine_mount" / "engine_mount.toml"),
        0.5,
        [f"{mount}.stiffness[{axis}]" for mount in MOUNTS for axis in (3, 4, 5)],
    ),
    "ten links": (lambda: model_of(chain(LINKS)), 10.0, [f"b{i}.mass" for i in range(LINKS - 1)]),
    "quarter car": (
        lambda: cosim.Model.from_file(EXAMPLES / "quarter_car" / "quarter_car.toml"),
        10.0,
        ["suspension.stiffness", "suspension.damping", "car.mass", "wheel.mass"],
    ),
}
"""The model, the end of a run in seconds, and the parameters."""


def run_times(
    model: cosim.Model, until: float, by: list[str], rounds: int
) -> tuple[dict[int, float], dict[int, float]]:
    """The least CPU times of runs, s, by how many derivatives they have (0: none): repeated, and prepared."""
    counts = [0, *(n for n in DIRECTIONS if n <= len(by))]
    repeated, prepared = (dict.fromkeys(counts, math.inf) for _ in range(2))
    for _ in range(rounds + 1):  # the first round compiles
        for n in counts:
            for least in (prepared, repeated):
                begun = time.process_time()
                model.simulate(until, output_interval=until / 50, derivatives=by[:n])
                least[n] = min(least[n], time.process_time() - begun)
    return repeated, prepared


def heading(directions: int) -> str:
    """The heading of a column."""
    return "1 derivative" if directions == 1 else f"{directions} derivatives"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    print(f"| system | a run, ms | {' | '.join(map(heading, DIRECTIONS))} | to prepare, ms |")
    print("|---|---|" + "---|" * (len(DIRECTIONS) + 1))
    for name, (build, until, by) in SYSTEMS.items():
        times, prepared = run_times(build(), until, by, rounds)
        more = max(prepared[n] - times[n] for n in times if n > 0)
        cells = [f"{times[n] / times[0]:.1f}" if n in times else "" for n in DIRECTIONS]
        print(f"| {name} | {1e3 * times[0]:.1f} | {' | '.join(cells)} | {1e3 * more:.0f} |")


if __name__ == "__main__":
    main()
