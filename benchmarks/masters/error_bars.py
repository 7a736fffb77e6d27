"""Estimated against true error of a coupling, on systems with known solutions.

    python benchmarks/masters/error_bars.py [--cases 320] [--first 1000] [--plot error_bars.png]

Masses, pendula, circuits, linear networks, predators with prey, quarter cars, servo drives and walls, drawn
at random (`known_couplings`), stable and not, under all algorithms. Cases below 320 were there to choose the
constants of `coupling_error` and `verified_coupling`; those from 1000 on test them. A bar is too small when
the largest error of its output in the run is larger; a case counts as covered when none of its bars is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from known_couplings import KINDS, draw  # noqa: E402

import cosim  # noqa: E402

SMALLEST_ERROR = 1e-9
"""Errors below this part of the range are those of the participants and of rounding."""
CLEARLY_FINE = 0.002
"""An error relative to the range: a fifth of the limit for the verdict "fine"."""


class Judged(NamedTuple):
    """A case: the outputs' true errors, the bars from the run, and those from a second one."""

    seed: int
    kind: str
    algorithm: str
    ranges: list[float]
    true: list[float]
    bars: list[float]
    verified: list[float]
    verdict: str


def check_bars(seed: int) -> Judged | None:
    """The bars and errors of one case; None if its run fails or it has no connections."""
    case = draw(seed)
    loop = case.loop()
    try:
        result = loop.simulate(case.until)
        report = result.coupling
        second = loop.verify(result, case.until)
    except cosim.CosimError:
        return None
    outputs = list(dict.fromkeys(each.name.partition(" → ")[0] for each in report.connections))
    if not outputs:
        return None
    exact = case.exact_outputs(result.time)
    true = [float(np.abs(result[name] - exact[name]).max()) for name in outputs]
    bars = [float(report[name].error) for name in outputs]
    verified = [float(second[name].error) for name in outputs]
    ranges = [report[name].scale for name in outputs]
    return Judged(seed, case.kind, case.algorithm, ranges, true, bars, verified, report.verdict)


def ratios(cases: list[Judged], verified: bool = False) -> list[np.ndarray]:
    """Bars over true errors, for each case."""
    of_cases = []
    for case in cases:
        errors = np.maximum(case.true, SMALLEST_ERROR * np.array(case.ranges))
        of_cases.append(np.array(case.verified if verified else case.bars) / errors)
    return of_cases


def figures(cases: list[Judged], verified: bool = False) -> dict[str, float]:
    """The share of bars that hold, and by how much they exceed the errors, by column."""
    of_cases = ratios(cases, verified)
    of_connections = np.concatenate(of_cases)
    least = [np.min(of_case) for of_case in of_cases]
    return {
        "cases": len(of_cases),
        "covered": float(np.mean(np.array(least) >= 1.0)),
        "connections covered": float(np.mean(of_connections >= 1.0)),
        "median": float(np.median(of_connections)),
        "95 of 100 below": float(np.quantile(of_connections, 0.95)),
        "factor for 95 of 100": float(1.0 / np.quantile(least, 0.05)),
    }


def main() -> None:
    """Print how often bars hold, of all cases and by kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=320)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.cases)
    with ProcessPoolExecutor(arguments.processes) as pool:
        judged = [case for case in pool.map(check_bars, numbers, chunksize=5) if case is not None]
    print("| bars | cases | " + " | ".join(list(figures(judged))[1:]) + " |")
    print("|---" * 7 + "|")
    with_verdict = [case for case in judged if case.verdict != "unknown"]
    for name, cases, verified in (
        ("from the run", judged, False),
        ("… where it is known", with_verdict, False),
        ("second run", judged, True),
    ):
        row = figures(cases, verified)
        values = " | ".join(f"{value:.3g}" for value in list(row.values())[1:])
        print(f"| {name} | {row['cases']} | {values} |")
    for kind in KINDS:
        row = figures([case for case in judged if case.kind == kind])
        verdict_count = sum(case.kind == kind for case in with_verdict)
        print(f"{kind}: covered {row['covered']:.3g}, median {row['median']:.3g}, known in {verdict_count}")
    accurate = [case for case in judged if max(np.divide(case.true, case.ranges)) < CLEARLY_FINE]
    called_fine = sum(case.verdict == "fine" for case in accurate)
    print(f"an error below 0.2 % is called fine in {called_fine} of {len(accurate)} cases")
    print(dict(sorted(Counter(case.verdict for case in judged).items())))
    if arguments.plot:
        plot(judged, arguments.plot)


def plot(judged: list[Judged], path: Path) -> None:
    """True against estimated error, both over the range of the output."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.5), layout="constrained")
    panels: Any = figure.subplots(1, 2, sharex=True, sharey=True)
    ends = np.array([1e-8, 10.0])
    for axes, verified in zip(panels, (False, True), strict=True):
        for kind in KINDS:
            cases = [case for case in judged if case.kind == kind]
            scale = np.concatenate([case.ranges for case in cases])
            true = np.concatenate([case.true for case in cases]) / scale
            bars = np.concatenate([case.verified if verified else case.bars for case in cases]) / scale
            axes.loglog(true, np.clip(bars, ends[0], ends[1]), "o", markersize=3, alpha=0.6, label=kind)
        axes.fill_between(ends, ends, 5.0 * ends, color="grey", alpha=0.15, label="1 to 5 times the error")
        axes.loglog(ends, ends, "k-", linewidth=0.8)
        axes.set(xlim=ends, ylim=ends, xlabel="true error over the range of the output")
        axes.set_title("against half the step" if verified else "estimated from the run")
        axes.grid(True, which="major", alpha=0.2)
    panels[0].set_ylabel("bar over the range of the output")
    panels[0].legend(loc="lower right", fontsize="small")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
