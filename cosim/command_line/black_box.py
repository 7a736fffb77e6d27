"""Memory that outlives the process of a run: the function that it was calling, and what it had recorded."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import pickle
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from cosim.command_line.beside_limits import BesideLimits

LENGTH = struct.Struct("<Q")
"""Before each entry of a file: how many bytes it has."""
FUNCTION_BITS = 8
# places in `status_words`
CALL = 0  # the `call_number` of the function that is being called, or 0
ENDED = 1  # the exit status + 1, once the command has ended; else 0
SAVED = 2  # whether all results are in their files
WRITTEN = 3  # whether the rows up to a failure are in their files
FORKS_END = 4  # whether `end_forks` was called

LOST = "lost"
"""Kind of the note with the sentence that says that rows could not be written, also nowhere else."""
UNNAMED_FMU = "an FMU"
"""Stands for the name at the start of a message that the process could not give; the watching one may."""

status_words = memoryview(bytearray(mmap.PAGESIZE)).cast("q")
"""The state of this process, which is CALL, ENDED …: other memory once it is watched, or `end_forks` is
called. Always read it as ``black_box.status_words``."""
box: BlackBox | None = None
"""The black box of this process, if it is watched."""


@contextmanager
def unrecorded() -> Iterator[None]:
    """Do not use the black box inside: it belongs to another run, whose rows would be mixed with others."""
    global box
    box_of_run, box = box, None
    try:
        yield
    finally:
        box = box_of_run


def calling_address() -> int:
    """The address at which compiled code stores a `call_number` during a call, and 0 after it."""
    return ctypes.addressof(ctypes.c_int64.from_buffer(status_words, CALL * status_words.itemsize))


def call_number(callee: int, function: int) -> int:
    """The number in `status_words` during a call of a function of a callee.

    >>> divmod(call_number(3, 7), 1 << FUNCTION_BITS)
    (3, 7)
    """
    return (callee << FUNCTION_BITS) + function


def end_forks() -> None:
    """Make processes end that code of others forks from this one, when they return from that code.

    They would do the work of this process once more, and fork again. They end since `status_words` is not
    there in them.
    """
    global status_words
    if hasattr(mmap, "MADV_DONTFORK"):
        status_words[FORKS_END] = 1
        status_words = unforked(mmap.PAGESIZE).cast("q")
        status_words[FORKS_END] = 1


def unforked(size: int) -> memoryview:
    """Zeros that a process forked from this one does not have, where `end_forks` was called."""
    if not status_words[FORKS_END]:
        return memoryview(bytearray(size))
    mapped = mmap.mmap(-1, size)
    _exclude_from_forks(mapped)
    return memoryview(mapped)


class BlackBox:
    """Memory and files that a process shares with the one that watches it (`BlackBoxReader`).

    It is made before the fork; the watched process writes into it. Neither memory nor files have a name, so
    nothing is left behind however both end. Code of others may close the files, and other files get their
    numbers: then nothing is written any more. It may also fork: the memory is not there in such a process,
    so one that comes back from that code ends there, and disturbs no run.
    """

    def __init__(self) -> None:
        global status_words
        self._status = mmap.mmap(-1, mmap.PAGESIZE)
        status_words = self.status_words = memoryview(self._status).cast("q")
        self._notes, self._memory = os.memfd_create("cosim-notes"), os.memfd_create("cosim-memory")
        self._rows = tempfile.TemporaryFile(prefix="cosim-rows-", buffering=0)  # noqa: SIM115
        self.keeps_rows = True
        self._shared: dict[str, tuple[int, memoryview]] = {}
        files = self._notes, self._rows.fileno()
        self.limit_free_writer, self._is_limited = BesideLimits(files), False
        self._identities = {
            file: identity(file) for file in (*files, self._memory, self.limit_free_writer.descriptor)
        }

    def enter(self) -> None:
        """Make this process the watched one, after the fork."""
        _exclude_from_forks(self._status)
        self.limit_free_writer.enter()

    def send_note(self, kind: str, value: Any) -> None:
        """Send a value to the watching process, which uses the last one of each kind."""
        if self._is_still_ours(self._notes):
            with suppress(OSError):  # the other process is gone
                self._append(self._notes, (kind, value))

    def write(self, entry: Any) -> None:
        """Append an entry to the recording, unless the disk is full or was."""
        if self.keeps_rows:
            if not self._is_still_ours(self._rows.fileno()):
                self.stop_rows()
                return
            try:
                self._append(self._rows.fileno(), entry)
            except OSError:
                self.stop_rows()

    def _append(self, file: int, entry: Any) -> None:
        """Write an entry; where code of others has set a limit for files, the other process writes it."""
        data, place = _packed(entry), os.lseek(file, 0, os.SEEK_CUR)
        if not self._is_limited:
            try:
                _write(file, data)
                return
            except OSError as error:
                if error.errno != errno.EFBIG:
                    raise
                os.ftruncate(file, place)
                os.lseek(file, place, os.SEEK_SET)
        if not self._is_still_ours(self.limit_free_writer.descriptor):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self._is_limited = True  # from now on: what is sent arrives later than what is written
        self.limit_free_writer.append(file, data)

    def stop_rows(self) -> None:
        """Record no entries from now on: the rows are elsewhere, or cannot be recorded."""
        self.keeps_rows = False
        self.send_note("rows", None)
        self.clear_rows()

    def clear_rows(self) -> None:
        """Remove all entries, since those that follow replace them."""
        if not self._is_still_ours(self._rows.fileno()):
            return
        with suppress(OSError):
            os.ftruncate(self._rows.fileno(), 0)
            os.lseek(self._rows.fileno(), 0, os.SEEK_SET)

    def shared_memory(self, label: str, size: int) -> memoryview:
        """Memory of at least so many bytes that both processes see.

        It is the former memory with this label if that is large enough.

        Raises
        ------
        OSError
            There is not enough memory.
        """
        former = self._shared.get(label)
        if former is not None and len(former[1]) >= size:
            return former[1]
        if not self._is_still_ours(self._memory):
            return memoryview(bytearray(size))
        begin = os.fstat(self._memory).st_size
        size = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        try:
            os.posix_fallocate(self._memory, begin, size)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            self.send_note(f"room {label}", None)  # the former one is not used any more
            return memoryview(bytearray(size))
        mapped = mmap.mmap(self._memory, size, offset=begin)
        _exclude_from_forks(mapped)
        memory = memoryview(mapped)
        self._shared[label] = begin, memory
        self.send_note(f"room {label}", (begin, size))
        return memory

    @property
    def files(self) -> tuple[int, int, int]:
        """Descriptors of notes, recorded rows and shared memory."""
        return self._notes, self._rows.fileno(), self._memory

    def _is_still_ours(self, file: int) -> bool:
        """Whether this number is still that of the file that was opened here, not of one of other code."""
        return identity(file) == self._identities[file]

    def close(self) -> None:
        """Close the files."""
        self.limit_free_writer.close()
        self._rows.close()
        os.close(self._notes)
        os.close(self._memory)


class BlackBoxReader:
    """The side of the process that watches: it reads what the watched one has left in a black box.

    Parameters
    ----------
    box : BlackBox
        Made before the fork.

    Attributes
    ----------
    status_words : memoryview
        The state of the watched process: CALL, ENDED …
    """

    def __init__(self, box: BlackBox) -> None:
        self.status_words = box.status_words
        self._notes, self._rows, self._memory = box.files
        self._limit_free_writer = box.limit_free_writer

    def watch(self) -> None:
        """Begin to write what the watched process may not write itself."""
        self._limit_free_writer.watch()

    def finish_writes(self) -> None:
        """Write the rest of it, as the watched process has ended."""
        self._limit_free_writer.end()

    def notes(self) -> dict[str, Any]:
        """The last report of each kind."""
        entries = [entry for entry in _entries(self._notes) if isinstance(entry, tuple) and len(entry) == 2]
        return dict(entries)

    def entries(self) -> Iterator[Any]:
        """The recorded entries, in order, without one that is incomplete."""
        return _entries(self._rows)

    def memory(self, label: str, notes: dict[str, Any]) -> memoryview | None:
        """The shared memory with this label, if there is any."""
        place = notes.get(f"room {label}")
        if place is None:
            return None
        return memoryview(mmap.mmap(self._memory, place[1], offset=place[0]))


def identity(file: int) -> tuple[int, int] | None:
    """Device and inode of an open file; None where it is closed: code of others may close files of ours."""
    try:
        facts = os.fstat(file)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _exclude_from_forks(mapped: mmap.mmap) -> None:
    """Leave memory out of processes that are forked from this one."""
    mapped.madvise(mmap.MADV_DONTFORK)


def _packed(entry: Any) -> bytes:
    data = pickle.dumps(entry, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _entries(file: int) -> Iterator[Any]:
    """The entries that the process has recorded, up to the first that is incomplete or overwritten."""
    place = 0
    while len(head := os.pread(file, LENGTH.size, place)) == LENGTH.size:
        (size,) = LENGTH.unpack(head)
        parts, place = [], place + LENGTH.size
        if size > os.fstat(file).st_size - place:
            return
        while size and (part := os.pread(file, size, place)):
            parts.append(part)
            size, place = size - len(part), place + len(part)
        try:
            entry = pickle.loads(b"".join(parts))
        except Exception:  # code of others has written into the file
            return
        yield entry
