"""Whether threads are worth it, measured on the way."""

from __future__ import annotations

from time import perf_counter

ENOUGH = 1.2
"""So many times the time that passes has to be spent in steps."""
TRIED = 0.005
"""s, of steps in threads before that is judged."""
TRIED_AGAIN = 0.5
"""s, after which threads are tried again: steps may have become longer."""


class ThreadGain:
    """Compares what steps took together with the time that passed.

    Attributes
    ----------
    uses_threads : bool
    """

    def __init__(self) -> None:
        self.uses_threads = True
        self._busy = self._passed = 0.0
        self._until, self._pause = 0.0, TRIED_AGAIN

    def add(self, busy: float, passed: float) -> None:
        """Steps that took so long in all (s) were taken while so much time passed (s)."""
        self._busy += busy
        self._passed += passed
        if self._passed < TRIED:
            return
        if self._busy < ENOUGH * self._passed:
            self.uses_threads = False
            self._until = perf_counter() + self._pause
            self._pause *= 2.0
        else:
            self._pause = TRIED_AGAIN
        self._busy = self._passed = 0.0

    def look(self) -> None:
        """Try threads again, if it is time."""
        if not self.uses_threads and perf_counter() >= self._until:
            self.uses_threads = True
