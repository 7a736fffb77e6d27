"""The State with which a simulation of a system begins: it has the start values of an FMU."""

from __future__ import annotations

import cosim
from cosim.kit import has_corrections


def first_state(system: cosim.System) -> cosim.State:
    """The default State with constraints met and quaternions normalized.

    A simulation corrects both when it begins, so its start values differ from those of the default State. If
    the constraints cannot be met, it is the default State; the initialization then reports the error.
    """
    state = system.default_state()
    if not has_corrections(system.corrections):
        return state
    try:
        cosim.assemble(system, state)
    except cosim.SimulationError:
        return system.default_state()
    return state
