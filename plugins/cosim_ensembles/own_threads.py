"""An executor with threads in a process of its own."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

from cosim_ensembles.own_processes import LostProcess, NewProcess, call_in_message


class OwnThreads(Executor):
    """A process with threads, each of which takes one task at a time.

    For tasks that spend their time in code without the interpreter's lock. If a task ends the process, all
    tasks in it get a `LostProcess`, and the next task starts another process.

    Parameters
    ----------
    count : int
        The number of threads.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._guard = threading.Lock()
        self._process: NewProcess | None = None
        self._futures: dict[int, Future[Any]] = {}
        self._reader: threading.Thread | None = None
        self._is_open, self._number = True, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in one of the threads."""
        if not self._is_open:
            raise RuntimeError("no task after the end")
        message, future = pickle.dumps((fn, args, kwargs)), Future[Any]()
        future.set_running_or_notify_cancel()
        with self._guard:
            self._number += 1
            self._futures[self._number] = future
            try:
                if self._process is None:
                    self._start()
                assert self._process is not None
                self._process.pipe.send_bytes(pickle.dumps((self._number, message)))
            except (EOFError, OSError):  # `_read` finds the process ended, and reports it
                if self._process is None:
                    del self._futures[self._number]
                    raise
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the process when its tasks are done; at once with `cancel_futures`, without further answers."""
        self._is_open = False
        if cancel_futures:
            with self._guard:
                if self._process is not None:
                    self._process.kill()
        else:
            for future in list(self._futures.values()) if wait else ():
                with suppress(BaseException):
                    future.result()
            with self._guard, suppress(OSError):
                if self._process is not None and not self._futures:
                    self._process.pipe.send_bytes(b"")
        if wait and self._reader is not None:
            self._reader.join()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Wait for tasks under way, unless an error, such as Ctrl-C, has ended the block."""
        self.shutdown(cancel_futures=kind is not None)

    def _start(self) -> None:
        """Start the process, and a thread that reads its answers."""
        process = NewProcess(_work, self.count)
        process.wait_for_it()
        self._process = process
        self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._reader.start()

    def _read(self, process: NewProcess) -> None:
        """Read answers until the process ends."""
        with suppress(EOFError, OSError):
            while True:
                number, answer = pickle.loads(process.pipe.recv_bytes())  # trusted: from this program
                is_good, outcome = pickle.loads(answer)
                with self._guard:
                    future = self._futures.pop(number)
                future.set_result(outcome) if is_good else future.set_exception(outcome)
        status = process.end()
        with self._guard:
            self._process = None
            lost, self._futures = self._futures, {}
        for future in lost.values():
            future.set_exception(LostProcess(status))


def _work(pipe: Any, count: int) -> None:
    """Answer tasks in threads until the pipe is closed."""
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    guard = threading.Lock()

    def serve() -> None:
        while True:
            number, message = pickle.loads(tasks.get())
            answer = call_in_message(message)
            with guard, suppress(OSError):
                pipe.send_bytes(pickle.dumps((number, answer)))

    for _ in range(count):
        threading.Thread(target=serve, daemon=True).start()
    with suppress(EOFError, OSError):
        pipe.send_bytes(b"")
        while task := pipe.recv_bytes():
            tasks.put(task)
