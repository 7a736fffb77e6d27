"""Threads in which participants step side by side."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from types import TracebackType


class StepThreads:
    """Calls functions at the same time; a context manager.

    Which thread calls which function depends on the clock, so the functions must not: each touches a
    participant of its own. Functions that spend their time in C or in compiled code run side by side.

    Parameters
    ----------
    count : int
        Of threads, the one that calls among them.

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
        self._others: concurrent.futures.ThreadPoolExecutor | None = None

    def __enter__(self) -> StepThreads:
        if self.count > 1:
            self._others = concurrent.futures.ThreadPoolExecutor(self.count - 1, "cosim-step")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._others is not None:
            self._others.shutdown()
            self._others = None

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

        helpers = min(self.count - 1, len(shared) - (not own))
        started = [self._others.submit(work) for _ in range(helpers)] if self._others is not None else []
        try:
            for function in own:
                function()
            work()
        finally:  # nobody may free a participant that is still at work
            concurrent.futures.wait(started)
        for one in started:
            one.result()
