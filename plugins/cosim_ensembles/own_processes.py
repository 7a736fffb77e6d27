"""An executor with processes of its own; the end of one of them does not affect the others."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from typing import Any

from cosim import CosimError
from cosim.kit import (
    ResourceLimits,
    black_box,
    end_with_parent,
    forget_safe_spawn,
    ignore_stop_signals,
    safe_spawn,
)

Task = tuple["Future[Any]", bytes]
KILLED = getattr(signal, "SIGKILL", None)
"""Windows has no such signal."""
LIMITS_UNCHANGED = b"\n"
"""The last byte of an answer, if the resource limits of the process are as they were at its start."""
MOST_STARTS = 5
"""Starts of a process that ends before it takes a task."""


class LostProcess(BrokenExecutor):
    """A process that ended without an answer.

    Parameters
    ----------
    status : int
        As `multiprocessing` gives it: the negative of a signal's number, or an exit status.

    Attributes
    ----------
    was_killed : bool
        Whether it was killed from outside: by a user, or by the system for lack of memory.
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"its process ended unexpectedly, with {status_text(status)}")
        self.was_killed = -status in (KILLED, signal.SIGTERM)


class OwnProcesses(Executor):
    """Processes that each take one task at a time; one that is lost is started again for the next task.

    Parameters
    ----------
    count : int
        The largest number of processes.

    Attributes
    ----------
    names_lost_task : bool
        True: only the task of the process that ended gets a `LostProcess`. Other executors give a
        `BrokenExecutor` to all their tasks.
    """

    names_lost_task = True

    def __init__(self, count: int) -> None:
        self.count = count
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: set[NewProcess] = set()
        self._guard = threading.Lock()
        self._is_open, self._is_killed = True, False
        self._unfinished = 0  # tasks

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in one of the processes."""
        if not self._is_open:
            raise RuntimeError("no task after the end")
        future: Future[Any] = Future()
        message = pickle.dumps((fn, args, kwargs))
        with self._guard:
            self._unfinished += 1
            are_busy = self._unfinished > len(self._threads)
        self._tasks.put((future, message))
        if are_busy and len(self._threads) < self.count:
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when their tasks are done; with `cancel_futures` at once, without answers."""
        self._is_open = False
        if cancel_futures:
            with suppress(queue.Empty):
                while (task := self._tasks.get_nowait()) is not None:
                    task[0].cancel()
            with self._guard:
                self._is_killed = True
                for process in self._processes:
                    process.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Wait for tasks under way, unless an error, such as Ctrl-C, has ended the block."""
        self.shutdown(cancel_futures=kind is not None)

    def _serve(self) -> None:
        """Hand task after task to a process."""
        process: NewProcess | None = None
        try:
            while (task := self._tasks.get()) is not None:
                future, message = task
                if not future.set_running_or_notify_cancel():
                    self._finish_task()
                    continue
                try:
                    process = process or self._new_process()
                    is_good, answer = process.call(message)
                except (EOFError, OSError):
                    is_good, answer = False, LostProcess(self._end(process))
                    process = None
                except BaseException as error:
                    is_good, answer = False, error
                if process is not None and not process.is_whole:
                    self._end(process)
                    process = None
                self._finish_task()  # before the answer, after which the next task may come
                future.set_result(answer) if is_good else future.set_exception(answer)
        finally:
            self._end(process)

    def _finish_task(self) -> None:
        """Count a task as finished: this thread can take another one."""
        with self._guard:
            self._unfinished -= 1

    def _new_process(self) -> NewProcess:
        """A new process that takes tasks; one that ends before is replaced, up to `MOST_STARTS` times."""
        for _ in range(MOST_STARTS):
            with self._guard:
                if self._is_killed:
                    raise EOFError("no process after the end")
                process = NewProcess(_work)
                self._processes.add(process)
            try:
                process.wait_for_it()
            except (EOFError, OSError):
                status = self._end(process)
                continue
            return process
        raise CosimError(
            f"processes cannot be started: {MOST_STARTS} processes in a row ended immediately; the last one "
            f"ended with {status_text(status)}"
        )

    def _end(self, process: NewProcess | None) -> int:
        """End a process. Returns its exit status, as `multiprocessing` gives it."""
        if process is None:
            return 0
        with self._guard:
            self._processes.discard(process)
        return process.end()


class NewProcess:
    """An interpreter and the pipe to it.

    Parameters
    ----------
    work : callable
        Called in the new process with the other end of the pipe, and `more`. The new process ignores Ctrl-C
        and SIGTERM, and ends when this one ends.

    Attributes
    ----------
    is_whole : bool
        Whether it may take a further task; not if foreign code has lowered its resource limits for good.
    """

    def __init__(self, work: Callable[..., None], *more: Any) -> None:
        self.is_whole = True
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_start, args=(work, theirs, os.getpid(), *more), daemon=True)
        with safe_spawn():
            self._process.start()
        theirs.close()  # else reading would not end when the process does

    def wait_for_it(self) -> None:
        """Wait until the process accepts tasks."""
        self.pipe.recv_bytes()

    def call(self, message: bytes) -> tuple[bool, Any]:
        """Call a function there; whether it has returned, and its value or its exception."""
        self.pipe.send_bytes(message)
        answer = self.pipe.recv_bytes()
        self.is_whole = answer.endswith(LIMITS_UNCHANGED)
        is_good, value = pickle.loads(answer)  # trusted: it comes from this program
        return is_good, value

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self) -> int:
        """Close the pipe, upon which the process ends. Returns its exit status."""
        self.pipe.close()
        self._process.join()
        return self._process.exitcode or 0


def _start(work: Callable[..., None], pipe: Any, parent: int, *more: Any) -> None:
    """The main function of the new process."""
    forget_safe_spawn()
    ignore_stop_signals()
    end_with_parent(parent)
    black_box.end_forks()
    work(pipe, *more)


def _work(pipe: Any) -> None:
    """Answer tasks until the pipe is closed."""
    limits = ResourceLimits()
    with suppress(EOFError, OSError):
        pipe.send_bytes(b"")
        while True:
            answer = call_in_message(pipe.recv_bytes())
            pipe.send_bytes(answer + (LIMITS_UNCHANGED if limits.restore() else b"."))


def call_in_message(message: bytes) -> bytes:
    """Call the function of a message. Returns its value or its exception, as bytes."""
    try:
        function, arguments, keywords = pickle.loads(message)
        return pickle.dumps((True, function(*arguments, **keywords)))
    except Exception as error:
        try:
            answer = pickle.dumps((False, error))
            pickle.loads(answer)
        except Exception:  # an error that cannot be sent
            answer = pickle.dumps((False, CosimError(f"{type(error).__name__}: {error}")))
        return answer


def status_text(status: int) -> str:
    """A status in words.

    Examples
    --------
    >>> status_text(-11), status_text(3)
    ('SIGSEGV', 'status 3')
    """
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
