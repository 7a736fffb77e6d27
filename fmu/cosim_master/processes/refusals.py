"""The log of clients that a server has refused, which these clients cannot fill."""

from __future__ import annotations

import threading

from cosim_master.processes.sent_fmus import log

MOST_LOGGED = 10
"""Refused clients that are logged one by one in `SECONDS`; the others are counted."""
SECONDS = 60.0


class Refusals:
    """Logs some of the clients that are refused, and how many the others were; from any thread.

    Parameters
    ----------
    seconds : float
        In which `MOST_LOGGED` of them have a line each; the number of the others follows at the end.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds, self._lock = seconds, threading.Lock()
        self._logged = self._counted = 0
        self._timer: threading.Timer | None = None

    def add(self, who: str, why: str) -> None:
        """A client is refused."""
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(self._seconds, self.close)
                self._timer.daemon = True
                self._timer.start()
            if self._logged == MOST_LOGGED:
                self._counted += 1
                return
            self._logged += 1
        log(2, who, f"refused: {why}")

    def close(self) -> None:
        """Log how many clients were only counted, and begin anew."""
        with self._lock:
            counted, self._logged, self._counted = self._counted, 0, 0
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if counted:
            log(2, "-", f"refused: {counted} more in {self._seconds:g} s")
