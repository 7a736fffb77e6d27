"""FMI 2.0: systems exported as FMUs, and FMUs run together.

`cosim_fmu.export` writes an assembled system as an FMU for Co-Simulation; `cosim_fmu.master` runs FMUs and
other participants together. Neither uses the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim_fmu.master import CoSimulation as CoSimulation
    from cosim_fmu.master import CoSimulationError as CoSimulationError
    from cosim_fmu.master import FmuParticipant as FmuParticipant
    from cosim_fmu.master import ProcessParticipant as ProcessParticipant
    from cosim_fmu.master import StopRequested as StopRequested
    from cosim_fmu.master import SystemParticipant as SystemParticipant
    from cosim_fmu.master import TimedInputs as TimedInputs

OF_THE_MASTER = (
    "CoSimulation",
    "CoSimulationError",
    "FmuParticipant",
    "ProcessParticipant",
    "StopRequested",
    "SystemParticipant",
    "TimedInputs",
)


def __getattr__(name: str) -> Any:
    """The names of the master, imported when they are asked for: an exported FMU never needs them."""
    if name in OF_THE_MASTER:
        from cosim_fmu import master

        return getattr(master, name)
    raise AttributeError(f"module 'cosim_fmu' has no attribute '{name}'")
