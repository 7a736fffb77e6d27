"""Steps of native FMUs against C written by hand, the FMU that runs Python, and the run in this process.

    python benchmarks/fmu/native.py [--rounds 15] [--count] [--export]

All use the classical Runge-Kutta method with the same steps, and communication steps of 10 ms. Each model has
been written by hand twice: with the same equations (bodies in space, articulated-body recursion, bushings
between any frames), and with equations that suffice for this model alone. All take turns in one process; the
least of many rounds counts. `--count` adds the instructions of a step, as valgrind's callgrind counts them,
which other load on the machine does not change. `--export` measures exports instead: with an empty cache of
kernels, again, and of another model, in elapsed and in processor time.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from native_models import COMMUNICATION, MODELS, Measured, registry, relative

import cosim
from cosim import kit

BY_HAND = Path(__file__).parent / "by_hand"
COMMUNICATION_STEPS, COUNTED_STEPS = 10, 20
"""Communication steps of a timed run, and of one whose instructions are counted."""
FLAGS = ("-O2", "-std=gnu11", "-shared", "-fPIC")


class SteppedFmu:
    """An FMU that is stepped by the loop of `by_hand/host.c`."""

    def __init__(self, path: Path, folder: Path, loop: Any) -> None:
        description = read_model_description(str(path))
        self.folder = Path(extract(str(path), str(folder)))
        self.identifier, self.guid = description.coSimulation.modelIdentifier, description.guid
        self.slave = FMU2Slave(
            guid=self.guid, unzipDirectory=str(self.folder), modelIdentifier=self.identifier
        )
        self.slave.instantiate()
        self.slave.setupExperiment(startTime=0.0)
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        self.function = ctypes.cast(self.slave.dll.fmi2DoStep, ctypes.c_void_p)
        self.loop, self.time = loop, 0.0

    def run(self) -> None:
        instance = ctypes.c_void_p(self.slave.component)
        start, size = ctypes.c_double(self.time), ctypes.c_double(COMMUNICATION)
        assert self.loop(self.function, instance, start, COMMUNICATION_STEPS, size) == 0
        self.time += COMMUNICATION_STEPS * COMMUNICATION

    @property
    def library(self) -> Path:
        """The library of this machine."""
        return next(self.folder.glob(f"binaries/linux64/{self.identifier}.so"))


class InProcess:
    """A model that is run by a simulator in this process."""

    def __init__(self, model: Measured) -> None:
        self.system = model.make().build()
        self.simulator = cosim.Simulator(self.system, accuracy=1e-6, **model.method)
        self.simulator.initialize()
        self.count = 0

    def run(self) -> None:
        for _ in range(COMMUNICATION_STEPS):
            self.count += 1
            self.simulator.advance_to(self.count * COMMUNICATION)


def library_of(source: str, flag: str, folder: Path) -> Path:
    """The library of a C file, made by the machine's compiler."""
    target = folder / f"{Path(source).stem}{flag}.so"
    subprocess.run(["cc", *FLAGS, *flag.split(), "-o", target, BY_HAND / source, "-lm", "-ldl"], check=True)
    return target


def by_hand(library: Path, step: float) -> ctypes.CDLL:
    """The loaded library of a model that was written by hand, at its start."""
    loaded = ctypes.CDLL(str(library))
    loaded.state.restype = ctypes.POINTER(ctypes.c_double)
    loaded.begin(ctypes.c_double(step))
    return loaded


def compare(model: Measured, way: str, library: Path) -> None:
    """Check that the code by hand is this model: after 0.1 s the states agree."""
    bare = InProcess(model)
    loaded = by_hand(library, model.step)
    bare.run()
    loaded.advance(COMMUNICATION_STEPS * round(COMMUNICATION / model.step))
    own_states = bare.system.arrays(bare.simulator.state)[0][: model.compared]
    size = max(model.compared, len(own_states))
    theirs = relative(way, np.ctypeslib.as_array(loaded.state(), shape=(size,)).copy())[: model.compared]
    assert np.allclose(own_states, theirs, rtol=1e-9, atol=1e-9), (model.name, way, own_states - theirs)


def instructions(host: Path, *arguments: object) -> int:
    """The instructions of one communication step."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured"]
    done = subprocess.run([*command, host, *map(str, arguments)], capture_output=True, text=True, check=True)
    match = re.search(r"Collected : (\d+)", done.stderr)
    assert match is not None, done.stderr
    return int(match[1]) // COUNTED_STEPS


def measure(model: Measured, rounds: int, host: Path | None, folder: Path, loop: Any) -> list[str]:
    """The rows of a model in the table of runs."""
    native = model.make().export_fmu(folder / "native.fmu", native=True, kind="cs", **model.method)
    python = model.make().export_fmu(folder / "python.fmu", native=False, **model.method)
    steps = round(COMMUNICATION / model.step)
    stepped, bare = SteppedFmu(native, folder / "native", loop), InProcess(model)
    runs: dict[str, Callable[[], object]] = {
        "native FMU": stepped.run,
        "FMU that runs Python": SteppedFmu(python, folder / "python", loop).run,
        "run in this process": bare.run,
    }
    counted = {"native FMU": ("fmu", stepped.library, stepped.guid, COUNTED_STEPS, COMMUNICATION)}
    for way, (source, flag) in model.by_hand.items():
        library = library_of(source, flag, folder)
        compare(model, way, library)
        loaded = by_hand(library, model.step)
        runs[f"by hand, {way}"] = lambda loaded=loaded: loaded.advance(COMMUNICATION_STEPS * steps)
        counted[f"by hand, {way}"] = ("hand", library, COUNTED_STEPS, steps, model.step)
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for label, run in runs.items():
            start = time.perf_counter()
            run()
            best[label] = min(best[label], (time.perf_counter() - start) / COMMUNICATION_STEPS)
    counts = {n: instructions(host, *a) for n, a in counted.items()} if host is not None else {}
    baseline = "by hand, the same equations"
    rows = []
    for label, seconds in sorted(best.items(), key=lambda item: item[1]):
        cells = [model.name, label, f"{seconds * 1e6:.1f}", f"{seconds / best[baseline]:.2f}"]
        if counts:
            count = counts.get(label)
            cells += ["", ""] if count is None else [f"{count / 1e3:.0f}", f"{count / counts[baseline]:.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


EXPORT_PROGRAM = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from native_models import MODELS, registry
from cosim import kit
with kit.use_registry(registry()):
    model = next(m for m in MODELS if m.name == sys.argv[2])
    made = model.make()
    start, spent = time.perf_counter(), sum(os.times()[:4])
    path = made.export_fmu(sys.argv[3], native=True, kind="cs", platforms=sys.argv[4].split(), **model.method)
    print(time.perf_counter() - start, sum(os.times()[:4]) - spent, path.stat().st_size)
"""


def export_costs(folder: Path) -> list[str]:
    """Rows of the table of exports, each export in a new process; the cache of kernels is empty at first."""
    rows = []
    everything = "linux64 aarch64-linux win64 darwin64"
    for name, platforms, state in (
        ("ten links", "linux64", "nothing is in the cache"),
        ("ten links", "linux64", "again"),
        ("engine mount", "linux64", "another model"),
        ("engine mount", "linux64", "again"),
        ("engine mount", everything, "again, five processors"),
    ):
        command = [
            sys.executable,
            "-c",
            EXPORT_PROGRAM,
            Path(__file__).parent,
            name,
            folder / "x.fmu",
            platforms,
        ]
        environment = {**os.environ, "COSIM_CACHE_DIR": str(folder / "cache")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seconds, spent, size = map(float, done.stdout.split()[-3:])
        rows.append(f"| {name} | {state} | {seconds:.1f} | {spent:.1f} | {size / 1e3:.0f} |")
    return rows


def main() -> None:
    """Print the table of runs, or that of exports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", action="store_true", help="instructions, by callgrind")
    parser.add_argument("--export", action="store_true", help="what exports cost, instead")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(kit.use_registry(registry()))
        if options.export:
            head = "| model | cache | seconds | of processor time | kB |\n|---|---|---:|---:|---:|"
            print(head, *export_costs(folder), sep="\n")
            return
        host = None
        if options.count:
            assert shutil.which("valgrind"), "valgrind is not installed"
            host = folder / "host"
            subprocess.run(["cc", "-O2", "-std=gnu11", "-o", host, BY_HAND / "host.c", "-ldl"], check=True)
        loop = ctypes.CDLL(str(library_of("host.c", "", folder))).step_fmu
        more = " thousand instructions | times |" if options.count else ""
        print(f"| model | run | µs for 10 ms | times |{more}")
        print(f"|---|---|---:|---:|{'---:|---:|' if options.count else ''}")
        for number, model in enumerate(MODELS):
            (folder / str(number)).mkdir()
            print(*measure(model, options.rounds, host, folder / str(number), loop), sep="\n")


if __name__ == "__main__":
    main()
