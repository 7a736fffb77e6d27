"""The library of an FMU, loaded with fmpy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cosim

NEEDED_3 = (
    "fmi3InstantiateCoSimulation",
    "fmi3FreeInstance",
    "fmi3EnterInitializationMode",
    "fmi3ExitInitializationMode",
    "fmi3DoStep",
)
NEEDED_ME = (
    "fmi2Instantiate",
    "fmi2FreeInstance",
    "fmi2SetupExperiment",
    "fmi2EnterInitializationMode",
    "fmi2ExitInitializationMode",
    "fmi2NewDiscreteStates",
    "fmi2EnterContinuousTimeMode",
    "fmi2SetTime",
)
NEEDED = (
    "fmi2Instantiate",
    "fmi2FreeInstance",
    "fmi2SetupExperiment",
    "fmi2EnterInitializationMode",
    "fmi2ExitInitializationMode",
    "fmi2DoStep",
)


class _Missing:
    """Stands for a function that the library does not export; calling it says so."""

    def __init__(self, fmu: str, name: str) -> None:
        self.fmu, self.name = fmu, name

    def __call__(self, *arguments: Any) -> Any:
        raise cosim.FmuError(self.fmu, "the library does not export this function", self.name)


class _Tolerant:
    """A loaded library in which every function can be looked up, whether it is there or not."""

    def __init__(self, library: Any, fmu: str) -> None:
        self._library, self._fmu = library, fmu
        self._handle = library._handle

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._library, name)
        except AttributeError:
            return _Missing(self._fmu, name)


def load_slave(fmu: str, folder: Path, identifier: str, guid: str, instance: str) -> Any:
    """Load the library; nothing is instantiated yet.

    Parameters
    ----------
    fmu : str
        Name for messages.
    folder : Path
        Where the FMU was unpacked.

    Returns
    -------
    fmpy.fmi2.FMU2Slave
        Optional functions that the library lacks raise `FmuError` when they are called.

    Raises
    ------
    FmuError
        When it cannot be loaded, or lacks a function without which no co-simulation is possible.
    """
    from fmpy.fmi2 import FMU2Slave

    class FMU2SlaveTolerant(FMU2Slave):  # fmpy tells the version of FMI from the name of the class
        dll: Any

        def _loadFunctions(self) -> None:  # noqa: N802
            self.dll = _Tolerant(self.dll, fmu)
            super()._loadFunctions()

    return _loaded(FMU2SlaveTolerant, NEEDED, fmu, folder, identifier, guid, instance)


def load_model(fmu: str, folder: Path, identifier: str, guid: str, instance: str) -> Any:
    """As `load_slave`, for Model Exchange.

    Returns
    -------
    fmpy.fmi2.FMU2Model
    """
    from fmpy.fmi2 import FMU2Model

    class FMU2ModelTolerant(FMU2Model):
        dll: Any

        def _loadFunctions(self) -> None:  # noqa: N802
            self.dll = _Tolerant(self.dll, fmu)
            super()._loadFunctions()

    return _loaded(FMU2ModelTolerant, NEEDED_ME, fmu, folder, identifier, guid, instance)


def load_slave_3(fmu: str, folder: Path, identifier: str, guid: str, instance: str) -> Any:
    """As `load_slave`, for FMI 3.0.

    Returns
    -------
    fmpy.fmi3.FMU3Slave
    """
    from fmpy.fmi3 import FMU3Slave

    class FMU3SlaveTolerant(FMU3Slave):
        dll: Any

        def _loadFunctions(self) -> None:  # noqa: N802
            self.dll = _Tolerant(self.dll, fmu)
            super()._loadFunctions()

    return _loaded(FMU3SlaveTolerant, NEEDED_3, fmu, folder, identifier, guid, instance)


def _loaded(
    kind: Any, needed: Sequence[str], fmu: str, folder: Path, identifier: str, guid: str, instance: str
) -> Any:
    directory = os.getcwd()
    try:
        slave = kind(guid=guid, modelIdentifier=identifier, unzipDirectory=str(folder), instanceName=instance)
    except Exception as error:  # fmpy raises plain Exception, ctypes OSError
        raise cosim.FmuError(fmu, f"the library cannot be loaded: {error}") from error
    finally:
        os.chdir(directory)  # fmpy changes into the library's folder and stays there when loading fails
    missing = [name for name in needed if isinstance(slave._functions[name], _Missing)]
    if missing:
        slave.freeLibrary()
        what = "Model Exchange" if needed is NEEDED_ME else "Co-Simulation"
        kind_of = f"no FMI {needed[0][3]}.0 {what} FMU"
        raise cosim.FmuError(fmu, f"the library does not export {', '.join(missing)}: {kind_of}")
    return slave
