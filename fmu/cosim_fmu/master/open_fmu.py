"""The participant that fits an FMU file."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim_fmu.master.fmi3_participant import Fmi3Participant
from cosim_fmu.master.fmu_participant import FmuParticipant
from cosim_fmu.master.unpacked_fmu import read_fmu


def open_fmu(path: str | Path, name: str | None = None) -> FmuParticipant:
    """A participant for FMI 2.0 or FMI 3.0, as the file says.

    A file that is no FMU makes a participant that says so when it is asked to describe itself.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; the file's name when not given.
    """
    try:
        version = read_fmu(Path(path))[1].version
    except cosim.FmuError:
        version = "2.0"
    return (Fmi3Participant if version == "3.0" else FmuParticipant)(path, name)
