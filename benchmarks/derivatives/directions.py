"""The cost of derivatives along a run, in runs without: of an engine mount, ten links, a quarter car.

    python benchmarks/derivatives/directions.py [--rounds 10]

All times are CPU times, the least of all rounds; runs with and without derivatives take turns. Each run is
made twice in a row. The first one includes the preparation for its set of parameters, the second one does
not: the factors are those of the second runs, and the last column is the difference.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "dynamics"))

from compare import model_of
from trees import chain

import cosim

EXAMPLES = Path(__file__).parents[2] / "examples"
COUNTS = (1, 2, 4, 9)
"""Numbers of parameters by which runs are differentiated."""
MOUNTS = ("mount_left", "mount_right", "mount_rear")
LINKS = 10
ROWS = 50  # recorded by each run


class Case(NamedTuple):
    """A model, the end of its runs in seconds, and the parameters to differentiate by."""

    build: Callable[[], cosim.Model]
    until: float
    parameters: list[str]


CASES = {
    "engine mount": Case(
        lambda: cosim.Model.from_file(EXAMPLES / "engine_mount" / "engine_mount.toml"),
        0.5,
        [f"{mount}.stiffness[{axis}]" for mount in MOUNTS for axis in (3, 4, 5)],
    ),
    "ten links": Case(lambda: model_of(chain(LINKS)), 10.0, [f"b{i}.mass" for i in range(LINKS - 1)]),
    "quarter car": Case(
        lambda: cosim.Model.from_file(EXAMPLES / "quarter_car" / "quarter_car.toml"),
        10.0,
        ["suspension.stiffness", "suspension.damping", "car.mass", "wheel.mass"],
    ),
}


class RunTimes(NamedTuple):
    """Least CPU times of runs, s, by the number of derivatives (0: none)."""

    first: dict[int, float]  # with the preparation
    repeated: dict[int, float]

    @property
    def preparation(self) -> float:
        """The longest preparation for derivatives, s."""
        return max(self.first[n] - self.repeated[n] for n in self.first if n > 0)


def measure(case: Case, rounds: int) -> RunTimes:
    """Measure the runs of a case in turns."""
    model = case.build()
    counts = [0, *(n for n in COUNTS if n <= len(case.parameters))]
    times = RunTimes(dict.fromkeys(counts, math.inf), dict.fromkeys(counts, math.inf))
    for _ in range(rounds + 1):  # the first round compiles
        for n in counts:
            for least in times:  # the first run, then the repeated one
                start = time.process_time()
                model.simulate(case.until, output_interval=case.until / ROWS, derivatives=case.parameters[:n])
                least[n] = min(least[n], time.process_time() - start)
    return times


def heading(count: int) -> str:
    """The heading of a column."""
    return "1 derivative" if count == 1 else f"{count} derivatives"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    print(f"| system | a run, ms | {' | '.join(map(heading, COUNTS))} | to prepare, ms |")
    print("|---|---|" + "---|" * (len(COUNTS) + 1))
    for name, case in CASES.items():
        times = measure(case, rounds)
        plain_run = times.repeated[0]
        factors = [f"{times.repeated[n] / plain_run:.1f}" if n in times.repeated else "" for n in COUNTS]
        preparation = f"{1e3 * times.preparation:.0f}"
        print(f"| {name} | {1e3 * plain_run:.1f} | {' | '.join(factors)} | {preparation} |")


if __name__ == "__main__":
    main()
