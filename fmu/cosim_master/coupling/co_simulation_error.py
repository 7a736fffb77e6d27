"""A co-simulation that could not go on."""

from __future__ import annotations

from typing import Any

import cosim


class CoSimulationError(cosim.SimulationError):
    """A participant failed, or values could not be made consistent; everything has been closed.

    Attributes
    ----------
    time : float
        The last communication point that was reached by all, s.
    reason : str
    participant : str
        Who failed, "" when it is none in particular.
    result : Result or None
        What was recorded up to `time`.
    """

    def __init__(self, time: float, reason: str, participant: str = "") -> None:
        self.participant = participant
        self.result: Any = None
        super().__init__(time, f"{participant}: {reason}" if participant else reason)
