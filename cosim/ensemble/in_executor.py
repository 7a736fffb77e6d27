"""Runs in other processes, through any `concurrent.futures.Executor`."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import signal
import threading
import time as wall
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.ensemble.block import Block
from cosim.ensemble.changes import Changes
from cosim.ensemble.failed_run import FailedRun
from cosim.ensemble.workers import workers_of
from cosim.errors import CosimError
from cosim.helper_process import end_with_parent
from cosim.step import codes

Ensemble = Any
"""`cosim.ensemble.ensemble.Ensemble`, which imports this."""
CHUNK_TIME = 2.0  # s that a chunk takes, so that sending it costs little beside it
FIRST_CHUNK = 1  # runs, before their time is known
AHEAD = 2  # chunks for each worker that are under way
CLUSTER_LOST = "the executor takes no more work: {}"
LOST = "its process ended without an answer"
DASK_WORKER = "KilledWorker"
DASK_CLUSTER = ("CommClosedError", "FutureCancelledError", "ClosedClientError")
LOOK = 0.2  # s, wall-clock time


def _begin(parent: int) -> None:
    """In a new process: Ctrl-C is for the one that asks, and it ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


class OwnProcesses(Executor):
    """New interpreters of this program; where one is lost, they are started again.

    Parameters
    ----------
    count : int
        How many.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.count, context, _begin, (os.getpid(),))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in one of them."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = self._started()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End them."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


def run_in_executor(
    ensemble: Ensemble,
    changes: Changes,
    block: Block,
    executor: Executor,
    progress: Callable[[int, int], Any] | None,
    chunk: int | None,
) -> bool:
    """Do the runs of a block in the workers of an executor; whether `progress` has stopped them.

    The model goes out as bytes, and a worker that has built it once keeps it. What a lost worker had is done
    again, alone, in halves until the run that ends its process is found: that one has failed. Results are
    written by number, so each run counts once.
    """
    if ensemble.job is None or ensemble.job.executor is not executor:
        ensemble.job = Job(ensemble, executor)
    job, sizes, workers = ensemble.job, ChunkSize(chunk), max(1, workers_of(executor))
    at, suspects = 0, list[tuple[int, int]]()
    pending: dict[Future[Any], tuple[int, int]] = {}
    alone = False  # whether what is pending is a suspect
    try:
        while at < block.runs or suspects or pending:
            while not suspects and not alone and at < block.runs and len(pending) < AHEAD * workers:
                size = min(sizes.next(block.runs - at, workers), block.runs - at)
                pending[job.submit(changes, at, at + size)] = at, at + size
                at += size
            if suspects and not pending:
                span = suspects.pop()
                pending[job.submit(changes, *span)], alone = span, True
            done, _ = wait(pending, LOOK, FIRST_COMPLETED)
            for future in done:
                first, last = pending.pop(future)
                try:
                    found, took = future.result()
                except (Exception, CancelledError) as error:
                    if _is_lost_cluster(error):
                        raise CosimError(CLUSTER_LOST.format(error)) from error
                    if not _is_lost_worker(error):
                        raise
                    middle = (first + last) // 2
                    if not alone:
                        suspects.append((first, last))
                    elif last - first > 1:
                        suspects += [(middle, last), (first, middle)]
                    else:
                        block.codes[first] = codes.FAILED
                        block.failures[first] = FailedRun(first, np.nan, LOST)
                else:
                    sizes.note(last - first, took)
                    _take(block, first, found)
            alone = alone and bool(pending)
            if progress is not None and progress(int((block.codes >= 0).sum()), block.runs) is False:
                return True
    finally:
        for future in pending:
            with suppress(Exception):  # of a cluster that is gone
                future.cancel()
    return False


class ChunkSize:
    """How many runs a chunk has, by the time that runs have taken."""

    def __init__(self, fixed: int | None) -> None:
        self._fixed, self._seconds = fixed, 0.0

    def next(self, left: int, workers: int) -> int:
        """Of the next chunk."""
        if self._fixed is not None:
            return max(1, self._fixed)
        if self._seconds == 0.0:
            return FIRST_CHUNK
        return max(1, min(int(CHUNK_TIME / self._seconds), -(-left // workers)))

    def note(self, runs: int, took: float) -> None:
        """What a chunk has taken, s."""
        self._seconds = max(took / runs, 1e-7)


class Job:
    """An ensemble as it is sent to workers."""

    def __init__(self, ensemble: Ensemble, executor: Executor) -> None:
        self.executor = executor
        try:
            self._bytes: Any = pickle.dumps(ensemble)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise CosimError(
                f"this ensemble cannot be sent to another process: {error}. Classes and functions have to "
                "be at the top of a module that the other process can import"
            ) from error
        self._key = hashlib.sha256(self._bytes).hexdigest()
        client: Any = getattr(executor, "_client", None)
        if client is not None:  # Dask: once to each worker
            with _lost_is_told():
                self._bytes = client.scatter(self._bytes, broadcast=True, hash=False)

    def submit(self, changes: Changes, first: int, last: int) -> Future[Any]:
        """Send a chunk."""
        values = {path: given[first:last] for path, given in changes.given.items()}
        with _lost_is_told():
            return self.executor.submit(run_chunk, self._key, self._bytes, values, last - first)


def run_chunk(key: str, data: bytes, values: dict[str, Any], count: int) -> tuple[dict[str, Any], float]:
    """Do some runs in this process: their arrays, and how long it took, s."""
    ensemble = _built(key, data)
    changes = Changes(ensemble.system, values, count)
    block = ensemble.new_block(changes.runs)
    began = wall.perf_counter()
    ensemble.run_here(changes, block)
    return vars(block), wall.perf_counter() - began


_known = threading.local()


def _built(key: str, data: bytes) -> Ensemble:
    """The ensemble, built once in each thread of this process."""
    if getattr(_known, "key", "") != key:
        _known.ensemble, _known.key = pickle.loads(data), key  # what this program has sent itself
    found: Ensemble = _known.ensemble
    return found


def _take(block: Block, first: int, found: dict[str, Any]) -> None:
    last = first + found["runs"]
    for name in ("series", "final", "reduced", "codes", "ends", "counts"):
        if found[name] is not None:
            getattr(block, name)[first:last] = found[name]
    for run, failed in found["failures"].items():
        block.failures[first + run] = replace(failed, run=first + run)


@contextmanager
def _lost_is_told() -> Iterator[None]:
    """An executor that cannot be given work is an error in words."""
    try:
        yield
    except Exception as error:
        raise CosimError(CLUSTER_LOST.format(error)) from error


def _is_lost_worker(error: BaseException) -> bool:
    """Whether what was done has ended its process; Dask's errors are known by name."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ == DASK_WORKER


def _is_lost_cluster(error: BaseException) -> bool:
    """Whether there is nothing any more that could do it."""
    return isinstance(error, CancelledError) or type(error).__name__ in DASK_CLUSTER
