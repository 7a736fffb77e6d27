"""Steps of a native FMU against C written by hand and against the FMU that runs Python.

A chain of ten links, classical Runge-Kutta with 1 ms, communication steps of 10 ms. By hand it is what one
writes for this chain alone (`native_pendulum.c`: angles in the plane, mass matrix, Cholesky); the FMU
computes ten bodies in space.

    python benchmarks/fmu/native.py
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

import cosim
from cosim_mechanics import Multibody

LINKS, STEP, COMMUNICATION, ROUNDS, STEPS = 10, 1e-3, 1e-2, 15, 20
METHOD = {"integrator": "integrators.runge_kutta_4", "fixed_step": STEP}


def chain() -> cosim.Model:
    """Links of 1 m and 1 kg, all at 0.5 rad."""
    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    previous: Any = "ground"
    for i in range(LINKS):
        link = model.body(f"link{i}", mass=1.0, center_of_mass=(0, -0.5, 0), inertia=(1 / 12, 1e-3, 1 / 12))
        place = {} if i == 0 else {"frame_on_parent": (0, -1.0, 0)}
        model.joint("pin", child=link, parent=previous, q=[0.5 if i == 0 else 0.0], **place)
        previous = link
    return model


class Stepped:
    """An FMU that the loop in C steps."""

    def __init__(self, path: Path, folder: Path, loop: Any) -> None:
        description = read_model_description(str(path))
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=extract(str(path), str(folder)),
            modelIdentifier=description.coSimulation.modelIdentifier,
        )
        self.slave.instantiate()
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        self.function = ctypes.cast(self.slave.dll.fmi2DoStep, ctypes.c_void_p)
        self.loop, self.time = loop, 0.0

    def run(self) -> None:
        instance = ctypes.c_void_p(self.slave.component)
        status = self.loop(
            self.function, instance, ctypes.c_double(self.time), STEPS, ctypes.c_double(COMMUNICATION)
        )
        assert status == 0
        self.time += STEPS * COMMUNICATION


def main() -> None:
    """Measure in turns; the least of many rounds counts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "pendulum.so"
        source = Path(__file__).parent / "by_hand" / "planar_chain.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
        c = ctypes.CDLL(str(library))
        start = time.perf_counter()
        native = chain().export_fmu(folder / "native.fmu", native=True, kind="cs", **METHOD)
        print(f"exported in {time.perf_counter() - start:.1f} s, {native.stat().st_size / 1e3:.0f} kB")
        python = chain().export_fmu(folder / "python.fmu", **METHOD)
        state = np.full(2 * LINKS, 0.5)
        state[LINKS:] = 0.0
        address = state.ctypes.data_as(ctypes.c_void_p)
        count = round(STEPS * COMMUNICATION / STEP)
        runs = {
            "native FMU": Stepped(native, folder / "native", c.run_fmu).run,
            "FMU that runs Python": Stepped(python, folder / "python", c.run_fmu).run,
            "by hand in C": lambda: c.run_by_hand(address, count, ctypes.c_double(STEP)),
        }
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(ROUNDS):
            for label, run in runs.items():
                start = time.perf_counter()
                run()
                best[label] = min(best[label], (time.perf_counter() - start) / STEPS)
        for label, seconds in best.items():
            ratio = seconds / best["by hand in C"]
            print(f"{label:22} {1e6 * seconds:8.2f} us a step of 10 ms, {ratio:5.2f} times")


if __name__ == "__main__":
    main()
