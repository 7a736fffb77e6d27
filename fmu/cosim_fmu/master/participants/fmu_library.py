"""The library of an FMU, loaded with fmpy."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import cosim
from cosim_fmu.master.participants.library_file import is_cut_off
from cosim_fmu.master.participants.same_folder import same_folder

ALWAYS = ("Instantiate", "FreeInstance", "EnterInitializationMode", "ExitInitializationMode")
KINDS = {
    ("2.0", "CoSimulation"): ("fmi2", "FMU2Slave", (*ALWAYS, "SetupExperiment", "DoStep")),
    ("2.0", "ModelExchange"): (
        "fmi2",
        "FMU2Model",
        (*ALWAYS, "SetupExperiment", "NewDiscreteStates", "EnterContinuousTimeMode", "SetTime"),
    ),
    ("3.0", "CoSimulation"): ("fmi3", "FMU3Slave", ("InstantiateCoSimulation", *ALWAYS[1:], "DoStep")),
    ("3.0", "ModelExchange"): (
        "fmi3",
        "FMU3Model",
        (
            "InstantiateModelExchange",
            *ALWAYS[1:],
            "UpdateDiscreteStates",
            "EnterContinuousTimeMode",
            "SetTime",
        ),
    ),
}
"""Fmpy's module and class for each version and interface, and what no library may lack."""


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


def load_library(
    fmu: str, folder: Path, version: str, interface: str, identifier: str, guid: str, name: str
) -> Any:
    """Load the library; nothing is instantiated yet.

    Parameters
    ----------
    fmu : str
        Name for messages.
    folder : Path
        Where the FMU was unpacked.
    version, interface : str
        Of `KINDS`: "3.0", "ModelExchange".
    identifier, guid : str
    name : str
        Of the instance.

    Returns
    -------
    fmpy.fmi2.FMU2Slave, fmpy.fmi2.FMU2Model, fmpy.fmi3.FMU3Slave or fmpy.fmi3.FMU3Model
        Optional functions that the library lacks raise `FmuError` when they are called.

    Raises
    ------
    FmuError
        When it cannot be loaded, or lacks a function without which it cannot be simulated.
    """
    module, base, needed = KINDS[version, interface]
    kind = getattr(importlib.import_module(f"fmpy.{module}"), base)

    def load_functions(slave: Any) -> None:
        slave.dll = _Tolerant(slave.dll, fmu)
        kind._loadFunctions(slave)

    # fmpy tells the version of FMI from the name of the class
    tolerant = type(f"{base}Tolerant", (kind,), {"_loadFunctions": load_functions})
    _name_library(folder, identifier)
    for file in (folder / "binaries").glob(f"*/{identifier}.*"):
        if is_cut_off(file):
            raise cosim.FmuError(fmu, f"the library cannot be loaded: {file.name} is cut off")
    where = {"guid": guid, "modelIdentifier": identifier, "unzipDirectory": str(folder), "instanceName": name}
    try:
        with same_folder():  # fmpy changes into the library's folder and stays there when loading fails
            slave = tolerant(**where)
    except Exception as error:  # fmpy raises plain Exception, ctypes OSError
        raise cosim.FmuError(fmu, f"the library cannot be loaded: {error}") from error
    names = [module + function for function in needed]
    missing = [function for function in names if isinstance(slave._functions[function], _Missing)]
    if missing:
        slave.freeLibrary()
        what = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}[interface]
        raise cosim.FmuError(
            fmu, f"the library does not export {', '.join(missing)}: no FMI {version} {what} FMU"
        )
    return slave


def _name_library(folder: Path, identifier: str) -> None:
    """Let a lone library that has another name than the standard asks for have this one, too."""
    for place in (folder / "binaries").glob("*"):
        libraries = [file for file in place.glob("*") if file.suffix in (".so", ".dll", ".dylib")]
        if len(libraries) == 1 and libraries[0].stem != identifier:
            shutil.copyfile(libraries[0], place / f"{identifier}{libraries[0].suffix}")
