"""The library and the instance that fit a version of FMI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cosim_fmi.binding.fmi1_instance import Fmi1Instance
from cosim_fmi.binding.fmi2_instance import Fmi2Instance
from cosim_fmi.binding.fmi3_instance import Fmi3Instance
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.binding.fmu_library import FmuLibrary

INSTANCES: dict[str, type[FmuInstance]] = {
    kind.table.version: kind for kind in (Fmi1Instance, Fmi2Instance, Fmi3Instance)
}
"""By the version of FMI."""


def open_library(path: Path, version: str, identifier: str, interface: str) -> FmuLibrary:
    """Load a library.

    Parameters
    ----------
    path : Path
    version : str
        "1.0", "2.0" or "3.0".
    identifier : str
        The model identifier.
    interface : str
        "CoSimulation" or "ModelExchange".
    """
    return FmuLibrary(path, INSTANCES[version].table, identifier, interface)


def new_instance(library: FmuLibrary, log: Callable[[int, str], None]) -> FmuInstance:
    """An instance that is to be instantiated.

    Parameters
    ----------
    library : FmuLibrary
    log : callable
        Called with status and text of each message.
    """
    return INSTANCES[library.table.version](library, log)
