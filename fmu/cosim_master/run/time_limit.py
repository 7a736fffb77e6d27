"""TimeLimit: the wall time after which a run is ended."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import cosim
from cosim_fmi.binding.process_guard import end_process
from cosim_master.abilities import CanAbort

SECONDS_TO_STOP = 5.0
"""The time that a step may still take in this process before the program is ended, s."""


class TimeLimit:
    """While it is entered, a thread waits for the limit.

    When it has passed, `check` raises an error at the next communication point. Participants that can be
    aborted (`CanAbort`) are aborted at once: the call that waits for one raises an error. If an FMU in this
    process does not return, recorded values are saved, and the program is ended
    (`cosim_fmi.binding.process_guard`).

    Parameters
    ----------
    seconds : float
        The limit of wall time.
    participants : iterable of Participant

    Raises
    ------
    ModelError
        When the limit is not greater than 0.
    """

    def __init__(self, seconds: float, participants: Iterable[Any]) -> None:
        if isinstance(seconds, bool) or not seconds > 0.0:
            raise cosim.ModelError.of(
                "time_limit", f"is {seconds!r}, needs a number of seconds greater than 0"
            )
        self._seconds, self._participants = seconds, participants
        self._ended, self._has_passed = threading.Event(), False

    @property
    def _why(self) -> str:
        return f"the time limit of {self._seconds:g} s has passed"

    def check(self, time: float) -> None:
        """Raise `SimulationError` at `time` (s) when the limit has passed."""
        if self._has_passed:
            raise cosim.SimulationError(time, self._why)

    def __enter__(self) -> TimeLimit:
        threading.Thread(target=self._wait, name="time limit", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()

    def _wait(self) -> None:
        if self._ended.wait(self._seconds):
            return
        self._has_passed = True
        for participant in self._participants:
            if isinstance(participant, CanAbort):
                participant.abort(self._why)
        if not self._ended.wait(SECONDS_TO_STOP):
            end_process(f"{self._why}, and a step of a participant in this process is still running")
