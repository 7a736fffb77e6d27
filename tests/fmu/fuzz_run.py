"""Random sequences of FMI calls, right and wrong ones; run as a script, since the process may die of them.

fuzz_run.py FMU FIRST COUNT: seeds FIRST … FIRST + COUNT - 1. Prints as JSON how often each status was
returned, which results were wrong, and the growth of the process in kB over the second half.
"""

from __future__ import annotations

import ctypes
import json
import math
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from fmpy import platform, sharedLibraryExtension

from cosim_fmi.description.read_model_description import read_model_description
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.validate.fmu_probe import job_for
from cosim_fmi.validate.foreign_instance import ForeignFmu, ForeignInstance

DOUBLE, POINTER, REFERENCE, SIZE = ctypes.c_double, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t
VALUES = (0.0, 1.0, -1.0, 0.5, 1e300, -1e300, math.nan, math.inf, 1e-320, 7.0)
SIZES = (0.01, 0.003, 0.1, 0.0, -0.01, math.nan, math.inf, 1e-300)
INTEGER = ctypes.c_int32
TYPES: dict[str, Any] = {
    "Real": DOUBLE, "Integer": INTEGER, "Boolean": INTEGER, "String": ctypes.c_char_p,
}  # fmt: skip
TEXTS = (b"", b"text", b"\xff\xfe no UTF-8", None)


class Unchecked:
    """An instance that may be called in any order."""

    def __init__(self, fmu: ForeignFmu, name: str) -> None:
        self.made = ForeignInstance(fmu, name).instance
        self.library = ctypes.CDLL(fmu.job["library"])

    def call(self, function: str, *arguments: Any) -> int:
        status: int = self.library[f"fmi2{function}"](POINTER(self.made.component), *arguments)
        return status

    def to_bytes(self, state: Any) -> bytes:
        size = SIZE()
        if self.call("SerializedFMUstateSize", state, ctypes.byref(size)) != 0:
            return b""
        data = (ctypes.c_char * size.value)()
        return bytes(data) if self.call("SerializeFMUstate", state, data, size) == 0 else b""

    def free(self) -> None:
        self.call("FreeInstance")


class Sequence:
    """A random sequence of calls of one instance: each method below `call` makes one or a few of them."""

    def __init__(self, fmu: ForeignFmu, seed: int, statuses: Counter[int]) -> None:
        self.random, self.fmu, self.statuses = random.Random(seed), fmu, statuses
        self.instance = Unchecked(fmu, f"seed {seed}")
        self.time, self.states = 0.0, list[Any]()

    def call(self, function: str, *arguments: Any) -> int:
        status = self.instance.call(function, *arguments)
        self.statuses[status] += 1
        assert 0 <= status <= 3, f"{function}: {status}"
        return status

    def references(self) -> Any:
        known = [v["reference"] for v in self.fmu.variables]
        wild = [0, 1, 999_999, 2**31, 2**32 - 1]
        count = self.random.choice((0, 1, 1, 2, 7))
        chosen = [self.random.choice(known if self.random.random() < 0.9 else wild) for _ in range(count)]
        return (REFERENCE * count)(*chosen), count

    def get(self) -> None:
        kind = self.random.choice(("Real", "Real", "Real", "Integer", "Boolean", "String"))
        references, count = self.references()
        self.call(f"Get{kind}", references, SIZE(count), (TYPES[kind] * count)())

    def set(self) -> None:
        kind = self.random.choice(("Real", "Real", "Real", "Integer", "Boolean", "String"))
        references, count = self.references()
        pool: Any = {"Real": VALUES, "String": TEXTS}.get(kind, (0, 1, -1, 2**31 - 1))
        values = [self.random.choice(pool) for _ in range(count)]
        self.call(f"Set{kind}", references, SIZE(count), (TYPES[kind] * count)(*values))

    def step(self) -> None:
        size = self.random.choice(SIZES) if self.random.random() < 0.4 else 0.01
        time = self.time if self.random.random() < 0.9 else self.random.choice(VALUES)
        if self.call("DoStep", DOUBLE(time), DOUBLE(size), self.random.randrange(2)) == 0:
            self.time = time + size

    def setup(self) -> None:
        r = self.random
        tolerance, stop = r.choice((1e-4, 0.0, -1.0, math.nan)), r.choice((1.0, -1.0, math.nan))
        self.call(
            "SetupExperiment",
            r.randrange(2),
            DOUBLE(tolerance),
            DOUBLE(0.0),
            r.randrange(2),
            DOUBLE(stop),
        )

    def start(self) -> None:
        self.call("EnterInitializationMode")
        if self.random.random() < 0.8:
            self.call("ExitInitializationMode")

    def simple(self) -> None:
        name = self.random.choice(
            ("EnterInitializationMode", "ExitInitializationMode", "Terminate", "Reset", "CancelStep")
        )
        if self.call(f"{name}") == 0 and name == "Reset":
            self.time = 0.0

    def save(self) -> None:
        state = POINTER()
        if self.call("GetFMUstate", ctypes.byref(state)) == 0:
            self.states.append((state, self.time))

    def restore(self) -> None:
        if self.states:
            state, time = self.random.choice(self.states)
            if self.call("SetFMUstate", state) == 0:
                self.time = time

    def drop(self) -> None:
        if self.states:
            state, _ = self.states.pop(self.random.randrange(len(self.states)))
            self.call("FreeFMUstate", ctypes.byref(state))

    def bytes(self) -> None:
        if self.states and self.random.random() < 0.7:
            data = bytearray(self.instance.to_bytes(self.states[-1][0]))
            if not data or self.random.random() < 0.6:  # damaged
                data = data[: self.random.randrange(len(data) + 1)]
            elif self.random.random() < 0.5:
                data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        else:
            data = bytearray(self.random.randbytes(self.random.randrange(50)))
        state = POINTER()
        if self.call("DeSerializeFMUstate", bytes(data), SIZE(len(data)), ctypes.byref(state)) == 0:
            self.states.append((state, self.time))

    def inquire(self) -> None:
        kind = self.random.randrange(4)
        self.call("GetRealStatus", kind, (DOUBLE * 1)())
        self.call("GetBooleanStatus", kind, (INTEGER * 1)())
        self.call("SetDebugLogging", self.random.randrange(2), SIZE(0), None)

    def run(self) -> None:
        moves = [
            self.step, self.step, self.step, self.get, self.set, self.set, self.setup, self.start,
            self.simple, self.save, self.restore, self.drop, self.bytes, self.inquire,
        ]  # fmt: skip
        if self.random.random() < 0.8:
            self.call("SetupExperiment", 0, DOUBLE(0.0), DOUBLE(0.0), 0, DOUBLE(0.0))
            self.start()
        for _ in range(self.random.randrange(40)):
            self.random.choice(moves)()
        while self.states:
            self.drop()
        self.instance.free()


def resident_size() -> int:
    """Resident memory of this process, kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def reference_rows(fmu: ForeignFmu) -> list[list[float]]:
    """The values after five steps of a new instance that is called as the standard demands."""
    instance = ForeignInstance(fmu)
    rows = instance.start().steps(0, 5)
    instance.free()
    return rows


def main(path: str, first: int, count: int) -> dict[str, Any]:
    archive = FmuArchive(Path(path))
    description, folder = read_model_description(archive.pop_description()), archive.unpack()
    name = f"{description.interfaces['CoSimulation'].identifier}{sharedLibraryExtension}"
    library = folder / "binaries" / platform / name
    fmu = ForeignFmu(job_for(folder, description, library))
    expected, statuses, wrong = reference_rows(fmu), Counter[int](), []
    size_at_half = 0
    for seed in range(first, first + count):
        Sequence(fmu, seed, statuses).run()
        if seed == first + count // 2:
            size_at_half = resident_size()
    if str(reference_rows(fmu)) != str(expected):
        wrong.append("an instance made afterwards gives other values than one made before")
    return {"statuses": statuses, "wrong": wrong, "growth": resident_size() - size_at_half}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
