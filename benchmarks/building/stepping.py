"""The cost of a step, and of recording at its end: CPU times, for each part.

    python benchmarks/building/stepping.py [--sizes 10 100 1000 10000] [--models free_bodies …]

Each model runs in a process of its own, with the classical Runge–Kutta method (four evaluations a step) at a
fixed step, and is recorded at each step or at the end alone. Each time is what a run takes more than one of
half as many steps: what a run needs before its first step is not in it. Writes a table (markdown).
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from typing import Any

from building import MODELS, SIZES, evaluation, exponent

import cosim

STEP = 1e-4  # s
MOST_BODIES = 1000  # of which all variables are recorded: of ten thousand a row has 42 MB
SHOWN = ("long_chain", "short_chains", "free_bodies")


def spent(system: cosim.System, steps: int, signals: list[str] | None, each_step: bool) -> float:
    """CPU time of a run of that many steps, s."""
    until = steps * STEP
    interval = STEP if each_step else until
    start = time.process_time()
    cosim.simulate(system, until, "integrators.runge_kutta_4", fixed_step=STEP,
                   output_interval=interval, signals=signals)  # fmt: skip
    return time.process_time() - start


def each(system: cosim.System, steps: int, signals: list[str] | None, each_step: bool = True) -> float:
    """CPU time of one step, s: least times of five runs of either length."""
    least = [min(spent(system, n, signals, each_step) for _ in range(5)) for n in (steps, 2 * steps)]
    return (least[1] - least[0]) / steps


def measure(name: str, size: int) -> dict[str, Any]:
    """Run a model in this process."""
    spent(MODELS[name](8).build(), 4, None, each_step=True)
    system = MODELS[name](size).build()
    steps = max(50, 200_000 // size)
    bare = each(system, steps, ["energy.total"], each_step=False)
    measured = {
        "evaluations": 4.0 * evaluation(system),
        "step": bare,
        "recorded": each(system, steps, None) - bare,
    }
    if size <= MOST_BODIES:
        measured["everything"] = each(system, max(20, steps // 10), ["*"]) - bare
    return measured


def main() -> None:
    """Measure each model at each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--models", nargs="+", default=SHOWN, choices=list(MODELS))
    parser.add_argument(
        "--one", action="store_true", help="one model, one size, in this process; writes JSON"
    )
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.models[0], chosen.sizes[0])))
        return
    print("| model | size | four evaluations / size | step / size | exponent | signals / size | all / size |")
    print("|---|---|---|---|---|---|---|")
    for name in chosen.models:
        last: tuple[int, float] | None = None
        for size in chosen.sizes:
            command = [sys.executable, __file__, "--one", "--models", name, "--sizes", str(size)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            measured = json.loads(answer.splitlines()[-1])
            grown = exponent((last[0], size), (last[1], measured["step"])) if last else math.nan
            times = {key: f"{1e9 * value / size:.0f} ns" for key, value in measured.items()}
            shown = "" if math.isnan(grown) else f"{grown:.2f}"
            cells = [
                times["evaluations"],
                times["step"],
                shown,
                times["recorded"],
                times.get("everything", ""),
            ]
            print(f"| {name} | {size} | {' | '.join(cells)} |", flush=True)
            last = size, measured["step"]


if __name__ == "__main__":
    main()
