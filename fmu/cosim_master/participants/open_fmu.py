"""The participant that fits an FMU file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cosim
from cosim_fmi.instances.unpacked_fmu import read_fmu
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.instance_participant import InstanceParticipant


def open_fmu(
    path: str | Path, name: str | None = None, inner_step: float | str | None = None, **options: Any
) -> InstanceParticipant:
    """A participant for Co-Simulation or Model Exchange (FMI 1.0, 2.0 or 3.0), as the file offers it.

    Where it offers both, its own solver steps it, unless there are options for an integrator. A file that
    is no FMU makes a participant that says so when it is asked to describe itself.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; the file's name when not given.
    inner_step : float or str, optional
        Of `FmuParticipant`.
    **options
        Of `ModelExchangeParticipant`: ``integrator``, ``accuracy`` …
    """
    try:
        interface = read_fmu(Path(path))[1]
    except cosim.FmuError:
        return FmuParticipant(path, name, inner_step)
    if interface.model_exchange or (options and "ModelExchange" in interface.offers):
        if inner_step is not None:
            raise cosim.ModelError.of(
                "options.inner_step", "is for Co-Simulation: this FMU is solved from outside"
            )
        # its solver is loaded where it is needed: a process for an FMU with its own begins sooner
        from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

        return ModelExchangeParticipant(path, name, **options)
    if options:
        raise cosim.ModelError.of("options", "an FMU that offers Co-Simulation only takes inner_step alone")
    return FmuParticipant(path, name, inner_step)
