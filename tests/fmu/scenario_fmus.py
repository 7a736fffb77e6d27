"""Scenarios that are exported as FMUs, and instances of these FMUs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
from export_tools import unpack
from part_fmu import make_part
from scenario_files import LOOP, write_loop

from cosim.cli import main

MakeFmu = Callable[..., Path]
SPRING = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
MASSES = {"left.m": 2.0, "left.k": 30.0, "left.kc": 40.0, "left.cc": 1.0, "right.k": 20.0, "right.x": 0.5}
RING = ["one.y -> two.u", "two.y -> one.u"]


def scenario(
    folder: Path,
    parts: Mapping[str, str],
    links: Sequence[str],
    master: str = "step = 0.01\nuntil = 0.3",
    starts: Mapping[str, Any] | None = None,
    more: str = "",
) -> Path:
    """Write ``loop.toml``; `parts` has the text of each participant's table, `more` comes before them."""
    tables = "".join(f"[participants.{name}]\n{text}\n" for name, text in parts.items())
    start_values = "".join(f'"{name}" = {json.dumps(value)}\n' for name, value in (starts or {}).items())
    path = folder / "loop.toml"
    path.write_text(
        f"connections = {json.dumps(list(links))}\n{more}\n{tables}[parameters]\n{start_values}"
        f"[master]\n{master}\n",
        "utf-8",
    )
    return path


def masses(folder: Path, make_fmu: MakeFmu, master: str) -> Path:
    """A scenario of two masses and a spring between them."""
    make_fmu("mass")
    parts = dict.fromkeys(("left", "right"), 'fmu = "mass.fmu"')
    return scenario(folder, parts, SPRING, f"{master}\nstep = 0.01\nuntil = 0.3", MASSES)


def exported(path: Path, *words: str, kind: str = "--python") -> Path:
    """Export a scenario with the command; without `words` no experiment is put into the FMU."""
    target = path.parent / "whole.fmu"
    options = words or ("--no-experiment",)  # an experiment takes a run
    assert main(["export", str(path), "-o", str(target), "-q", kind, *options]) == 0
    return target


@contextmanager
def running(fmu: Path, stop: float | None = None, **starts: float) -> Iterator[Instance]:
    """A context with an initialized instance of an FMU."""
    description = fmpy.read_model_description(str(fmu))
    unpacked = str(unpack(fmu, fmu.stat().st_mtime_ns))
    slave = fmpy.fmi2.FMU2Slave(
        guid=description.guid,
        unzipDirectory=unpacked,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="whole",
    )
    slave.instantiate()
    instance = Instance(slave, {v.name: v for v in description.modelVariables})
    try:
        slave.setupExperiment(startTime=0.0, stopTime=stop)
        instance.set(**starts)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield instance
    finally:
        slave.freeInstance()


class Instance:
    """An instance of an FMU with its variables by name; keyword arguments have ``__`` for a dot."""

    def __init__(self, slave: Any, variables: Mapping[str, Any]) -> None:
        self.slave, self.variables = slave, variables

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.slave.setReal([self.variables[name.replace("__", ".")].valueReference], [value])

    def __getitem__(self, name: str) -> Any:
        variable = self.variables[name]
        get = self.slave.getReal if variable.type == "Real" else self.slave.getInteger
        return get([variable.valueReference])[0]

    def step(self, time: float, size: float) -> float:
        self.slave.doStep(time, size)
        return time + size


def closed_loop(folder: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]) -> Path:
    """A scenario of two gains in a ring, an algebraic loop."""
    make_fmu("gain")
    parts = dict.fromkeys(("one", "two"), 'fmu = "gain.fmu"')
    return scenario(folder, parts, RING, starts={"one.gain": -0.5, "one.bias": 1.0, "two.gain": 0.7})


def joint_systems(folder: Path, make_fmu: MakeFmu, compiled: Callable[..., Path]) -> Path:
    """A scenario of two FMUs for Model Exchange that one integrator takes together."""
    make_part(folder, compiled)
    parts = dict.fromkeys(("p", "q"), 'fmu = "part.fmu"')
    master = 'algorithm = "joint"\nstep = 0.1\nuntil = 1.0'
    return scenario(folder, parts, ["p.y -> q.u", "q.y -> p.u"], master)


MASTERS = [
    'algorithm = "jacobi"',
    'algorithm = "gauss_seidel"',
    'algorithm = "jacobi"\noptions = { extrapolation = 2 }',
    'algorithm = "gauss_seidel"\noptions = { extrapolation = 1 }',
    'algorithm = "adaptive"\noptions = { tolerance = 1e-5 }',
    'algorithm = "interface_newton"',
    'algorithm = "waveform_iteration"',
]
SLOW = LOOP.replace('type = "controller:Thermostat"', 'type = "controller:Thermostat"\nstep = "30 s"')
CHANGE = '[[changes]]\nwhen = "room.temperature > 18.5"\nset = { "controller.wanted" = 15.0 }\n'
SCENARIOS: dict[str, Callable[[Path, MakeFmu, Callable[..., Path]], Path]] = {
    **{text: lambda folder, make, _, text=text: masses(folder, make, text) for text in MASTERS},  # type: ignore[misc]
    "closed loop": closed_loop,
    "joint systems": joint_systems,
    "Python and values over time": lambda folder, *_: write_loop(folder),
    "slow participants": lambda folder, *_: write_loop(folder, SLOW),
    "changes": lambda folder, *_: write_loop(folder, f"{LOOP}{CHANGE}"),
}
