"""Peculiarities of Dask's executors."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from cosim_ensembles.kit import ExecutorSupport

LOST_WORKER = "KilledWorker"
LOST_SCHEDULER = ("CommClosedError", "FutureCancelledError", "ClosedClientError")


class DaskSupport(ExecutorSupport):
    """Dask's ``client.get_executor()``: its workers, and its errors, which are known by name."""

    def serves(self, executor: Executor) -> bool:
        """Whether it has a client of Dask."""
        return type(executor).__module__.partition(".")[0] == "distributed"

    def workers(self, executor: Any) -> int:
        """Threads of all workers."""
        try:
            return int(sum(executor._client.nthreads().values())) or 1
        except Exception:
            return 1  # the scheduler has gone; sending work raises the error

    def share(self, executor: Any, data: bytes) -> Any:
        """The result of a task: Dask repeats lost tasks, but does not restore lost data."""
        return executor._client.submit(_same, data)

    def has_lost_worker(self, error: BaseException) -> bool:
        """Whether the workers of a task have ended."""
        return super().has_lost_worker(error) or type(error).__name__ == LOST_WORKER

    def has_lost_all(self, error: BaseException) -> bool:
        """Whether the scheduler does not answer any more."""
        return super().has_lost_all(error) or type(error).__name__ in LOST_SCHEDULER


def _same(data: bytes) -> bytes:
    return data
