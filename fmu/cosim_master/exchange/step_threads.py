"""Threads that call functions at the same time, and whether that is faster."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from time import perf_counter


class StepThreads:
    """Calls functions at the same time; a context manager.

    Which thread calls which function depends on the clock, so the functions must not: each touches a
    participant of its own. Functions that spend their time in C or in compiled code run side by side.

    Parameters
    ----------
    count : int
        The number of threads, the calling one included.

    Examples
    --------
    >>> found = []
    >>> with StepThreads(2) as threads:
    ...     threads.call([lambda: found.append(1), lambda: found.append(2)])
    >>> sorted(found)
    [1, 2]
    """

    def __init__(self, count: int) -> None:
        self.count = count
        # Bare queues: futures cost four times as much, and a hand-over is what limits the gain of threads.
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._others: list[threading.Thread] = []

    def __enter__(self) -> StepThreads:
        names = [f"cosim-step-{i}" for i in range(1, self.count)]
        self._others = [threading.Thread(target=self._run, name=name) for name in names]
        for thread in self._others:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        for _ in self._others:
            self._work.put(None)
        for thread in self._others:
            thread.join()
        self._others = []

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except BaseException as error:
                self._done.put(error)
            else:
                self._done.put(None)

    def call(self, shared: Sequence[Callable[[], None]], own: Sequence[Callable[[], None]] = ()) -> None:
        """Call each function once and return when all have returned.

        Parameters
        ----------
        shared : sequence of callable
            For any thread.
        own : sequence of callable
            For the calling thread, in this order, before it takes part in the others.
        """
        left = iter(shared)  # its `__next__` is one step of the interpreter: no two threads get the same

        def work() -> None:
            for function in left:
                function()

        helpers = min(len(self._others), len(shared) - (not own))
        for _ in range(helpers):
            self._work.put(work)
        try:
            for function in own:
                function()
            work()
        finally:  # a participant that is still at work must not be freed
            errors = [self._done.get() for _ in range(helpers)]
        for error in errors:
            if error is not None:
                raise error


ENOUGH = 1.2
"""Threads pay if the time in steps is this many times the elapsed time."""
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

    def retry_threads(self) -> None:
        """Try threads again, if it is time."""
        if not self.uses_threads and perf_counter() >= self._until:
            self.uses_threads = True
