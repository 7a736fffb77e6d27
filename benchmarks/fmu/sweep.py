"""Runs every FMU of a folder with ours and with fmpy, and compares signal by signal.

    python benchmarks/fmu/sweep.py FOLDER [--limit SECONDS] [--only TEXT]

Each run is a process of its own, ended after the limit. Both get the same times: those of the default
experiment, at most 200 steps of them. Co-Simulation means the same calls, so the values should have the same
bits; Model Exchange is integrated by different methods with a tolerance of 1e-6. FMUs are code: run those
that you would run anyhow.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosim

KINDS = {"CoSimulation": "fmu.co_simulation", "ModelExchange": "fmu.model_exchange"}
MOST_STEPS, MOST_SIGNALS = 200, 300
TOLERANCE = 1e-6
SAME_TIME = 1e-9
MOST_LETTERS = 200
"""Of an error."""


class Task(NamedTuple):
    """What both run: an interface of a file, over a time with steps (s), and which outputs are recorded."""

    path: Path
    kind: str
    start: float
    stop: float
    step: float
    names: list[str]

    @property
    def tolerance(self) -> float | None:
        """For Model Exchange."""
        return TOLERANCE if self.kind == "ModelExchange" else None


Recorded = tuple[Any, dict[str, Any]]
"""Times, and values by name."""


def task_of(path: Path, kind: str) -> Task:
    """By the default experiment of the FMU."""
    description = cosim.registry().get("participant", KINDS[kind])(path, "fmu").describe()
    experiment = description.default_experiment
    start = experiment.start or 0.0
    stop = experiment.stop if experiment.stop is not None else start + 1.0
    step = min(experiment.step or (stop - start) / MOST_STEPS, stop - start)
    stop = start + step * max(1, min(MOST_STEPS, round((stop - start) / step)))
    shown = [v for v in description.variables.values() if v.type not in ("clock", "binary", "string")]
    names = [v.name for v in shown if v.causality == "output"] or [v.name for v in shown if v.type == "real"]
    return Task(path, kind, start, stop, step, names[:MOST_SIGNALS])


def run_ours(task: Task) -> Recorded:
    """By a co-simulation of the FMU alone."""
    from cosim_fmu import CoSimulation

    participant = cosim.registry().get("participant", KINDS[task.kind])(task.path, "fmu")
    loop = CoSimulation(
        {"fmu": participant}, [], "jacobi", task.step, start=task.start, tolerance=task.tolerance
    )
    result = loop.simulate(task.stop, record=[f"fmu.{name}" for name in task.names], inside="nothing")
    return result.time, {name: result[f"fmu.{name}"] for name in task.names}


def run_fmpy(task: Task) -> Recorded:
    """By `fmpy.simulate_fmu`; elements of arrays have no name there."""
    import fmpy

    description = fmpy.read_model_description(str(task.path), validate=False)
    names = [v.name for v in description.modelVariables if v.name in task.names]
    has_events = task.kind == "CoSimulation" and getattr(description.coSimulation, "hasEventMode", False)
    table = fmpy.simulate_fmu(
        str(task.path), validate=False, fmi_type=task.kind, start_time=task.start, stop_time=task.stop,
        output=names, output_interval=task.step, step_size=task.step, relative_tolerance=task.tolerance,
        use_event_mode=bool(has_events), early_return_allowed=bool(has_events),
    )  # fmt: skip
    return table["time"], {name: table[name] for name in names}


RUNNERS = {"ours": run_ours, "fmpy": run_fmpy}


def run_in_process(runner: str, path: Path, kind: str, limit: float) -> tuple[Recorded | None, str]:
    """What one of the runners recorded in a process of its own, or None and why not."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        command = [sys.executable, __file__, "--run", runner, str(path), kind, str(answer)]
        try:
            ended = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"took longer than {limit:g} s"
        if answer.exists():
            return pickle.loads(answer.read_bytes()), ""
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        return None, lines[-1][:MOST_LETTERS] if lines else f"status {ended.returncode}"


def compare(ours: Recorded, theirs: Recorded) -> tuple[str, str]:
    """Whether they agree, and how far they do not; of several rows of fmpy at one instant any may be ours."""
    (times, values), (their_times, their_values) = ours, theirs
    near = SAME_TIME * max(1.0, float(np.abs(times).max()))
    first = np.searchsorted(their_times, times - near, "left")
    last = np.searchsorted(their_times, times + near, "right")
    if (last <= first).sum() > 1:  # one may have stopped a step before
        return "other times", f"{len(times)} and {len(their_times)} rows"
    largest_gap, where = 0.0, ""
    for name in their_values:
        our_column = np.asarray(values[name], dtype=float)
        their_column = np.asarray(their_values[name], dtype=float)
        size = float(np.nanmax(np.abs(their_column), initial=0.0)) or 1.0
        for i in np.flatnonzero(last > first):
            gaps = [
                0.0 if np.array_equal(our_column[i], value, equal_nan=True) else abs(our_column[i] - value)
                for value in their_column[first[i] : last[i]]
            ]
            gap = float(np.nan_to_num(min(gaps), nan=np.inf)) / size
            if gap > largest_gap:
                largest_gap, where = gap, f"{name} at {times[i]:.9g} s"
    return ("differs", f"by {largest_gap:.1e} of its size: {where}") if where else ("equal", "")


def main() -> None:
    """A line for each FMU and interface, then how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for path in sorted(arguments.folder.resolve().glob("*.fmu")):
        if arguments.only not in path.name:
            continue
        for kind, id in KINDS.items():
            try:
                offered = cosim.registry().get("participant", id)(path).describe().kind
            except cosim.CosimError as error:
                counts[kind, "refused"] += kind == "CoSimulation"  # a file that cannot be read, once
                print(f"{path.name}\t{kind}\trefused\t{error}", flush=True)
                break
            if kind.replace("CoS", "Co-S").replace("lE", "l E") not in offered:
                continue
            (ours, our_reason), (theirs, their_reason) = (
                run_in_process(runner, path, kind, arguments.limit) for runner in RUNNERS
            )
            if ours and theirs:
                outcome, details = compare(ours, theirs)
            else:
                outcome = "only ours" if ours else "only fmpy" if theirs else "neither"
                details = " | ".join(filter(None, (our_reason, their_reason)))
            counts[kind, outcome] += 1
            print(f"{path.name}\t{kind}\t{outcome}\t{details}", flush=True)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind}: {outcome}: {count}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        runner, path, kind, answer = sys.argv[2:]
        Path(answer).write_bytes(pickle.dumps(RUNNERS[runner](task_of(Path(path), kind))))
    else:
        main()
