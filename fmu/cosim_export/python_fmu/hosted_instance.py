"""HostedInstance: the base of instances that run inside an FMU with Python; it checks the calls of a host."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path

import cosim
from cosim.kit import Registry
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable

INTERFACE = "interface.json"
REGISTRY = "registry.json"
"""Files among the resources of every FMU with Python inside."""
SET_AS = {"Enumeration": "Integer"}
"""Types whose variables are read and set by the functions of another type."""
VALUES: dict[str, type] = {"Real": float, "Integer": int, "Boolean": bool, "String": str}
"""The types of the values that a host receives."""


class Mode(StrEnum):
    """The mode of an instance, in the words of its messages; saved states hold these, too."""

    INSTANTIATED = "instantiated"
    INITIALIZING = "in initialization mode"
    STEPPING = "between steps"
    STOPPED = "at its end"
    ENDING = "about to end: its initialization has asked to stop"


class HostedInstance:
    """An instance of an FMU that runs in a Python interpreter: checks which calls each mode allows.

    A subclass holds the system, and has `step`, `get`, `set`, `save` and `restore`.

    Parameters
    ----------
    resources : Path
        The folder with the resources of the FMU.

    Attributes
    ----------
    interface : ExportedInterface
        The variables that the host sees.
    registry : Registry
        The plugins that were in use when the FMU was written.
    mode : Mode
    stop_time : float or None
        s
    """

    def __init__(self, resources: Path) -> None:
        self.interface = ExportedInterface.from_json((resources / INTERFACE).read_text("utf-8"))
        self.registry = Registry.from_manifest(json.loads((resources / REGISTRY).read_text("utf-8")))
        self.mode = Mode.INSTANTIATED
        self.stop_time: float | None = None

    @property
    def time(self) -> float:
        """The present time, s."""
        raise NotImplementedError

    def enter_initialization(self) -> None:
        """Enter initialization: nothing is computed yet; parameters, inputs and start values may be set."""
        self.need_mode(Mode.INSTANTIATED)
        self.mode = Mode.INITIALIZING

    @property
    def is_before_steps(self) -> bool:
        """Whether initialization has not ended."""
        return self.mode in (Mode.INSTANTIATED, Mode.INITIALIZING)

    def need_mode(self, *allowed: Mode) -> None:
        """Raise `StateError` if a call is not allowed in the present mode."""
        if self.mode not in allowed:
            raise cosim.StateError(
                f"not allowed here: the instance is {self.mode}, needs to be {' or '.join(allowed)}"
            )

    def check_step(self, time: float, size: float) -> None:
        """Raise `StateError` if a step from `time` by `size` (s) is not allowed."""
        if self.mode is Mode.STOPPED:
            raise cosim.StateError(
                f"the simulation ended at t = {self.time!r} s; call fmi2Reset or restore a saved state"
            )
        if self.is_before_steps:
            raise cosim.StateError(
                f"the instance is {self.mode}; initialize first: fmi2EnterInitializationMode, "
                "fmi2ExitInitializationMode"
            )
        if not (math.isfinite(time) and math.isfinite(size)):
            raise cosim.StateError("time and step size have to be finite")
        if size <= 0.0:
            raise cosim.StateError(f"the step size is {size!r} s, needs more than 0")
        slack = 1e-6 * size + 8.0 * math.ulp(max(abs(time), abs(self.time)))
        if abs(time - self.time) > slack:
            raise cosim.StateError(
                f"the instance is at t = {self.time!r} s. Step on from there, or go back with a saved "
                "state (fmi2SetFMUstate)"
            )
        if self.stop_time is not None and time + size > self.stop_time + slack:
            raise cosim.StateError(
                f"the step ends after the stop time {self.stop_time!r} s set by fmi2SetupExperiment"
            )

    def find_variable(self, kind: str, reference: int) -> FmuVariable:
        """The variable with a value reference; `StateError` if there is none of this FMI type."""
        count = len(self.interface.variables)
        if not 0 <= reference < count:
            raise cosim.StateError(
                f"no variable has the value reference {reference}; there are 0 … {count - 1}"
            )
        variable = self.interface.variables[reference]
        if SET_AS.get(variable.type, variable.type) != kind:
            raise cosim.StateError(f"{variable.name} is of type {variable.type}, not {kind}")
        return variable

    def check_settable(self, variable: FmuVariable) -> None:
        """Raise `StateError` if a variable can never be set."""
        if not variable.is_settable:
            raise cosim.StateError(f"{variable.name}: it is computed and cannot be set")

    def check_open(self, variable: FmuVariable, *, is_open: bool) -> None:
        """Raise `StateError` if a variable may not get a new value now.

        Parameters
        ----------
        variable : FmuVariable
        is_open : bool
            Whether it may be set between steps, too.
        """
        if self.mode is Mode.STOPPED:
            raise cosim.StateError(f"{variable.name}: not allowed here: the instance is {self.mode}")
        if not is_open and not self.is_before_steps:
            raise cosim.StateError(f"{variable.name}: can be set only before initialization ends")


def check_experiment(start: float, stop: float | None, tolerance: float | None) -> None:
    """Raise `StateError` if start time, stop time (s) or tolerance is invalid."""
    if tolerance is not None and not 0.0 < tolerance < 1.0:
        raise cosim.StateError(f"the tolerance is {tolerance!r}, needs to be between 0 and 1")
    if not math.isfinite(start):
        raise cosim.StateError(f"the start time is {start!r}, needs a finite number")
    if stop is not None and not stop >= start:
        raise cosim.StateError(f"the stop time {stop!r} s is before the start time {start!r} s")
