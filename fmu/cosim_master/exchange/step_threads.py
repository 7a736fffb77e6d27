"""Threads that call functions at the same time, and a measurement of their gain."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from time import perf_counter


class StepThreads:
    """Calls functions at the same time; a context manager.

    It depends on timing which thread calls which function. So that results do not, each function uses only a
    participant of its own. Functions run at the same time while they are in C or in compiled code.

    Parameters
    ----------
    count : int
        The number of threads, the calling one included.

    Examples
    --------
    >>> numbers = []
    >>> with StepThreads(2) as threads:
    ...     threads.call([lambda: numbers.append(1), lambda: numbers.append(2)])
    >>> sorted(numbers)
    [1, 2]
    """

    def __init__(self, count: int) -> None:
        self.count = count
        # Handing work over limits the gain of threads, and futures would take four times as long as queues.
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> StepThreads:
        names = [f"cosim-step-{i}" for i in range(1, self.count)]
        self._threads = [threading.Thread(target=self._run, name=name) for name in names]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except BaseException as error:
                self._done.put(error)
            else:
                self._done.put(None)

    def call(
        self, shared: Sequence[Callable[[], None]], in_caller: Sequence[Callable[[], None]] = ()
    ) -> None:
        """Call each function once and return when all have returned.

        Parameters
        ----------
        shared : sequence of callable
            For any thread.
        in_caller : sequence of callable
            For the calling thread, in this order, before it shares in the others.
        """
        remaining = iter(shared)  # `__next__` is atomic in CPython, so each function is called once

        def work() -> None:
            for function in remaining:
                function()

        helpers = min(len(self._threads), len(shared) - (not in_caller))
        for _ in range(helpers):
            self._work.put(work)
        try:
            for function in in_caller:
                function()
            work()
        finally:  # wait: participants that are still being stepped must not be freed
            errors = [self._done.get() for _ in range(helpers)]
        for error in errors:
            if error is not None:
                raise error


ENOUGH = 1.2
"""Threads are used if the sum of the times of all steps is at least this many times the elapsed time."""
MEASURED = 0.005
"""Elapsed time of steps in threads before they are compared, s."""
FIRST_PAUSE = 0.5
"""s, after which threads are tried again, since steps may have become longer; it is doubled each time."""


class ThreadGain:
    """Compares the sum of the times of steps with the elapsed time.

    Attributes
    ----------
    uses_threads : bool
    """

    def __init__(self) -> None:
        self.uses_threads = True
        self._busy = self._elapsed = 0.0
        self._until, self._pause = 0.0, FIRST_PAUSE

    def add(self, busy: float, elapsed: float) -> None:
        """Add the sum of the times of steps (s), and the elapsed time (s)."""
        self._busy += busy
        self._elapsed += elapsed
        if self._elapsed < MEASURED:
            return
        if self._busy < ENOUGH * self._elapsed:
            self.uses_threads = False
            self._until = perf_counter() + self._pause
            self._pause *= 2.0
        else:
            self._pause = FIRST_PAUSE
        self._busy = self._elapsed = 0.0

    def retry_threads(self) -> None:
        """Use threads again after the pause."""
        if not self.uses_threads and perf_counter() >= self._until:
            self.uses_threads = True
