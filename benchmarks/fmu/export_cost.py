"""The cost of an exported FMU beyond its system and beyond pythonfmu's wrapper; a table in Markdown.

    python benchmarks/fmu/export_cost.py [--repeats 7]

Each system is stepped by a `Simulator` in this process ("bare") and inside its FMU, by turns and with the
same communication steps; an FMU of pythonfmu alone, which does nothing, shows what the wrapper takes. Times
are microseconds, the least of several repeats; what a step takes beyond the bare step and the wrapper is the
median of the differences. The FMUs are called through ctypes, as fmpy does it.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cosim
from cosim_mechanics import Multibody

COLUMNS = (
    "bare step", "doStep", "beyond both", "get 100", "set 100", "save", "restore", "first instance",
    "another",
)  # fmt: skip
SWITCHES = ("enabled", "feels_gravity")  # of which only 0 and 1 are values
H, STEPS = 1e-3, 400
EMPTY = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Real

class Empty(Fmi2Slave):
    def __init__(self, **given):
        super().__init__(**given)
        for i in range(100):
            setattr(self, f"p{i}", 1.0)
            self.register_variable(Real(f"p{i}", causality=Fmi2Causality.parameter, variability="tunable"))

    def do_step(self, time, size):
        return True
"""


def spring() -> cosim.Model:
    """One body on bushings: hardly anything to compute."""
    model = Multibody("spring")
    body = model.body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("slider", child=body)
    for i in range(4):
        bushing(model, f"rubber{i}", body)
    return model


def chain() -> cosim.Model:
    """Ten links on ball joints, each on a bushing to ground: many variables."""
    model, parent = Multibody("chain"), None
    for i in range(10):
        link = model.body(f"link{i}", mass=1.0, center_of_mass=(0, 0, -0.1), inertia=(0.01, 0.01, 0.01))
        model.joint("pin", child=link, **({} if parent is None else {"parent": parent}))
        bushing(model, f"rubber{i}", link)
        parent = link
    return model


def bushing(model: Multibody, name: str, body: Any) -> None:
    model.add(
        "mechanics.linear_bushing", name, body1="ground", body2=body, stiffness=[5.0] * 6, damping=[0.5] * 6
    )


class Running:
    """An instance of an FMU, called as little wrapped as fmpy allows."""

    def __init__(self, path: Path, folder: Path) -> None:
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Slave

        self.folder = extract(str(path), str(folder))
        read = read_model_description(str(path))
        self.variables = read.modelVariables
        self.slave = FMU2Slave(
            guid=read.guid, unzipDirectory=self.folder, instanceName="x",
            modelIdentifier=read.coSimulation.modelIdentifier,
        )  # fmt: skip
        self.instantiate()

    def instantiate(self) -> None:
        self.slave.instantiate()

    def start(self) -> None:
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def steps(self) -> float:
        """Microseconds a step."""
        step, component = self.slave.dll.fmi2DoStep, self.slave.component
        step.argtypes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int)
        begun = time.perf_counter()
        for i in range(STEPS):
            step(component, i * H, H, 1)
        return (time.perf_counter() - begun) / STEPS * 1e6

    def access(self, count: int) -> tuple[float, float]:
        """Microseconds of a get and of a set, to new values, of some parameters."""
        chosen = [v for v in self.variables if v.causality == "parameter" and v.type == "Real"]
        references = [v.valueReference for v in chosen if not v.name.endswith(SWITCHES)]
        assert len(references) >= count
        references = (ctypes.c_uint32 * count)(*references[:count])
        size, component = ctypes.c_size_t(count), ctypes.c_void_p(self.slave.component)
        functions = [self.slave.dll.fmi2GetReal, self.slave.dll.fmi2SetReal]
        for function in functions:
            function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        get, set_ = functions
        values, other = (ctypes.c_double * count)(), (ctypes.c_double * count)()
        get(component, references, size, values)
        other[:] = [x * 1.0625 for x in values]
        both = self._each(
            lambda: (set_(component, references, size, other), set_(component, references, size, values))
        )
        return self._each(lambda: get(component, references, size, values)), both / 2.0

    def state(self) -> tuple[float, float]:
        """Microseconds of saving and of restoring the state."""
        saved = self.slave.getFMUState()
        save = self._each(lambda: self.slave.freeFMUState(self.slave.getFMUState()))
        return save, self._each(lambda: self.slave.setFMUState(saved))

    @staticmethod
    def _each(call: Callable[[], object]) -> float:
        begun = time.perf_counter()
        for _ in range(100):
            call()
        return (time.perf_counter() - begun) * 1e4


def bare(system: cosim.System) -> float:
    """Microseconds a step of a simulator."""
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.initialize()
    begun = time.perf_counter()
    for i in range(STEPS):
        simulator.advance_to(i * H + H)
    return (time.perf_counter() - begun) / STEPS * 1e6


def measure(path: Path, repeats: int, folder: Path, system: cosim.System | None) -> dict[str, float]:
    """Microseconds of everything; the bare step by turns with that of the FMU."""
    times: dict[str, list[float]] = {}
    beyond: list[float] = []

    def add(name: str, value: float) -> None:
        times.setdefault(name, []).append(value)

    begun = time.perf_counter()
    fmu = Running(path, folder)
    add("first instance", (time.perf_counter() - begun) * 1e6)
    for _ in range(repeats):
        begun = time.perf_counter()
        fmu.instantiate()
        add("another", (time.perf_counter() - begun) * 1e6)
        fmu.start()
        add("doStep", fmu.steps())
        if system is not None:
            add("bare step", bare(system))
            beyond.append(times["doStep"][-1] - times["bare step"][-1])
        get, set_ = fmu.access(100)
        add("get 100", get)
        add("set 100", set_)
        if system is not None:
            save, restore = fmu.state()
            add("save", save)
            add("restore", restore)
        fmu.slave.fmi2FreeInstance(fmu.slave.component)  # and leave the library loaded
    more = {"beyond both": statistics.median(beyond)} if beyond else {}
    return {name: min(values) for name, values in times.items()} | more


def empty_fmu(folder: Path) -> Path:
    script = folder / "empty_slave.py"
    script.write_text(EMPTY)
    command = [sys.executable, "-m", "pythonfmu", "build", "-f", str(script), "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "Empty.fmu"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    folder = Path(tempfile.mkdtemp())
    try:
        wrapper = measure(empty_fmu(folder), repeats, folder / "empty", None)
        rows = [("pythonfmu alone", wrapper)]
        for make in (spring, chain):
            path = make().export_fmu(folder / f"{make.__name__}.fmu", accuracy=1e-6, all=True)
            costs = measure(path, repeats, folder / make.__name__, make().build())
            costs["beyond both"] -= wrapper["doStep"]
            rows.append((make.__name__, costs))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"| µs | {' | '.join(COLUMNS)} |\n|---{'|---' * len(COLUMNS)}|")
    for name, costs in rows:
        print(f"| {name} | {' | '.join(f'{costs[c]:.1f}' if c in costs else '' for c in COLUMNS)} |")


if __name__ == "__main__":
    main()
