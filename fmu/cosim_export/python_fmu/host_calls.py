"""The calls that a host may make in each mode of an FMU that runs in a Python interpreter."""

from __future__ import annotations

import math

import cosim
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable

SET_AS = {"Enumeration": "Integer"}
"""Types as which variables of other types are read and set."""
INSTANTIATED, INITIALIZING, STEPPING, STOPPED, ENDING = MODES = (
    "instantiated",
    "in initialization mode",
    "between steps",
    "at its end",
    "about to end: its initialization has asked to stop",
)


def check_mode(mode: str, *allowed: str) -> None:
    """Raise `StateError` where a call is not allowed in the present mode."""
    if mode not in allowed:
        raise cosim.StateError(
            f"not allowed here: the instance is {mode}, needs to be {' or '.join(allowed)}"
        )


def check_experiment(start: float, stop: float | None, tolerance: float | None) -> None:
    """Raise `StateError` where start and stop time (s), or the tolerance, make no sense."""
    if tolerance is not None and not 0.0 < tolerance < 1.0:
        raise cosim.StateError(f"the tolerance is {tolerance!r}, needs to be between 0 and 1")
    if not math.isfinite(start):
        raise cosim.StateError(f"the start time is {start!r}, needs a finite number")
    if stop is not None and not stop >= start:
        raise cosim.StateError(f"the stop time {stop!r} s is not after the start time {start!r} s")


def check_step(mode: str, present: float, stop: float | None, time: float, size: float) -> None:
    """Raise `StateError` where a step cannot be made.

    Parameters
    ----------
    mode : str
    present : float
        The time of the instance, s.
    stop : float or None
        The stop time, s.
    time, size : float
        The step, s.
    """
    if mode == STOPPED:
        raise cosim.StateError(
            f"the simulation ended at t = {present!r} s; call fmi2Reset or restore a saved state"
        )
    if mode not in (STEPPING, ENDING):
        raise cosim.StateError(
            f"the instance is {mode}; initialize first: fmi2EnterInitializationMode, "
            "fmi2ExitInitializationMode"
        )
    if not (math.isfinite(time) and math.isfinite(size)):
        raise cosim.StateError("time and step size have to be finite")
    if size <= 0.0:
        raise cosim.StateError(f"the step size is {size!r} s, needs more than 0")
    slack = 1e-6 * size + 8.0 * math.ulp(max(abs(time), abs(present)))
    if abs(time - present) > slack:
        raise cosim.StateError(
            f"the instance is at t = {present!r} s. Step on from there, or go back with a saved "
            "state (fmi2SetFMUstate)"
        )
    if stop is not None and time + size > stop + slack:
        raise cosim.StateError(f"the step ends after the stop time {stop!r} s set by fmi2SetupExperiment")


def find_variable(interface: ExportedInterface, kind: str, reference: int) -> FmuVariable:
    """The variable with a value reference; `StateError` where there is none of this FMI type."""
    count = len(interface.variables)
    if not 0 <= reference < count:
        raise cosim.StateError(f"no variable has the value reference {reference}; there are 0 … {count - 1}")
    variable = interface.variables[reference]
    if SET_AS.get(variable.type, variable.type) != kind:
        raise cosim.StateError(f"{variable.name} is of type {variable.type}, not {kind}")
    return variable
