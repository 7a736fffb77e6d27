"""Runs that are left, for several threads."""

from __future__ import annotations

import threading

SHARE = 4  # a span has at most a quarter of the runs that are left for each thread
PATIENCE = 0.2  # s that a span should take


class RunQueue:
    """Runs that are left, handed out in spans: many where they are short, few toward the end."""

    def __init__(self, runs: int, threads: int) -> None:
        self._next, self._runs, self._threads = 0, runs, threads
        self._lock = threading.Lock()
        self._span = 1

    def next_span(self) -> tuple[int, int] | None:
        """First run and the one behind the last; None where none is left."""
        with self._lock:
            left = self._runs - self._next
            if not left:
                return None
            size = max(1, min(self._span, left // (SHARE * self._threads)))
            first, self._next = self._next, self._next + size
            return first, self._next

    def measure(self, runs: int, took: float) -> None:
        """Receive the time that some runs have taken, s, wall-clock time."""
        with self._lock:
            self._span = max(1, min(4 * runs, int(runs * PATIENCE / max(took, 1e-9))))
