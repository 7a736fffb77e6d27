"""A way into files for a process that may write none any more: pipes have no limit of size."""

from __future__ import annotations

import os
import select
import struct
import threading
from collections.abc import Sequence

HEAD = struct.Struct("<QQ")
"""Before each piece: the number of the file, and how many bytes follow."""
PIECE = 2**16


class BesideLimits:
    """Appends to open files through the process that watches this one; made before the fork.

    Parameters
    ----------
    files : sequence of int
        Descriptors, which both processes have.

    Attributes
    ----------
    descriptor : int
        The end of the pipe in the watched process.
    """

    def __init__(self, files: Sequence[int]) -> None:
        self._files = list(files)
        self._read, self.descriptor = os.pipe()
        self._has_ended, self._end = os.pipe()
        self._open = {self._read, self.descriptor, self._has_ended, self._end}
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """In the watched process: close what the other one needs."""
        self._close(self._read, self._has_ended, self._end)

    def append(self, file: int, data: bytes) -> None:
        """Append to a file of the other process; `OSError` where it is gone."""
        left = memoryview(HEAD.pack(self._files.index(file), len(data)) + data)
        while left:
            left = left[os.write(self.descriptor, left) :]

    def watch(self) -> None:
        """In the process that watches: write what comes, until `end`."""
        self._close(self.descriptor)
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """The process has ended: write what is left; processes that it has started may have the pipe."""
        self._close(self._end)
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Give the descriptors back."""
        self._close(*self._open)

    def _close(self, *descriptors: int) -> None:
        for descriptor in descriptors:
            os.close(descriptor)
        self._open.difference_update(descriptors)

    def _write_all(self) -> None:
        """Write what the other process sends, until it has ended."""
        arrived, can_write = bytearray(), True
        while True:
            ready, _, _ = select.select([self._read, self._has_ended], [], [])
            data = os.read(self._read, PIECE) if self._read in ready else b""
            if not data:
                return
            if can_write:  # else the other process shall not wait for room in the pipe
                arrived += data
                can_write = self._write_pieces(arrived)

    def _write_pieces(self, arrived: bytearray) -> bool:
        """Write what has arrived as a whole, and remove it; False where nothing more can be written."""
        while len(arrived) >= HEAD.size:
            number, size = HEAD.unpack_from(arrived)
            if number >= len(self._files):  # code of others has written into the pipe
                return False
            end = HEAD.size + size
            if len(arrived) < end:
                break
            left = memoryview(bytes(arrived[HEAD.size : end]))
            try:
                while left:
                    left = left[os.write(self._files[number], left) :]
            except OSError:  # the disk is full
                return False
            del arrived[:end]
        return True
