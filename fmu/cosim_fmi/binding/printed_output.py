"""What C code prints to the standard output: taken while FMUs are called, for their logs.

Foreign code writes to descriptor 1, past Python. So the descriptor itself is made to write into a file
meanwhile, and one of where it went is kept: what Python prints goes on to there.
"""

from __future__ import annotations

import ctypes
import functools
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cosim.kit import black_box
from cosim_fmi.binding.process_guard import last_words

MOST_BYTES = 100_000
"""That are taken at once; of more the last ones."""
STANDARD_OUTPUT = 1
_guard = threading.RLock()
"""Held by the thread that has redirected the standard output: others leave it alone."""


class Printed:
    """A file into which descriptors write, and how much of it has been read.

    Parameters
    ----------
    file : int
        Descriptor, open for reading and writing.
    """

    def __init__(self, file: int) -> None:
        self._file, self._seen = file, 0

    def take(self) -> str:
        """What has been printed since the last time; buffers of the C library are flushed before."""
        flush()
        size = os.fstat(self._file).st_size
        if size <= self._seen:
            return ""
        begin = max(self._seen, size - MOST_BYTES)
        os.lseek(self._file, begin, os.SEEK_SET)  # writes append, wherever that is; Windows has no pread
        data, self._seen = os.read(self._file, size - begin), size
        return data.decode("utf-8", "replace")


@contextmanager
def printed_to(add: Callable[[str], None]) -> Iterator[None]:
    """Hand over what is written to the standard output inside.

    What Python has waiting there is written before. The standard error stays as it is: an FMU that aborts
    says there why. Where another thread is inside, nothing is taken.

    Parameters
    ----------
    add : callable
        Called with the text, at the end, when there is some.
    """
    with _redirected(add):
        yield


@contextmanager
def printed_beside(add: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """As `printed_to`, for as long as C code and Python's take turns.

    What Python prints with ``sys.stdout`` goes on to where it went, from whatever thread.

    Parameters
    ----------
    add : callable
        Called with the text, at the end and when the function that this gives is called.
    """
    python = sys.stdout
    with _redirected(add) as redirection:
        if redirection is None:
            yield lambda: None
            return
        beside = _writer_beside(python, redirection.original)
        try:
            if beside is not None:
                sys.stdout = beside
            yield redirection.hand_over
        finally:
            if beside is not None:
                with suppress(OSError, ValueError):
                    beside.flush()
                if sys.stdout is beside:
                    sys.stdout = python


class _Redirection:
    """The file into which the standard output goes, and `original`, a descriptor of where it went before."""

    def __init__(self, add: Callable[[str], None]) -> None:
        self.original = os.dup(STANDARD_OUTPUT)
        self._file, self._add, self._is_open = _new_file(), add, True
        self._printed = Printed(self._file)
        self._known = {file: black_box.identity(file) for file in (self.original, self._file)}
        os.dup2(self._file, STANDARD_OUTPUT)

    def hand_over(self) -> None:
        """Pass on what has been printed since the last time, and empty the file."""
        if not self._is_there(self._file):
            return
        text = self._printed.take()
        if text:
            os.ftruncate(self._file, 0)
            self._printed = Printed(self._file)
            self._add(text)

    def end(self, why: str = "") -> None:
        """Bring the standard output back, once."""
        if self._is_open:
            self._is_open = False
            flush()
            if self._is_there(self.original):
                os.dup2(self.original, STANDARD_OUTPUT)
                os.close(self.original)
            try:
                self.hand_over()
            finally:
                if self._is_there(self._file):
                    os.close(self._file)

    def _is_there(self, file: int) -> bool:
        """Whether this is still the file that was opened here: code of an FMU may have closed it."""
        return black_box.identity(file) == self._known[file]


@contextmanager
def _redirected(add: Callable[[str], None]) -> Iterator[_Redirection | None]:
    """Descriptor 1 writes into a file inside; None where it is closed, or another thread has done so."""
    if not _guard.acquire(blocking=False):
        yield None
        return
    try:
        flush()
        try:
            redirection = _Redirection(add)
        except OSError:  # it is closed: nothing can be printed
            yield None
            return
        try:
            with last_words(redirection.end):
                yield redirection
        finally:
            redirection.end()
    finally:
        _guard.release()


_beside: list[int] = []
"""The descriptor to which Python's own output goes meanwhile; none before the first time.

It is never closed: code that has kept the `sys.stdout` from inside may write to it later on."""


def _writer_beside(python: Any, descriptor: int) -> Any:
    """What writes to a descriptor as `sys.stdout` does; None where that writes elsewhere anyhow."""
    try:
        if python.fileno() != STANDARD_OUTPUT:
            return None
        if _beside:
            os.dup2(descriptor, _beside[0], inheritable=False)
        else:
            _beside.append(os.dup(descriptor))
        binary = os.fdopen(_beside[0], "wb", closefd=False)
    except (AttributeError, OSError, ValueError):
        return None
    lines = python.line_buffering
    return io.TextIOWrapper(binary, python.encoding, python.errors, line_buffering=lines)


def flush() -> None:
    """Write what Python and the C library have waiting."""
    with suppress(Exception):
        sys.stdout.flush()
    if os.name != "nt":
        _c_library().fflush(None)


@functools.cache
def _c_library() -> Any:
    return ctypes.CDLL(None)


def _new_file() -> int:
    """Descriptor of a file, in memory where the system can; what is written is appended."""
    if hasattr(os, "memfd_create"):
        import fcntl

        made = os.memfd_create("printed")
        fcntl.fcntl(made, fcntl.F_SETFL, os.O_APPEND)
        return made
    made, name = tempfile.mkstemp()
    os.close(made)
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_TEMPORARY", 0)
    try:
        return os.open(name, flags)
    finally:
        if not hasattr(os, "O_TEMPORARY"):
            os.unlink(name)
