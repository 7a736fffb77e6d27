"""Faults of a coupling with their place, and what ends a run or a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cosim
from cosim_toml.toml_lines import KeyPath


@dataclass(frozen=True)
class WiringProblem(cosim.Problem):
    """One fault of a coupling.

    Attributes
    ----------
    where, text : str
    key : tuple
        Its place in a scenario: ("participants", "plant"), ("connections", 1, "from") …
    cause : FmuError or None
        The error of the FMU itself, when it is at fault.
    """

    key: KeyPath = ()
    cause: cosim.FmuError | None = None


def problem(key: KeyPath, text: str, cause: cosim.FmuError | None = None) -> WiringProblem:
    """A problem whose place in words follows from the key: ``connections[1]``."""
    where = ""
    for part in key:
        where += f"[{part}]" if isinstance(part, int) else (f".{part}" if where else part)
    return WiringProblem(where, text, key, cause)


def either(names: Sequence[str]) -> str:
    """Names in a sentence: ``'a', 'b' or 'c'``."""
    return ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"


class CoSimulationError(cosim.SimulationError):
    """A participant failed, or values could not be made consistent; everything has been closed.

    Attributes
    ----------
    time : float
        The last communication point that was reached by all, s.
    reason : str
    participant : str
        The participant that failed, "" if the fault belongs to several or to none.
    result : Result or None
        The values up to `time`.
    """

    def __init__(self, time: float, reason: str, participant: str = "") -> None:
        self.participant = participant
        self.result: Any = None
        super().__init__(time, f"{participant}: {reason}" if participant else reason)


class StepDiscardedError(cosim.FmuError):
    """The FMU discarded a step; a shorter step from a saved state may succeed."""

    @staticmethod
    def is_cause_of(error: BaseException) -> bool:
        """Whether an error of a co-simulation comes from a discarded step."""
        return isinstance(error.__cause__, StepDiscardedError)


class StopRequested(cosim.CosimError):
    """Raised by a participant's `step` to end the co-simulation in good order: no failure.

    The master takes the other participants to the communication point, records it and stops there,
    with an event of cause Termination.

    Attributes
    ----------
    time : float
        The time that the participant has reached, s.
    reason : str
    participant : str
        The member of a joint system that asked to stop; "" if the stepped participant itself did.
    """

    def __init__(self, time: float, reason: str = "asked to stop", participant: str = "") -> None:
        self.time, self.reason, self.participant = time, reason, participant
        super().__init__(f"at t = {time:.9g} s: {reason}")
