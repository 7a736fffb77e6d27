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
from typing import Any

import numpy as np

import cosim

KINDS = {"CoSimulation": "fmu.co_simulation", "ModelExchange": "fmu.model_exchange"}
MOST_STEPS, MOST_SIGNALS = 200, 300
TOLERANCE = 1e-6


def run(who: str, path: Path, kind: str, answer: Path) -> None:
    """One run, in this process; what was recorded goes to a file."""
    participant = cosim.registry().get("participant", KINDS[kind])(path, "fmu")
    description = participant.describe()
    told = description.default_experiment
    start = told.start or 0.0
    stop = told.stop if told.stop is not None else start + 1.0
    step = min(told.step or (stop - start) / MOST_STEPS, stop - start)
    stop = start + step * max(1, min(MOST_STEPS, round((stop - start) / step)))
    shown = [v for v in description.variables.values() if v.type not in ("clock", "binary", "string")]
    names = [v.name for v in shown if v.causality == "output"] or [v.name for v in shown if v.type == "real"]
    names = names[:MOST_SIGNALS]
    tolerance = TOLERANCE if kind == "ModelExchange" else None
    if who == "ours":
        from cosim_fmu import CoSimulation

        loop = CoSimulation({"fmu": participant}, [], "jacobi", step, start=start, tolerance=tolerance)
        result = loop.simulate(stop, record=[f"fmu.{name}" for name in names], inside="nothing")
        found = result.time, {name: result[f"fmu.{name}"] for name in names}
    else:
        import fmpy

        read = fmpy.read_model_description(str(path), validate=False)
        names = [
            v.name for v in read.modelVariables if v.name in names
        ]  # elements of arrays have no name there
        events = kind == "CoSimulation" and bool(getattr(read.coSimulation, "hasEventMode", False))
        table = fmpy.simulate_fmu(
            str(path), validate=False, fmi_type=kind, start_time=start, stop_time=stop, output=names,
            output_interval=step, step_size=step, relative_tolerance=tolerance,
            use_event_mode=events, early_return_allowed=events,
        )  # fmt: skip
        found = table["time"], {name: table[name] for name in names}
    answer.write_bytes(pickle.dumps(found))


def in_a_process(who: str, path: Path, kind: str, limit: float) -> tuple[Any, str]:
    """What it recorded, or None and why not."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        words = [sys.executable, __file__, "--run", who, str(path), kind, str(answer)]
        try:
            ended = subprocess.run(
                words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"took longer than {limit:g} s"
        if answer.exists():
            return pickle.loads(answer.read_bytes()), ""
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines() or [f"status {ended.returncode}"]
        return None, said[-1][:200]


def compare(ours: Any, theirs: Any) -> tuple[str, str]:
    """Whether they agree, and how far they do not; of several rows of fmpy at one instant any may be ours."""
    (times, values), (others, wanted) = ours, theirs
    near = 1e-9 * max(1.0, float(np.abs(times).max()))
    first = np.searchsorted(others, times - near, "left")
    last = np.searchsorted(others, times + near, "right")
    if (last <= first).sum() > 1:  # one may have stopped a step before
        return "other times", f"{len(times)} and {len(others)} rows"
    worst, where = 0.0, ""
    for name in wanted:
        mine, other = (np.asarray(column, dtype=float) for column in (values[name], wanted[name]))
        size = float(np.nanmax(np.abs(other), initial=0.0)) or 1.0
        for i in np.flatnonzero(last > first):
            gaps = [0.0 if np.array_equal(mine[i], x, equal_nan=True) else abs(mine[i] - x)
                    for x in other[first[i] : last[i]]]  # fmt: skip
            gap = float(np.nan_to_num(min(gaps), nan=np.inf)) / size
            if gap > worst:
                worst, where = gap, f"{name} at {times[i]:.9g} s"
    return ("differs", f"by {worst:.1e} of its size: {where}") if worst else ("equal", "")


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
            (ours, why), (theirs, their_why) = (
                in_a_process(who, path, kind, arguments.limit) for who in ("ours", "fmpy")
            )
            if ours and theirs:
                what, more = compare(ours, theirs)
            else:
                what = "only ours" if ours else "only fmpy" if theirs else "neither"
                more = " | ".join(filter(None, (why, their_why)))
            counts[kind, what] += 1
            print(f"{path.name}\t{kind}\t{what}\t{more}", flush=True)
    for (kind, what), count in sorted(counts.items()):
        print(f"{kind}: {what}: {count}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2], Path(sys.argv[3]), sys.argv[4], Path(sys.argv[5]))
    else:
        main()
