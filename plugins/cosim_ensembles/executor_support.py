"""Facts of an executor for the runs that it makes."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError, Executor
from typing import Any

from cosim import plugin_kind
from cosim.kit import AbstractClosedAttributes


@plugin_kind("executor_support")
class ExecutorSupport(AbstractClosedAttributes):
    """The workers of an executor, the data that each of them receives once, and the meaning of its errors.

    This class itself serves executors of the standard library, and others that behave in the same way. For a
    library whose executors behave differently, a plugin registers a class that derives from this one; it is
    instantiated without arguments.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> class Farm(ThreadPoolExecutor):
    ...     '''Reaches machines that can be lost.'''
    >>> class FarmSupport(ExecutorSupport):
    ...     '''A farm says so with a `ConnectionError`.'''
    ...     def serves(self, executor): return isinstance(executor, Farm)
    ...     def has_lost_all(self, error): return isinstance(error, ConnectionError)
    >>> FarmSupport().serves(Farm(3)), FarmSupport().workers(Farm(3))
    (True, 3)
    """

    def serves(self, executor: Executor) -> bool:
        """Whether this is an executor of that library."""
        return False

    def workers(self, executor: Any) -> int:
        """The number of workers, if the executor tells it; at least 1."""
        count = getattr(executor, "_max_workers", None) or getattr(executor, "count", None)
        return max(1, count) if isinstance(count, int) else 1

    def share(self, executor: Any, data: bytes) -> Any:
        """A stand-in for `data` among the arguments of tasks, so that not every task carries it."""
        return data

    def has_lost_worker(self, error: BaseException) -> bool:
        """Whether an error of a task means that its process has ended."""
        return isinstance(error, BrokenExecutor)

    def has_lost_all(self, error: BaseException) -> bool:
        """Whether an error means that no worker is left."""
        return isinstance(error, CancelledError)
