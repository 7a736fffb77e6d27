"""A run of an ensemble that could not go on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FailedRun:
    """Why a run failed, and where.

    Attributes
    ----------
    run : int
        Its number.
    time : float
        Where it stopped, s.
    reason : str
        What `SimulationError.reason` says of a single run.
    state : bytes
        The last good State: `System.state_from_bytes` reads it. Empty where the run did not begin.
    """

    run: int
    time: float
    reason: str
    state: bytes = b""

    def __str__(self) -> str:
        return f"run {self.run}: at t = {self.time:.9g} s: {self.reason}"
