"""The clock on the wall: a run keeps step with it, and a run that takes too long is ended."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from time import perf_counter, sleep
from typing import Any

import cosim
from cosim_fmi.binding.process_guard import end_process
from cosim_master.abilities import CanAbort


class Pace:
    """Waits until it is time for the next communication step.

    Parameters
    ----------
    rate : float
        Simulated seconds in a second, > 0.

    Attributes
    ----------
    overruns : int
        Communication points that were reached too late.
    largest_lag : float
        By how much at most, s of the wall clock.

    Raises
    ------
    ModelError
        When the rate is not greater than 0.
    """

    def __init__(self, rate: float) -> None:
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not rate > 0.0:
            raise cosim.ModelError.of("real_time_rate", f"is {rate!r}, needs a number greater than 0")
        self.rate = float(rate)
        self.overruns, self.largest_lag = 0, 0.0
        self.restart(0.0)

    def restart(self, start: float) -> None:
        """Set the clock to this simulated time (s) now."""
        self._start, self._begun = start, perf_counter()

    def wait(self, time: float) -> None:
        """Return when the clock says `time` (s), or at once when it is late already."""
        due = self._begun + (time - self._start) / self.rate
        now = perf_counter()
        if now < due:
            sleep(due - now)
        else:
            self.overruns += 1
            self.largest_lag = max(self.largest_lag, now - due)


SECONDS_TO_STOP = 5.0
"""The time that a step may still take in this process before the program is ended, s."""


class TimeLimit:
    """While it is entered, a thread waits for the limit.

    When it has passed, `check` raises at the next communication point. Participants that can be given up
    (`CanAbort`) are, at once: the call that waits for one raises. An FMU in this process that goes on all the
    same cannot be stopped; what has been recorded is saved then, and the program is ended
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
