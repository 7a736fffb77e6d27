"""The common part of the comparisons: runs of cosim and of a peer, the fastest sound run, a table."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dynamics"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from compare import machine
from least import least as least
from peers import PeerError, run_peer

OURS = "cosim"
HEADER = (
    "| task | program | method, its tolerance or step | error | CPU time | ours / theirs |\n"
    + "|---" * 6
    + "|"
)


@dataclass(frozen=True)
class Run:
    """A way to make a run.

    `tolerance` is that of the method, or its step in s; `error` is against a reference; `seconds` are of the
    processor.
    """

    program: str
    method: str
    tolerance: float
    error: float
    seconds: float


Measure = Callable[[], list[Run]]


def of_peer(peer: str, script: str, argument: str, error_of: Callable[[Any], float]) -> Measure:
    """The output of a peer's script in ``step/peers``; empty, with a word, if it cannot run."""

    def measure() -> list[Run]:
        try:
            answer = run_peer(peer, f"step/peers/{script}", [argument])
        except PeerError as error:
            print(f"{peer} is left out: {error}", file=sys.stderr)
            return []
        return [
            Run(answer["name"], run["method"], run.get("tolerance", 0.0), error_of(run), run["seconds"])
            for run in answer["runs"]
        ]

    return measure


def best(measures: Iterable[Measure], passes: int) -> list[Run]:
    """The least time of each run; the programs take turns, so that what else runs here slows all of them."""
    fastest_runs: dict[tuple[Any, ...], Run] = {}
    measures = list(measures)
    for _ in range(passes):
        for measure in measures:
            for run in measure():
                key = (run.program, run.method, run.tolerance)
                fastest_run = fastest_runs.setdefault(key, run)
                if run.seconds < fastest_run.seconds:
                    fastest_runs[key] = replace(fastest_run, seconds=run.seconds)
    return list(fastest_runs.values())


def fastest(runs: Iterable[Run], level: float) -> list[Run]:
    """The fastest run of each program that is right to `level`, as are all tighter ones of its method."""
    ways: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        ways.setdefault((run.program, run.method), []).append(run)
    chosen: dict[str, Run] = {}
    for (program, _), way in ways.items():
        for run in sorted(way, key=lambda run: run.tolerance):
            if not run.error <= level:
                break  # a looser run may be right by chance
            if program not in chosen or run.seconds < chosen[program].seconds:
                chosen[program] = run
    return list(chosen.values())


def rows(task: str, runs: Iterable[Run]) -> list[str]:
    """Rows of the table: ours first, the others with how much of their time ours takes."""
    ordered = sorted(runs, key=lambda run: (run.program != OURS, run.seconds))
    ours = next((run.seconds for run in ordered if run.program == OURS), float("nan"))
    lines = []
    for run in ordered:
        share = "" if run.program == OURS else f"{ours / run.seconds:.2f}"
        error = f"{run.error:.0e}" if run.error == run.error else ""
        tolerance = f", {run.tolerance:.2g}" if run.tolerance else ""
        name = f"**{run.program}**" if run.program == OURS else run.program
        lines.append(
            f"| {task} | {name} | {run.method}{tolerance} | {error} | {time_text(run.seconds)} | {share} |"
        )
        task = ""
    return lines


def time_text(seconds: float) -> str:
    """A time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def run_and_print(*comparisons: Callable[[int], list[str]]) -> None:
    """Print the rows of comparisons, and what else ran here meanwhile."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passes", type=int, default=2, help="the least of so many passes counts")
    passes = parser.parse_args().passes
    before = os.getloadavg()[0]
    print(HEADER)
    for comparison in comparisons:
        for line in comparison(passes):
            print(line, flush=True)
    load = f"{before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"\n{machine()}. Processes that ran or waited, of all on this machine: {load}.")
