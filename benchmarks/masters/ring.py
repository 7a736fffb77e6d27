"""The cost of a master per communication step and FMU: rings and chains of tiny FMUs and systems.

    python benchmarks/masters/ring.py [--sizes 2 10 100 1000] [--plot cost.png]
    python benchmarks/masters/ring.py --algorithms [--sizes 10 100]

Cosim and other masters in one run. Each FMU is ``node.c``: x' = u - x by one explicit Euler step, which takes
a few nanoseconds. The first starts at 2, the others at 1. The systems have that equation, and
integrators.explicit_euler; their steps without a master are measured as well (one Simulator, all steps in one
call). The time is that of the loop over the communication steps, without instantiation, divided by steps and
FMUs; the smallest of `--rounds` runs counts. With `--algorithms` it is divided by exchanges and FMUs; it
includes the FMUs' own functions, also those that save, restore and free a state where an algorithm repeats
steps.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from node import node  # noqa: E402
from node_fmu import make_node  # noqa: E402
from peers import PeerError, run_peer  # noqa: E402

import cosim  # noqa: E402
from cosim_fmu import CoSimulation, SystemParticipant  # noqa: E402

STEP = 1e-3
CALLS = 4_000_000
"""About the number of steps times FMUs in one run."""


class Measured(NamedTuple):
    """Seconds of the loop over communication steps, and the last value of the first node."""

    seconds: float
    value: float


def ours(path: Path, count: int, steps: int, shape: str, record: list[str] | None) -> Measured:
    """A ring or a chain of FMUs."""
    loop = CoSimulation(
        {f"n{i}": path for i in range(count)}, links(count, shape), "jacobi", STEP, starts={"n0.y": 2.0}
    )
    result = loop.simulate(steps * STEP, record=record)
    assert result.statistics["loop"] == "compiled" and result.statistics["steps"] == steps
    return Measured(result.statistics["stepping_time"], float(result["n0.y"][-1]))


def systems(path: Path, count: int, steps: int) -> Measured:
    """A ring of systems; `path` is not used."""
    system = node().build()
    parts = {
        f"n{i}": SystemParticipant(system, "integrators.explicit_euler", fixed_step=STEP)
        for i in range(count)
    }
    wires = [(f"n{i}.node.y", f"n{(i + 1) % count}.node.u") for i in range(count)]
    loop = CoSimulation(parts, wires, "jacobi", STEP, starts={"n0.node.x": 2.0})
    result = loop.simulate(steps * STEP, record=["n0.node.y"])
    assert result.statistics["loop"] == "compiled" and result.statistics["steps"] == steps
    return Measured(result.statistics["stepping_time"], float(result["n0.node.y"][-1]))


def integration(path: Path, count: int, steps: int) -> Measured:
    """The steps of one such system without a master."""
    simulator = cosim.Simulator(node().build(), integrator="integrators.explicit_euler", fixed_step=STEP)
    simulator.initialize()
    begun = time.perf_counter()
    simulator.advance_to(steps * count * STEP)
    return Measured(time.perf_counter() - begun, float("nan"))


def links(count: int, shape: str) -> list[tuple[str, str]]:
    """Connections of a "ring", a "chain" or "pairs"."""
    if shape == "pairs":
        return [(f"n{i}.y", f"n{i ^ 1}.u") for i in range(count)]
    last = count if shape == "ring" else count - 1
    return [(f"n{i}.y", f"n{(i + 1) % count}.u") for i in range(last)]


def fmpy_loop(path: Path, count: int, steps: int) -> Measured:
    """The loop that one writes with fmpy's own methods."""
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Slave

    folder, description = extract(str(path)), read_model_description(str(path))
    nodes = []
    for i in range(count):
        node = FMU2Slave(
            guid=description.guid,
            modelIdentifier=description.coSimulation.modelIdentifier,
            unzipDirectory=folder,
            instanceName=f"n{i}",
        )
        node.instantiate()
        node.setupExperiment(startTime=0.0)
        if i == 0:
            node.setReal([0], [2.0])
        node.enterInitializationMode()
        node.exitInitializationMode()
        nodes.append(node)
    begun = time.perf_counter()
    for k in range(steps):
        values = [node.getReal([0]) for node in nodes]
        for i, node in enumerate(nodes):
            node.setReal([1], values[i - 1])
        for node in nodes:
            node.doStep(currentCommunicationPoint=k * STEP, communicationStepSize=STEP)
    seconds = time.perf_counter() - begun
    value = nodes[0].getReal([0])[0]
    for node in nodes:
        node.terminate()
        node.freeInstance()
    return Measured(seconds, value)


def peer(name: str, script: str) -> Callable[[Path, int, int], Measured]:
    """A function that runs the ring in another library, in its own environment."""

    def run(path: Path, count: int, steps: int) -> Measured:
        answer = run_peer(name, f"masters/{script}", [str(path), str(count), str(steps)])
        return Measured(answer["seconds"], answer["value"])

    return run


ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "jacobi": ("jacobi", {}),
    "jacobi, extrapolation = 1": ("jacobi", {"extrapolation": 1}),
    "jacobi, extrapolation = 2": ("jacobi", {"extrapolation": 2}),
    "gauss_seidel": ("gauss_seidel", {}),
    "gauss_seidel, extrapolation = 1": ("gauss_seidel", {"extrapolation": 1}),
    "waveform_iteration": ("waveform_iteration", {}),
    "adaptive": ("adaptive", {"tolerance": 1e-6, "absolute_tolerance": 1e-6}),
    "adaptive, iterations = 2": (
        "adaptive",
        {"tolerance": 1e-6, "absolute_tolerance": 1e-6, "iterations": 2},
    ),
    "interface_newton": ("interface_newton", {}),
    "jacobi, correction = bonds": ("jacobi", {"correction": "bonds"}),
    "adaptive, control = energy": ("adaptive", {"tolerance": 1e-6, "control": "energy"}),
}
"""Algorithm and options by name; the last two run pairs with a power bond each, in place of rings."""


def time_of_exchange(path: Path, count: int, steps: int, algorithm: str, options: dict[str, Any]) -> float:
    """µs of an exchange and FMU of a ring, everything included."""
    is_bonded = bool({"correction", "control"} & set(options))
    loop = CoSimulation(
        {f"n{i}": path for i in range(count)},
        links(count, "pairs" if is_bonded else "ring"),
        algorithm,
        STEP,
        starts={"n0.y": 2.0},
        options=options,
        bonds=[[f"n{i}.y", f"n{i + 1}.y"] for i in range(0, count, 2)] if is_bonded else [],
    )
    result = loop.simulate(steps * STEP, record=["n0.y"])
    assert result.statistics["loop"] == "compiled", result.statistics["loop"]
    figures = result.statistics["algorithm"]
    repeated = figures.get("iterations", 0) + figures.get("rejected", 0)
    # adaptive counts its iterations besides its exchanges; for others each iteration is an exchange
    exchanges = figures["exchanges"] + repeated if "exchanges" in figures else max(steps, repeated)
    return float(result.statistics["stepping_time"] / exchanges / count * 1e6)


def by_algorithm(path: Path, sizes: list[int], rounds: int) -> dict[str, dict[int, float]]:
    """The table of `--algorithms`."""
    table: dict[str, dict[int, float]] = {}
    for name, (algorithm, options) in ALGORITHMS.items():
        for count in sizes:
            steps = max(100, CALLS // 4 // count)
            times = [time_of_exchange(path, count, steps, algorithm, options) for _ in range(rounds)]
            table.setdefault(name, {})[count] = min(times)
    for name, run in OTHERS_WITH_ALGORITHMS.items():
        for count in sizes:
            steps = max(20, CALLS // FEWER_STEPS[name] // count)
            try:
                seconds = min(run(path, count, steps).seconds for _ in range(rounds))
            except PeerError as error:
                print(f"{name}, {count} FMUs: {error}", file=sys.stderr)
                continue
            table.setdefault(f"{name} (jacobi)", {})[count] = seconds / steps / count * 1e6
    return table


OURS: dict[str, Callable[[Path, int, int], Measured]] = {
    "cosim, one signal recorded": lambda path, count, steps: ours(path, count, steps, "ring", ["n0.y"]),
    "cosim, everything recorded": lambda path, count, steps: ours(path, count, steps, "ring", None),
    "cosim, systems of ours": systems,
    "… their integration alone": integration,
    "cosim, a chain": lambda path, count, steps: ours(path, count, steps, "chain", ["n0.y"]),
}
OTHERS: dict[str, Callable[[Path, int, int], Measured]] = {
    "fmpy in a Python loop": fmpy_loop,
    "Ecos": peer("ecospy", "ring_ecos.py"),
    "libcosim": peer("libcosimpy", "ring_libcosim.py"),
    "CoFMUPy": peer("cofmupy", "ring_cofmupy.py"),
}
OTHERS_WITH_ALGORITHMS = {name: run for name, run in OTHERS.items() if name != "CoFMUPy"}
FEWER_STEPS = {"Ecos": 4, "fmpy in a Python loop": 100, "libcosim": 100, "CoFMUPy": 1000}
"""Slow programs make only one step out of so many: all would take minutes."""


def exact(count: int, steps: int) -> float:
    """The same explicit Euler steps with numpy."""
    x = np.ones(count)
    x[0] = 2.0
    for _ in range(steps):
        x = x + STEP * (np.roll(x, 1) - x)
    return float(x[0])


def main() -> None:
    """Print the table of masters or of algorithms, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 10, 100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--algorithms", action="store_true")
    arguments = parser.parse_args()
    if arguments.algorithms:
        with tempfile.TemporaryDirectory() as folder:
            show(by_algorithm(make_node(Path(folder)), arguments.sizes, arguments.rounds), arguments.sizes)
        return
    with tempfile.TemporaryDirectory() as folder:
        table = by_master(make_node(Path(folder)), arguments.sizes, arguments.rounds)
    show(table, arguments.sizes)
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1))
    if arguments.plot:
        plot(table, arguments.plot)


def by_master(path: Path, sizes: list[int], rounds: int) -> dict[str, dict[int, float]]:
    """µs per step and FMU of every master by the number of FMUs; wrong values are printed."""
    table: dict[str, dict[int, float]] = {}
    for count in sizes:
        for name, run in {**OURS, **OTHERS}.items():
            steps = max(20, max(100, CALLS // count) // FEWER_STEPS.get(name, 1))
            try:
                runs = [run(path, count, steps) for _ in range(rounds)]
            except PeerError as error:
                print(f"{name}, {count} FMUs: {error}", file=sys.stderr)
                continue
            table.setdefault(name, {})[count] = min(r.seconds for r in runs) / steps / count * 1e6
            off = abs(runs[0].value - exact(count, steps))
            if "chain" not in name and off > 1e-9:
                print(f"{name}, {count} FMUs: the last value is off by {off:.1e}", file=sys.stderr)
    return table


def show(table: dict[str, dict[int, float]], sizes: list[int]) -> None:
    """Print a table of µs per step and FMU by the number of FMUs."""
    machine = platform.processor() or platform.machine()
    print(f"{machine}, Python {platform.python_version()}; µs per step and FMU\n")
    print("| master | " + " | ".join(f"{n} FMUs" for n in sizes) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for name, row in table.items():
        print(f"| {name} | " + " | ".join(f"{row[n]:.3g}" if n in row else "–" for n in sizes) + " |")


def plot(table: dict[str, dict[int, float]], path: Path) -> None:
    """Draw a table of µs per step and FMU over the number of FMUs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.2), layout="constrained")
    axes = figure.subplots()
    for name, row in table.items():
        axes.loglog(list(row), list(row.values()), "o-", label=name)
    axes.set_xlabel("FMUs in the ring")
    axes.set_ylabel("µs per communication step and FMU")
    axes.grid(True, which="both", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
