"""Runs that go in chunks to the workers of any `concurrent.futures.Executor`."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time as wall
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from cosim import CosimError, registry
from cosim_ensembles.executor_support import ExecutorSupport
from cosim_ensembles.own_processes import LostProcess, OwnProcesses
from cosim_ensembles.own_threads import OwnThreads

CHUNK_TIME = 2.0  # s that a chunk should take, so that sending it costs little in comparison
FIRST_CHUNK = 1  # runs in a chunk before the time of a run is known
CHUNKS_AHEAD = 2  # chunks that are sent at once, for each worker
EXECUTOR_LOST = "the executor takes no more work: {}"
LOST = "its process ended unexpectedly"
MOST_KILLS = 5  # how often processes with a run are killed from outside before it counts as failed
POLL_INTERVAL = 0.2  # s of wall-clock time after which waiting is interrupted to ask whether to go on

Span = tuple[int, int]
"""The first run and the one behind the last."""


class Runner(Protocol):
    """An object that does runs and can be pickled."""

    def run_chunk(self, *arguments: Any) -> Any:
        """Do the runs of a chunk, in whatever process this is."""


class Job:
    """A runner as it is sent to workers: as bytes; a worker that has built it once keeps it."""

    def __init__(self, runner: Runner, executor: Executor) -> None:
        self.executor = executor
        try:
            self._bytes: Any = pickle.dumps(runner)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CosimError(
                f"this cannot be sent to another process: {error}. Classes and functions must be defined at "
                "the top level of a module that the other process can import"
            ) from error
        self._key = hashlib.sha256(self._bytes).hexdigest()
        self.support = support_of(executor)
        with _report_lost_executor():
            self._bytes = self.support.share(executor, self._bytes)

    def submit(self, arguments: tuple[Any, ...]) -> Future[Any]:
        """Send a chunk; the answer is what `run_chunk` gives, and how long it took (s)."""
        with _report_lost_executor():
            return self.executor.submit(run_chunk, self._key, self._bytes, arguments)


def run_in_chunks(
    job: Job,
    runs: int,
    arguments_of: Callable[[int, int], tuple[Any, ...]],
    take: Callable[[int, int, Any], None],
    fail: Callable[[int, str], None],
    goes_on: Callable[[], bool],
    chunk: int | None = None,
    most: int | None = None,
) -> bool:
    """Do runs 0 … `runs` - 1; whether all were done.

    Runs of a lost worker are repeated. Where the executor does not tell which task has ended the worker, each
    of its tasks is repeated alone. A task that has ended its worker is halved and repeated, until the one run
    is found that ends its process; that run has failed. Where a process was killed from outside, no run is to
    blame, unless that happens again and again (`MOST_KILLS`).

    Parameters
    ----------
    job : Job
    runs : int
    arguments_of : callable
        Returns, for a span, the arguments for `Runner.run_chunk`.
    take : callable
        Gets a span, and what the runner has answered; each run once.
    fail : callable
        Gets a run that has ended its process, and the reason.
    goes_on : callable
        Called repeatedly; returns False to stop.
    chunk : int, optional
        Runs in a chunk; chosen by their measured time unless given.
    most : int, optional
        The largest chunk.

    Raises
    ------
    CosimError
        The executor takes no more work.
    Exception
        The exception of the runner.
    """
    spans = SpansUnderWay(job, runs, arguments_of, ChunkSize(chunk, most))
    try:
        while spans.is_any_left:
            spans.submit()
            for future in spans.wait():
                first, last, times = spans.withdraw(future)
                try:
                    outcome, seconds = future.result()
                except (Exception, CancelledError) as error:
                    spans.check_loss(error)
                    if spans.repeat(first, last, times, error):
                        continue
                    fail(first, str(error) if isinstance(error, LostProcess) else LOST)
                else:
                    spans.sizes.measure(last - first, seconds)
                    take(first, last, outcome)
            if not goes_on():
                return False
    finally:
        spans.cancel()
    return True


class SpansUnderWay:
    """Spans of runs that workers have, and lost ones that have to be repeated.

    Parameters
    ----------
    job : Job
    runs : int
        Their number.
    arguments_of : callable
        Returns, for a span, the arguments for `Runner.run_chunk`.
    sizes : ChunkSize
    """

    def __init__(
        self, job: Job, runs: int, arguments_of: Callable[[int, int], tuple[Any, ...]], sizes: ChunkSize
    ) -> None:
        self.sizes = sizes
        self._job, self._runs, self._arguments_of = job, runs, arguments_of
        self._workers = max(1, job.support.workers(job.executor))
        self._names_lost_task = getattr(job.executor, "names_lost_task", False)
        self._next = 0  # the first run that no span has yet
        self._pending: dict[Future[Any], Span] = {}
        self._times_lost: dict[Future[Any], int] = {}  # of pending spans that are done again
        self._suspects: list[tuple[Span, int]] = []  # spans that were lost, and how often

    @property
    def is_any_left(self) -> bool:
        """Whether there are runs to send, or to wait for."""
        return self._next < self._runs or bool(self._suspects or self._pending)

    def submit(self) -> None:
        """Send lost spans, one at a time if the executor does not tell whose process ended; then others."""
        while self._suspects and (self._names_lost_task or not self._pending):
            span, times = self._suspects.pop()
            future = self._job.submit(self._arguments_of(*span))
            self._pending[future], self._times_lost[future] = span, times
        is_free = not self._suspects and (self._names_lost_task or not self._times_lost)
        while is_free and self._next < self._runs and len(self._pending) < CHUNKS_AHEAD * self._workers:
            left = self._runs - self._next
            span = self._next, self._next + min(self.sizes.next(left, self._workers), left)
            self._pending[self._job.submit(self._arguments_of(*span))] = span
            self._next = span[1]

    def wait(self) -> set[Future[Any]]:
        """Wait until spans have ended, up to a time limit. Returns these."""
        return wait(self._pending, POLL_INTERVAL, FIRST_COMPLETED)[0]

    def withdraw(self, future: Future[Any]) -> tuple[int, int, int]:
        """First and last run of a span that has ended, and the number of its losses."""
        first, last = self._pending.pop(future)
        return first, last, self._times_lost.pop(future, 0)

    def check_loss(self, error: BaseException) -> None:
        """Raise an error unless it is the loss of a worker."""
        support = self._job.support
        if support.has_lost_all(error):
            raise CosimError(EXECUTOR_LOST.format(_reason_of(error))) from error
        if not support.has_lost_worker(error):
            raise error

    def repeat(self, first: int, last: int, times: int, error: BaseException) -> bool:
        """Do a lost span again, in halves where it is to blame; False where that is a single run."""
        if not _is_to_blame(error, times, self._names_lost_task):
            self._suspects.append(((first, last), times + 1))
        elif last - first > 1:
            middle = (first + last) // 2
            self._suspects += [((middle, last), times), ((first, middle), times)]
        else:
            return False
        return True

    def cancel(self) -> None:
        """Cancel the spans that workers have."""
        for future in self._pending:
            with suppress(Exception):  # the executor may be lost
                future.cancel()


class ChunkSize:
    """The number of runs in a chunk, from the time that runs have taken."""

    def __init__(self, fixed: int | None, most: int | None) -> None:
        self._fixed, self._most, self._seconds = fixed, most, 0.0

    def next(self, left: int, workers: int) -> int:
        """The number of runs in the next chunk."""
        size = FIRST_CHUNK
        if self._fixed is not None:
            size = self._fixed
        elif self._seconds > 0.0:
            size = min(int(CHUNK_TIME / self._seconds), -(-left // workers))
        return max(1, size if self._most is None else min(size, self._most))

    def measure(self, runs: int, took: float) -> None:
        """Update the time per run by the duration of a chunk, s."""
        self._seconds = max(took / runs, 1e-7)


def run_chunk(key: str, data: bytes, arguments: tuple[Any, ...]) -> tuple[Any, float]:
    """Do some runs in this process: the runner's answer, and how long it took, s."""
    runner = _runner_of(key, data)
    began = wall.perf_counter()
    outcome = runner.run_chunk(*arguments)
    return outcome, wall.perf_counter() - began


def support_of(executor: Executor) -> ExecutorSupport:
    """The support for an executor: by a plugin for it, else the common one."""
    if not isinstance(executor, (OwnProcesses, OwnThreads)):
        for entry in registry().entries("executor_support"):
            support: ExecutorSupport = entry.cls()
            if support.serves(executor):
                return support
    return ExecutorSupport()


_last_runner = threading.local()


def _runner_of(key: str, data: bytes) -> Runner:
    """The runner, built once in each thread of this process."""
    if getattr(_last_runner, "key", "") != key:
        try:
            runner = pickle.loads(data)  # trusted: this program has sent it
        except CosimError:
            raise
        except Exception as error:
            text = f"a worker cannot build what it is to run: {type(error).__name__}: {error}"
            raise CosimError(text) from error
        _last_runner.runner, _last_runner.key = runner, key
    built: Runner = _last_runner.runner
    return built


@contextmanager
def _report_lost_executor() -> Iterator[None]:
    """Raise an exception of an executor that takes no work as a `CosimError`."""
    try:
        yield
    except Exception as error:
        raise CosimError(EXECUTOR_LOST.format(_reason_of(error))) from error


def _reason_of(error: BaseException) -> str:
    return str(error) or "its tasks were cancelled, as they are when a scheduler is lost"


def _is_to_blame(error: BaseException, times: int, names_lost_task: bool) -> bool:
    """Whether a lost task is the reason that its process ended; it was lost `times` times before."""
    if names_lost_task:
        return not getattr(error, "was_killed", False) or times >= MOST_KILLS
    return times > (MOST_KILLS if getattr(error, "was_killed", False) else 0)  # repeated tasks run alone
