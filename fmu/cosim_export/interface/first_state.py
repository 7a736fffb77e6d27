"""The State with which a simulation of a system begins: start values of an FMU are taken from it."""

from __future__ import annotations

import cosim
from cosim.kit import has_corrections


def first_state(system: cosim.System) -> cosim.State:
    """The default State with constraints met and quaternions normalized.

    A simulation changes what is not, so start values taken from the default State would not be those that it
    begins with. Where the constraints cannot be met it is the default State; the initialization says why.
    """
    state = system.default_state()
    if not has_corrections(system.corrections):
        return state
    try:
        cosim.assemble(system, state)
    except cosim.SimulationError:
        return system.default_state()
    return state
