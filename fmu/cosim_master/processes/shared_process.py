"""The place where participants run, and the processes that they share there."""

from __future__ import annotations

import threading
from collections.abc import Callable

from cosim_master.processes.session import LocalSession, Session


class SharedProcess:
    """A process that starts with its first participant, and ends with its last one.

    Parameters
    ----------
    begin : callable
        Starts the process. Returns the session with it.
    """

    def __init__(self, begin: Callable[[], Session] = LocalSession) -> None:
        self._begin = begin
        self._session: Session | None = None
        self._users = 0
        self._lock = threading.Lock()

    def enter(self) -> Session:
        """The session with the process, for one more participant."""
        with self._lock:
            if self._session is None:
                self._session = self._begin()
            self._users += 1
            return self._session

    def leave(self, session: Session) -> None:
        """Release the session; the last participant closes it."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
            self._session = None
        session.end()
