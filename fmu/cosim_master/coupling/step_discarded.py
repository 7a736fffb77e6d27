"""A step that an FMU could not make."""

from __future__ import annotations

import cosim
from cosim_master.coupling.co_simulation_error import CoSimulationError


class StepDiscarded(cosim.FmuError):
    """The FMU discarded a step; from a saved state a shorter one may do."""


class StepDiscardedError(CoSimulationError):
    """A participant could not make a step; algorithms that go back may try a shorter one."""
