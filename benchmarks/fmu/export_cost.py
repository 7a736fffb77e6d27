"""The cost of calls of an exported FMU that runs Python; a table in Markdown.

    python benchmarks/fmu/export_cost.py [--repeats 7]

Each system is stepped by a `Simulator` in this process ("bare step") and inside its FMU ("doStep"), in turns
and with the same communication steps. An empty FMU of pythonfmu shows the cost of the wrapper. Times are
microseconds, the least of several repeats. "beyond both" is the median of doStep minus bare step, less the
wrapper's doStep. The FMUs are called through ctypes, as by fmpy.
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
SWITCHES = ("enabled", "feels_gravity")  # parameters that accept only 0 and 1
STEP_SIZE, STEPS = 1e-3, 400
ACCESSED = 100  # variables in a get or set
CALLS = 100  # in a measurement of calls
EMPTY = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Real

class Empty(Fmi2Slave):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        for i in range(100):
            setattr(self, f"p{i}", 1.0)
            self.register_variable(Real(f"p{i}", causality=Fmi2Causality.parameter, variability="tunable"))

    def do_step(self, time, size):
        return True
"""


def spring() -> cosim.Model:
    """One body on bushings: a system with cheap steps."""
    model = Multibody("spring")
    body = model.body("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("slider", child=body)
    for i in range(4):
        bushing(model, f"rubber{i}", body)
    return model


def chain() -> cosim.Model:
    """Ten links on pins, each with a bushing to Ground: a system with many variables."""
    model, parent = Multibody("chain"), None
    for i in range(10):
        link = model.body(f"link{i}", mass=1.0, center_of_mass=(0, 0, -0.1), inertia=(0.01, 0.01, 0.01))
        model.joint("pin", child=link, **({} if parent is None else {"parent": parent}))
        bushing(model, f"rubber{i}", link)
        parent = link
    return model


def bushing(model: Multibody, name: str, body: Any) -> None:
    """Hold a body to Ground by a bushing."""
    model.add(
        "mechanics.linear_bushing", name, body1="ground", body2=body, stiffness=[5.0] * 6, damping=[0.5] * 6
    )


class RunningFmu:
    """An instance of an FMU, called through fmpy's thin layer over ctypes."""

    def __init__(self, path: Path, folder: Path) -> None:
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Slave

        self.folder = extract(str(path), str(folder))
        description = read_model_description(str(path))
        self.variables = description.modelVariables
        self.slave = FMU2Slave(
            guid=description.guid, unzipDirectory=self.folder, instanceName="x",
            modelIdentifier=description.coSimulation.modelIdentifier,
        )  # fmt: skip
        self.instantiate()

    def instantiate(self) -> None:
        self.slave.instantiate()

    def start(self) -> None:
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def time_of_step(self) -> float:
        """The time of a step, µs."""
        step, component = self.slave.dll.fmi2DoStep, self.slave.component
        step.argtypes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int)
        start = time.perf_counter()
        for i in range(STEPS):
            step(component, i * STEP_SIZE, STEP_SIZE, 1)
        return (time.perf_counter() - start) / STEPS * 1e6

    def times_of_access(self, count: int) -> tuple[float, float]:
        """The times of getting and of setting (to new values) some parameters, µs."""
        chosen = [v for v in self.variables if v.causality == "parameter" and v.type == "Real"]
        references = [v.valueReference for v in chosen if not v.name.endswith(SWITCHES)]
        assert len(references) >= count
        references = (ctypes.c_uint32 * count)(*references[:count])
        size, component = ctypes.c_size_t(count), ctypes.c_void_p(self.slave.component)
        functions = [self.slave.dll.fmi2GetReal, self.slave.dll.fmi2SetReal]
        for function in functions:
            function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        get, set_ = functions
        values, changed_values = (ctypes.c_double * count)(), (ctypes.c_double * count)()
        get(component, references, size, values)
        changed_values[:] = [
            x * 1.0625 for x in values
        ]  # an exact factor, within the bounds of all parameters
        two_sets = self._time_of(
            lambda: (
                set_(component, references, size, changed_values),
                set_(component, references, size, values),
            )
        )
        return self._time_of(lambda: get(component, references, size, values)), two_sets / 2.0

    def times_of_state(self) -> tuple[float, float]:
        """The times of saving and of restoring the state, µs."""
        saved = self.slave.getFMUState()
        save = self._time_of(lambda: self.slave.freeFMUState(self.slave.getFMUState()))
        return save, self._time_of(lambda: self.slave.setFMUState(saved))

    @staticmethod
    def _time_of(call: Callable[[], object]) -> float:
        """The mean time of a call, µs."""
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        return (time.perf_counter() - start) / CALLS * 1e6


def time_of_bare_step(system: cosim.System) -> float:
    """The time of a step of a simulator, µs."""
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.initialize()
    start = time.perf_counter()
    for i in range(STEPS):
        simulator.advance_to(i * STEP_SIZE + STEP_SIZE)
    return (time.perf_counter() - start) / STEPS * 1e6


def measure(path: Path, repeats: int, folder: Path, system: cosim.System | None) -> dict[str, float]:
    """The times of `COLUMNS`, µs; without a system (an empty FMU) those of the FMU alone.

    The step of the FMU and the bare step are measured in turns.
    """
    times: dict[str, list[float]] = {}
    beyond: list[float] = []

    def add(name: str, value: float) -> None:
        times.setdefault(name, []).append(value)

    start = time.perf_counter()
    fmu = RunningFmu(path, folder)
    add("first instance", (time.perf_counter() - start) * 1e6)
    for _ in range(repeats):
        start = time.perf_counter()
        fmu.instantiate()
        add("another", (time.perf_counter() - start) * 1e6)
        fmu.start()
        add("doStep", fmu.time_of_step())
        if system is not None:
            add("bare step", time_of_bare_step(system))
            beyond.append(times["doStep"][-1] - times["bare step"][-1])
        get, set_ = fmu.times_of_access(ACCESSED)
        add("get 100", get)
        add("set 100", set_)
        if system is not None:
            save, restore = fmu.times_of_state()
            add("save", save)
            add("restore", restore)
        fmu.slave.fmi2FreeInstance(fmu.slave.component)  # the library stays loaded
    least = {name: min(values) for name, values in times.items()}
    return least | ({"beyond both": statistics.median(beyond)} if beyond else {})


def empty_fmu(folder: Path) -> Path:
    """The path of a new FMU of pythonfmu that does nothing."""
    script = folder / "empty_slave.py"
    script.write_text(EMPTY)
    command = [sys.executable, "-m", "pythonfmu", "build", "-f", str(script), "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "Empty.fmu"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    folder = Path(tempfile.mkdtemp())
    try:
        wrapper = measure(empty_fmu(folder), repeats, folder / "empty", None)
        rows = [("pythonfmu alone", wrapper)]
        for model in (spring(), chain()):
            path = model.export_fmu(folder / f"{model.name}.fmu", accuracy=1e-6, all=True)
            costs = measure(path, repeats, folder / model.name, model.build())
            costs["beyond both"] -= wrapper["doStep"]
            rows.append((model.name, costs))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"| µs | {' | '.join(COLUMNS)} |\n|---{'|---' * len(COLUMNS)}|")
    for name, costs in rows:
        print(f"| {name} | {' | '.join(f'{costs[c]:.1f}' if c in costs else '' for c in COLUMNS)} |")


if __name__ == "__main__":
    main()
