"""Random systems: the native FMU, the FMU that runs Python and the run in this process give the same bits."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import Fmu, export, running
from native_random import RandomModel, random_model
from native_tools import InProcess, export_native, needs_compiler

import cosim

pytestmark = needs_compiler
STEPS = 30


ROWS = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from native_random import random_model
from test_native_random import Driven, digest, in_process
for seed in range(int(sys.argv[2])):
    made = random_model(seed)
    print(seed, digest(in_process(made, Driven(made, seed))), flush=True)
"""
WAYS = {
    "as it came": {},
    "compiled here": {"COSIM_NO_SHIPPED": "1"},
    "plain Python": {"NUMBA_DISABLE_JIT": "1"},
}


class Driven:
    """Inputs that jump now and then, parameters that are tuned, steps of any size; the same for each run."""

    def __init__(self, made: RandomModel, seed: int) -> None:
        rng = np.random.default_rng(seed)
        ends = np.cumsum(rng.uniform(0.003, 0.04, size=STEPS)).tolist()
        self.steps = [(start, end - start) for start, end in zip([0.0, *ends], ends, strict=False)]
        self.values: list[dict[str, float]] = [{} for _ in self.steps]
        for values in self.values[:: int(rng.integers(1, 5))]:
            values |= {name: float(rng.normal()) for name in made.inputs}
            values |= {name: -abs(x) for name, x in values.items() if name.endswith("floor_height")}
        for name in made.tuned:
            self.values[STEPS // 2][name] = float(rng.uniform(0.1, 2.0))


def in_process(made: RandomModel, driven: Driven, names: list[str] | None = None) -> list[list[Any]]:
    """The values after each step; where the run fails, those up to there."""
    here = InProcess(made.model, **made.settings, expose=["*"])
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


def check(seed: int, folder: Path) -> None:
    made = random_model(seed)
    driven = Driven(made, seed)
    paths = [
        write(made.model, folder / f"{name}.fmu", expose=["*"], **made.settings)
        for name, write in (("native", export_native), ("python", export))
    ]
    with running(paths[0]) as native, running(paths[1]) as python:
        names = list(python.references)
        expected = in_process(made, driven, names)
        for fmu in (native, python):
            rows = in_fmu(fmu, driven, names)
            assert len(rows) == len(expected), fmu.messages
            for i, (row, wanted) in enumerate(zip(rows, expected, strict=True)):
                wrong = {n: (a, b) for n, a, b in zip(names, row, wanted, strict=True) if not same(a, b)}
                assert not wrong, (seed, i, wrong)


def digest(rows: list[list[Any]]) -> str:
    """Of all bits."""
    return hashlib.sha256(b"".join(np.array(x).tobytes() for row in rows for x in row)).hexdigest()


def same(a: Any, b: Any) -> bool:
    return bool(np.array(a).tobytes() == np.array(b).tobytes() or a == b)


QUICK = 1  # no bodies: a few small functions


def test_a_random_system(tmp_path: Path) -> None:
    check(QUICK, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [seed for seed in range(100) if seed != QUICK])
def test_random_systems(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.parametrize("count", [2, pytest.param(100, marks=pytest.mark.thorough)])
def test_random_systems_give_the_same_bytes_however_they_are_compiled(count: int, tmp_path: Path) -> None:
    """Machine code that came with the package, made here, none at all; the FMUs are compared above."""
    told = {}
    for way, settings in WAYS.items():
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "COSIM_NO_SHIPPED": "0", **settings}
        words = [sys.executable, "-c", ROWS, json.dumps(sys.path), str(count)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        told[way] = done.stdout.splitlines()
    assert len(told["as it came"]) == count
    assert told["as it came"] == told["compiled here"] == told["plain Python"]
