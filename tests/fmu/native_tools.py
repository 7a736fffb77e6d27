"""Exports native FMUs, and runs the same systems in this process to compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from export_parts import Oscillator

import cosim
from cosim import kit
from cosim_export.interface.first_state import first_state
from cosim_export.interface.frame_angles import angle_of
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.compilers import OwnCompiler, available_compilers, write_objects
from cosim_export.native.native_exporter import NativeFmuExporter
from cosim_export.native.native_sources import NativeSources
from cosim_export.native.platforms import own_platform
from cosim_lowering.machine_code import own_target

COMPILER = next((c for c in available_compilers() if isinstance(c, OwnCompiler)), None)
needs_compiler = pytest.mark.skipif(
    kit.is_plain() or COMPILER is None or own_platform() not in COMPILER.platforms(),
    reason="needs llvmlite and this machine's C compiler",
)
WARNINGS = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wno-unused-parameter",
    "-Werror",
]


def oscillator() -> cosim.Model:
    model = cosim.Model("oscillator")
    model.add(Oscillator, "osc")
    return model


def export_native(model: cosim.Model, path: Path, **options: Any) -> Path:
    """Export all variables for this platform with its own compiler, the fastest, unless `options` differ."""
    options = {"platforms": [own_platform()], "compiler": COMPILER, "all": True, **options}
    return NativeFmuExporter().export(model, path, **options).path


def write_sources(sources: NativeSources, folder: Path) -> list[Path]:
    """Write the tables and the object files of an FMU; return all files to link."""
    (folder / "model.c").write_text(sources.tables, "utf-8")
    return [*sources.files, folder / "model.c", *write_objects([sources.code], own_target(), folder)]


class InProcess:
    """A run in this process; variables are read and set by their names in an FMU."""

    def __init__(
        self,
        model: cosim.Model,
        integrator: str,
        accuracy: float,
        start: float = 0.0,
        expose: list[str] | None = None,
        **options: Any,
    ) -> None:
        self.system = model.build()
        self.state = first_state(self.system)
        self.state.set_time(start)
        self.variables = {v.name: v for v in select_variables(self.system, expose=expose, all=True)}
        self.make = lambda: cosim.Simulator(
            self.system, self.state, integrator=integrator, accuracy=accuracy, **options
        )
        self.simulator: cosim.Simulator | None = None

    def start(self, **values: float) -> InProcess:
        for name, value in values.items():
            self[name] = value
        self.simulator = self.make()
        self.simulator.initialize()
        return self

    def __setitem__(self, name: str, value: float) -> None:
        self.state[self.variables[name].path] = value

    def __getitem__(self, name: str) -> float:
        variable = self.variables[name]
        if self.state.stage < variable.stage:
            self.state.realize(cosim.Stage(variable.stage))
        arrays = dict(zip("ypdkhc", self.system.arrays(self.state), strict=True))
        if variable.angle is not None:
            return angle_of(arrays["p"][variable.offset : variable.offset + 12].tolist(), variable.angle)
        value: float = arrays[variable.array][variable.offset].item()
        return value

    def all(self) -> list[float]:
        return [self[v.name] for v in self.variables.values() if v.type == "Real"]

    def advance(self, time: float) -> None:
        """Advance as an FMU does: ticks that are later than `time` only by rounding are included."""
        assert self.simulator is not None
        within = 1e-9 * (time - self.simulator.state.time)
        assert self.simulator.advance_to(time, within=within).succeeded
