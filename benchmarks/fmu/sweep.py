"""Runs every FMU of a folder with cosim and with fmpy, and compares signal by signal.

    python benchmarks/fmu/sweep.py FOLDER [--limit SECONDS] [--only TEXT]

Each run has a process of its own, which is ended after the limit. Both tools get the times of the default
experiment, at most 200 steps. In Co-Simulation they make the same calls, so the values should have the same
bits; in Model Exchange they integrate by different methods with a tolerance of 1e-6. FMUs are code:
sweep only those that you would run anyhow.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim

MOST_STEPS, MOST_SIGNALS = 200, 300
TOLERANCE = 1e-6
"""The tolerance of integrators in Model Exchange."""
TIME_ROUNDING = 1e-9
"""Times that differ by less, relative to the largest one, are the same."""
LONGEST_MESSAGE = 200
"""Length of an error message in the output."""


class Interface(NamedTuple):
    """An interface of FMI: its element in the file, its name in descriptions, and its participant."""

    element: str
    title: str
    id: str


INTERFACES = {
    "CoSimulation": Interface("CoSimulation", "Co-Simulation", "fmu.co_simulation"),
    "ModelExchange": Interface("ModelExchange", "Model Exchange", "fmu.model_exchange"),
}


class Experiment(NamedTuple):
    """One interface of an FMU, times and steps (s), and the recorded signals."""

    path: Path
    interface: Interface
    start: float
    stop: float
    step: float
    signals: list[str]

    @property
    def tolerance(self) -> float | None:
        """The tolerance of the integrator; None in Co-Simulation."""
        return TOLERANCE if self.interface.element == "ModelExchange" else None


class Recording(NamedTuple):
    """Times (s), and the values of each signal."""

    times: NDArray[np.float64]
    signals: dict[str, NDArray[np.float64]]


def experiment_of(path: Path, interface: Interface) -> Experiment:
    """The default experiment of an FMU, with its outputs as signals; with its reals if it has no outputs."""
    description = cosim.registry().get("participant", interface.id)(path, "fmu").describe()
    default = description.default_experiment
    start = default.start or 0.0
    stop = default.stop if default.stop is not None else start + 1.0
    step = min(default.step or (stop - start) / MOST_STEPS, stop - start)
    stop = start + step * max(1, min(MOST_STEPS, round((stop - start) / step)))
    numeric = [v for v in description.variables.values() if v.type not in ("clock", "binary", "string")]
    outputs = [v.name for v in numeric if v.causality == "output"]
    signals = outputs or [v.name for v in numeric if v.type == "real"]
    return Experiment(path, interface, start, stop, step, signals[:MOST_SIGNALS])


def run_cosim(experiment: Experiment) -> Recording:
    """Record a co-simulation of the FMU alone."""
    from cosim_fmu import CoSimulation

    participant = cosim.registry().get("participant", experiment.interface.id)(experiment.path, "fmu")
    loop = CoSimulation(
        {"fmu": participant},
        [],
        "jacobi",
        experiment.step,
        start=experiment.start,
        tolerance=experiment.tolerance,
    )
    paths = [f"fmu.{name}" for name in experiment.signals]
    result = loop.simulate(experiment.stop, record=paths, inside="nothing")
    return Recording(result.time, {name: result[f"fmu.{name}"] for name in experiment.signals})


def run_fmpy(experiment: Experiment) -> Recording:
    """Record `fmpy.simulate_fmu`, which has no names for elements of arrays."""
    import fmpy

    path, kind = str(experiment.path), experiment.interface.element
    description = fmpy.read_model_description(path, validate=False)
    signals = [v.name for v in description.modelVariables if v.name in experiment.signals]
    has_events = kind == "CoSimulation" and bool(getattr(description.coSimulation, "hasEventMode", False))
    table = fmpy.simulate_fmu(
        path,
        validate=False,
        fmi_type=kind,
        start_time=experiment.start,
        stop_time=experiment.stop,
        output=signals,
        output_interval=experiment.step,
        step_size=experiment.step,
        relative_tolerance=experiment.tolerance,
        use_event_mode=has_events,
        early_return_allowed=has_events,
    )
    return Recording(table["time"], {name: table[name] for name in signals})


TOOLS = {"cosim": run_cosim, "fmpy": run_fmpy}


def run_in_process(tool: str, path: Path, interface: Interface, limit: float) -> tuple[Recording | None, str]:
    """The recording of a tool in a process of its own; None and the reason if it fails or takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording"
        command = [sys.executable, __file__, "--run", tool, str(path), interface.element, str(file)]
        try:
            ended = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"took longer than {limit:g} s"
        if file.exists():
            return Recording(*pickle.loads(file.read_bytes())), ""
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        return None, lines[-1][:LONGEST_MESSAGE] if lines else f"status {ended.returncode}"


def compare(ours: Recording, other: Recording) -> tuple[str, str]:
    """Whether two recordings agree, and the largest difference.

    Where the other one has several rows at an instant (both sides of an event), the closest one counts.
    """
    near = TIME_ROUNDING * max(1.0, float(np.abs(ours.times).max()))
    first = np.searchsorted(other.times, ours.times - near, "left")
    last = np.searchsorted(other.times, ours.times + near, "right")
    if (last <= first).sum() > 1:  # one of the tools may end a step earlier
        return "other times", f"{len(ours.times)} and {len(other.times)} rows"
    largest_gap, place = 0.0, ""
    for name in other.signals:
        our_column = np.asarray(ours.signals[name], dtype=float)
        other_column = np.asarray(other.signals[name], dtype=float)
        size = float(np.nanmax(np.abs(other_column), initial=0.0)) or 1.0
        for i in np.flatnonzero(last > first):
            gap = smallest_gap(our_column[i], other_column[first[i] : last[i]]) / size
            if gap > largest_gap:
                largest_gap, place = gap, f"{name} at {ours.times[i]:.9g} s"
    return ("differs", f"by {largest_gap:.1e} of its size: {place}") if place else ("equal", "")


def smallest_gap(value: float, candidates: NDArray[np.float64]) -> float:
    """The distance to the closest candidate; infinite if only one of the two is not a number."""
    gaps = [0.0 if np.array_equal(value, c, equal_nan=True) else abs(value - c) for c in candidates]
    return float(np.nan_to_num(min(gaps), nan=np.inf))


def outcome_of(path: Path, interface: Interface, limit: float) -> tuple[str, str]:
    """Run an interface of an FMU with both tools: the outcome in a word, and its details."""
    (ours, our_reason), (other, other_reason) = (
        run_in_process(tool, path, interface, limit) for tool in TOOLS
    )
    if ours and other:
        return compare(ours, other)
    outcome = "only ours" if ours else "only fmpy" if other else "neither"
    return outcome, " | ".join(filter(None, (our_reason, other_reason)))


def sweep(paths: list[Path], limit: float) -> Counter[tuple[str, str]]:
    """Print a line for each FMU and interface; the count of each outcome, by interface."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in paths:
        for interface in INTERFACES.values():
            try:
                described = cosim.registry().get("participant", interface.id)(path).describe().kind
            except cosim.CosimError as error:
                counts[interface.element, "refused"] += interface.element == "CoSimulation"  # once a file
                print(f"{path.name}\t{interface.element}\trefused\t{error}", flush=True)
                break
            if interface.title in described:
                outcome, details = outcome_of(path, interface, limit)
                counts[interface.element, outcome] += 1
                print(f"{path.name}\t{interface.element}\t{outcome}\t{details}", flush=True)
    return counts


def main() -> None:
    """Print a line for each FMU, and how often each outcome came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    paths = [p for p in sorted(arguments.folder.resolve().glob("*.fmu")) if arguments.only in p.name]
    for (element, outcome), count in sorted(sweep(paths, arguments.limit).items()):
        print(f"{element}: {outcome}: {count}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _, _, tool, path, element, file = sys.argv
        recording = TOOLS[tool](experiment_of(Path(path), INTERFACES[element]))
        Path(file).write_bytes(pickle.dumps(tuple(recording)))
    else:
        main()
