"""What C code prints, taken from the descriptors of the process."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cosim_fmu.binding.exit_guard import last_words

MOST = 100_000
"""Bytes that are taken at once; of more the last ones."""


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
        begin = max(self._seen, size - MOST)
        data, self._seen = os.pread(self._file, size - begin, begin), size
        return data.decode("utf-8", "replace")


@contextmanager
def printed_to(add: Callable[[str], None]) -> Iterator[None]:
    """Hand over what is written to the standard output inside.

    What Python has waiting there is written before. The standard error stays as it is: an FMU that aborts
    says there why.

    Parameters
    ----------
    add : callable
        Called with the text, at the end, when there is some.
    """
    flush()
    try:
        kept = os.dup(1)
    except OSError:  # it is closed: nothing can be printed
        yield
        return
    left = [kept]

    def back(why: str = "") -> None:
        flush()
        while left:
            os.dup2(left[0], 1)
            os.close(left.pop())

    with _new_file() as file:
        os.dup2(file, 1)
        try:
            with last_words(back):
                yield
        finally:
            back()
            text = Printed(file).take()
            if text:
                add(text)


def flush() -> None:
    """Write what Python and the C library have waiting."""
    with suppress(Exception):
        sys.stdout.flush()
    if os.name != "nt":
        _c_library().fflush(None)


@functools.cache
def _c_library() -> Any:
    return ctypes.CDLL(None)


@contextmanager
def _new_file() -> Iterator[int]:
    """Descriptor of a file, in memory where the system can."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile() as file:
            yield file.fileno()
        return
    made = os.memfd_create("printed")
    try:
        yield made
    finally:
        os.close(made)
