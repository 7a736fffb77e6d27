"""Models to export, and instances of FMUs whose variables are read and set by name."""

from __future__ import annotations

import atexit
import functools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from export_parts import Ball, Fuse, Oscillator

import cosim
from cosim_export.python_fmu.pythonfmu_exporter import PythonFmuExporter
from cosim_mechanics import Multibody


def oscillator(name: str = "oscillator", **values: Any) -> cosim.Model:
    """An oscillator with the measure ``felt``: its position 13 ms ago."""
    model = cosim.Model(name)
    model.add(Oscillator, "osc", **values)
    model.measure("measures.delay", "felt", source="osc.position", delay=0.013)
    return model


def ball(**values: Any) -> cosim.Model:
    model = cosim.Model("ball")
    model.add(Ball, "ball", **values)
    return model


def fuse() -> cosim.Model:
    model = cosim.Model("fuse")
    model.add(Fuse, "fuse")
    return model


def limited() -> cosim.Model:
    """A body on a pin with a stop; measures are its limited angle and its angle 20 ms ago."""
    model = Multibody("limited", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=2.0, center_of_mass=(0.3, 0, 0), inertia=(0.1, 0.2, 0.2))
    model.joint("pin", child=rod, name="hinge", frame_on_parent={"angles": ["90 deg", 0, 0]})
    model.add("mechanics.coordinate_stop", "stop", coordinate="hinge", lower=-1.0, upper=1.0, stiffness=500.0)
    model.measure("signals.limiter", "cut", source="hinge.angle", lower=-0.5, upper=0.5)
    model.measure("measures.delay", "late", source="hinge.angle", delay=0.02)
    return model


def export(model: cosim.Model, path: Path, **options: Any) -> Path:
    """Export an FMU with Python inside that shows all variables, unless `options` say otherwise."""
    return PythonFmuExporter().export(model, path, **{"all": True, **options}).path


@functools.cache
def unpack(path: Path, changed: int) -> Path:
    """The folder of an unpacked FMU, which all its instances share; `changed` is the time of the file.

    An FMU with Python inside has hundreds of files.
    """
    from fmpy import extract

    folder = Path(extract(str(path)))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Fmu:
    """An instance of an FMU of FMI 2.0 for Co-Simulation; `messages` are those that it has logged.

    Without `folder`, instances share one folder of unpacked files.
    """

    def __init__(self, path: Path, folder: Path | None = None, name: str = "instance") -> None:
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

        self.messages: list[str] = []
        if folder is not None:
            self.folder = Path(extract(str(path), str(folder)))
        else:
            self.folder = unpack(path, path.stat().st_mtime_ns)
        self.description = read_model_description(str(path), validate=False)
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.types = {v.name: v.type for v in self.description.modelVariables}

        def log(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
            self.messages.append(message.decode())

        self._callbacks = fmi2CallbackFunctions()
        self._callbacks.logger = fmi2CallbackLoggerTYPE(log)
        self._callbacks.allocateMemory = defaultCallbacks.allocateMemory
        self._callbacks.freeMemory = defaultCallbacks.freeMemory
        self.slave = FMU2Slave(
            guid=self.description.guid,
            unzipDirectory=str(self.folder),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        self.slave.instantiate(callbacks=self._callbacks, loggingOn=True)

    def start(
        self, start: float = 0.0, tolerance: float | None = None, stop: float | None = None, **values: Any
    ) -> Fmu:
        """Set `values` and initialize the instance."""
        self.slave.setupExperiment(startTime=start, tolerance=tolerance, stopTime=stop)
        for name, value in values.items():
            self[name] = value
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()
        return self

    def __getitem__(self, name: str) -> Any:
        return getattr(self.slave, f"get{self.types[name]}")([self.references[name]])[0]

    def __setitem__(self, name: str, value: Any) -> None:
        getattr(self.slave, f"set{self.types[name]}")([self.references[name]], [value])

    def all(self) -> list[float]:
        """The values of all variables of type Real."""
        return list(self.slave.getReal([r for n, r in self.references.items() if self.types[n] == "Real"]))

    def steps(self, first: int, last: int, h: float = 0.01) -> None:
        """Take the steps of size `h` with the numbers `first` to `last` - 1."""
        for i in range(first, last):
            self.slave.doStep(i * h, h)

    def close(self) -> None:
        self.slave.freeInstance()


@contextmanager
def running(path: Path, **options: Any) -> Iterator[Fmu]:
    fmu = Fmu(path, **options)
    try:
        yield fmu
    finally:
        fmu.close()
