"""Models that are driven in the same way in this process, in others with other machine code, and as FMUs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from export_tools import Fmu, export, running
from native_tools import InProcess, export_native

import cosim

STEPS = 30
WAYS = {
    "as it came": {},
    "compiled here": {"COSIM_NO_SHIPPED": "1"},
    "plain Python": {"COSIM_PLAIN": "1"},
}
DIGESTS = """
import importlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from driven import digest, in_process
made = importlib.import_module(sys.argv[2]).made
for word in json.loads(sys.argv[3]):
    print(word, digest(in_process(made(word))), flush=True)
"""


@dataclass
class Driven:
    """A model, the settings of its runs, what drives it from outside and what may be tuned.

    Inputs jump now and then, parameters are tuned once, steps have any size; the same for each run.
    """

    model: cosim.Model
    settings: dict[str, Any]
    seed: int
    inputs: list[str] = field(default_factory=list)
    tuned: list[str] = field(default_factory=list)
    until: float | None = None
    """The end of the last step, s; some tenths unless given."""

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        ends = np.cumsum(rng.uniform(0.003, 0.04, size=STEPS))
        ends = (ends if self.until is None else ends * (self.until / ends[-1])).tolist()
        self.steps = [(start, end - start) for start, end in zip([0.0, *ends], ends, strict=False)]
        self.values: list[dict[str, float]] = [{} for _ in self.steps]
        for values in self.values[:: int(rng.integers(1, 5))]:
            values |= {name: float(rng.normal()) for name in self.inputs}
            values |= {name: -abs(x) for name, x in values.items() if name.endswith("floor_height")}
        for name in self.tuned:
            self.values[STEPS // 2][name] = float(rng.uniform(0.1, 2.0))


def in_process(driven: Driven, names: list[str] | None = None) -> list[list[Any]]:
    """The values after each step; where the run fails, those up to there."""
    here = InProcess(driven.model, **driven.settings, expose=["*"])
    names = list(here.variables) if names is None else names
    rows = []
    try:
        here.start()
        for (time, size), values in zip(driven.steps, driven.values, strict=True):
            for name, value in values.items():
                here[name] = value
            here.advance(time + size)
            rows.append([here[name] for name in names])
    except cosim.SimulationError:
        pass
    return rows


def in_fmu(fmu: Fmu, driven: Driven, names: list[str]) -> list[list[Any]]:
    """As `in_process`."""
    from fmpy.fmi1 import FMICallException

    rows = []
    try:
        fmu.start()
        for (time, size), values in zip(driven.steps, driven.values, strict=True):
            for name, value in values.items():
                fmu[name] = value
            fmu.slave.doStep(time, size)
            rows.append([fmu[name] for name in names])
    except FMICallException:
        pass
    return rows


def check_fmus(driven: Driven, folder: Path) -> None:
    """The native FMU, the FMU that runs Python and the run in this process give the same bits."""
    paths = [
        write(driven.model, folder / f"{name}.fmu", expose=["*"], **driven.settings)
        for name, write in (("native", export_native), ("python", export))
    ]
    with running(paths[0]) as native, running(paths[1]) as python:
        names = list(python.references)
        expected = in_process(driven, names)
        for fmu in (native, python):
            rows = in_fmu(fmu, driven, names)
            assert len(rows) == len(expected), fmu.messages
            for i, (row, wanted) in enumerate(zip(rows, expected, strict=True)):
                wrong = {n: (a, b) for n, a, b in zip(names, row, wanted, strict=True) if not same(a, b)}
                assert not wrong, (driven.seed, i, wrong)


def check_ways(module: str, words: list[Any]) -> None:
    """Machine code that came with the package, made here, none at all: the same bits, each in a process.

    Parameters
    ----------
    module : str
        Has the function ``made``, which gives what is driven for a word.
    words : list
    """
    told = {}
    for way, settings in WAYS.items():
        environment = {**os.environ, "COSIM_PLAIN": "0", "COSIM_NO_SHIPPED": "0", **settings}
        command = [sys.executable, "-c", DIGESTS, json.dumps(sys.path), module, json.dumps(words)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told[way] = done.stdout.splitlines()
    assert len(told["as it came"]) == len(words)
    assert told["as it came"] == told["compiled here"] == told["plain Python"]


def digest(rows: list[list[Any]]) -> str:
    """Of all bits."""
    return hashlib.sha256(b"".join(np.array(x).tobytes() for row in rows for x in row)).hexdigest()


def same(a: Any, b: Any) -> bool:
    return bool(np.array(a).tobytes() == np.array(b).tobytes() or a == b)
