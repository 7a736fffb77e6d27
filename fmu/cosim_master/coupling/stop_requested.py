"""A participant asks to end the co-simulation."""

from __future__ import annotations

import cosim


class StopRequested(cosim.CosimError):
    """Raised by a participant's `step` to end the co-simulation in good order: no failure.

    The master takes the other participants to the communication point, records it and stops there,
    with an event of cause Termination.

    Attributes
    ----------
    time : float
        What the participant has reached, s.
    reason : str
    participant : str
        Which of several that are stepped as one; "" where it is the one that is stepped.
    """

    def __init__(self, time: float, reason: str = "asked to stop", participant: str = "") -> None:
        self.time, self.reason, self.participant = time, reason, participant
        super().__init__(f"at t = {time:.9g} s: {reason}")
