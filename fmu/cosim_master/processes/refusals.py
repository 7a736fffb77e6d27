"""The log of clients that a server refuses: limited, so that clients cannot fill the disk with it."""

from __future__ import annotations

import threading

from cosim_master.processes.sent_fmus import log

MOST_LOGGED = 10
"""Refused clients that are logged one by one in a period; the others are counted."""
SECONDS = 60.0
"""The length of a period."""


class Refusals:
    """Logs the first clients that are refused, then the count of the others; from any thread.

    Parameters
    ----------
    seconds : float
        A period in which `MOST_LOGGED` of them have a line each; a line with the count of the others ends it.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds, self._lock = seconds, threading.Lock()
        self._logged = self._counted = 0
        self._timer: threading.Timer | None = None

    def add(self, client: str, reason: str) -> None:
        """Log, or count, a client that is refused."""
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(self._seconds, self.close)
                self._timer.daemon = True
                self._timer.start()
            if self._logged == MOST_LOGGED:
                self._counted += 1
                return
            self._logged += 1
        log(2, client, f"refused: {reason}")

    def close(self) -> None:
        """Log how many clients were only counted, and begin anew."""
        with self._lock:
            counted, self._logged, self._counted = self._counted, 0, 0
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if counted:
            log(2, "-", f"refused: {counted} more in {self._seconds:g} s")
