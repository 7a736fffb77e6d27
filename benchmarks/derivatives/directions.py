"""The time of runs with derivatives, in runs without: an engine mount, ten links, a quarter car.

    python benchmarks/derivatives/directions.py [--rounds 10]

CPU times, the least of all rounds; runs with and without derivatives take turns.
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


def run_times(model: cosim.Model, until: float, by: list[str], rounds: int) -> dict[int, float]:
    """The least CPU time of a run by how many derivatives it has, s; 0 for none."""
    counts = [0, *(n for n in DIRECTIONS if n <= len(by))]
    least = dict.fromkeys(counts, math.inf)
    for _ in range(rounds + 1):  # the first round compiles
        for n in counts:
            begun = time.process_time()
            model.simulate(until, output_interval=until / 50, derivatives=by[:n])
            least[n] = min(least[n], time.process_time() - begun)
    return least


def heading(directions: int) -> str:
    """The heading of a column."""
    return "1 derivative" if directions == 1 else f"{directions} derivatives"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    print(f"| system | a run, ms | {' | '.join(map(heading, DIRECTIONS))} |")
    print("|---|---|" + "---|" * len(DIRECTIONS))
    for name, (build, until, by) in SYSTEMS.items():
        times = run_times(build(), until, by, rounds)
        cells = [f"{times[n] / times[0]:.1f}" if n in times else "" for n in DIRECTIONS]
        print(f"| {name} | {1e3 * times[0]:.1f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
