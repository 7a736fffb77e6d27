"""Drives models with the same inputs in this process, in others with other machine code, and as FMUs."""

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
CODE_SETTINGS = {
    "as shipped": {},
    "compiled here": {"COSIM_NO_SHIPPED": "1"},
    "plain Python": {"COSIM_PLAIN": "1"},
}
DIGESTS = """
import importlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from driven import digest, in_process
driven_model = importlib.import_module(sys.argv[2]).driven_model
for key in json.loads(sys.argv[3]):
    print(key, digest(in_process(driven_model(key))), flush=True)
"""


@dataclass
class Driven:
    """A model with the settings of its runs, and the steps and values that a seed draws for each run.

    Inputs jump in some steps, parameters are tuned once, and steps have random sizes.
    """

    model: cosim.Model
    settings: dict[str, Any]
    seed: int
    inputs: list[str] = field(default_factory=list)
    tuned: list[str] = field(default_factory=list)
    until: float | None = None
    """The end of the last step, s; None leaves the drawn sizes of steps, whose sum is below 1.2 s."""

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
    """The values after each step of a run in this process; a run that fails ends with the step before."""
    run = InProcess(driven.model, **driven.settings, expose=["*"])
    names = list(run.variables) if names is None else names
    rows = []
    try:
        run.start()
        for (time, size), values in zip(driven.steps, driven.values, strict=True):
            for name, value in values.items():
                run[name] = value
            run.advance(time + size)
            rows.append([run[name] for name in names])
    except cosim.SimulationError:
        pass
    return rows


def in_fmu(fmu: Fmu, driven: Driven, names: list[str]) -> list[list[Any]]:
    """The values after each step of an FMU; a run that fails ends with the step before."""
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
            for step, (row, expected_row) in enumerate(zip(rows, expected, strict=True)):
                columns = zip(names, row, expected_row, strict=True)
                differences = {name: (a, b) for name, a, b in columns if not same(a, b)}
                assert not differences, (driven.seed, step, differences)


def check_machine_code(module: str, keys: list[Any]) -> None:
    """Shipped machine code, code compiled here and plain Python give the same bits, each in a process.

    Parameters
    ----------
    module : str
        Name of a module with a function ``driven_model`` that returns a `Driven` for a key.
    keys : list
    """
    digests = {}
    for code, settings in CODE_SETTINGS.items():
        environment = {**os.environ, "COSIM_PLAIN": "0", "COSIM_NO_SHIPPED": "0", **settings}
        command = [sys.executable, "-c", DIGESTS, json.dumps(sys.path), module, json.dumps(keys)]
        process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
        digests[code] = process.stdout.splitlines()
    assert len(digests["as shipped"]) == len(keys)
    assert digests["as shipped"] == digests["compiled here"] == digests["plain Python"]


def digest(rows: list[list[Any]]) -> str:
    """A digest of all bits of the values."""
    return hashlib.sha256(b"".join(np.array(x).tobytes() for row in rows for x in row)).hexdigest()


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, or NaN with the same bits."""
    return bool(np.array(a).tobytes() == np.array(b).tobytes() or a == b)
