"""The memory in which two processes of one machine exchange messages of numbers, and their semaphores."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from contextlib import suppress
from pathlib import Path

from cosim_master.processes.channel import HEAD, MOST_NUMBERS, Channel
from cosim_master.processes.open_wire import c_functions
from cosim_master.processes.step_frames import ANSWER_ROOM, FIRST, HEAD_ROOM, INTEGER, WORD
from cosim_master.processes.wire import NOTHING_CAME, Wire, receive_bytes

FILE = "exchange"
"""The name of the file in the folder of the process."""
SEMAPHORE = 8
"""Words for a ``sem_t``, which has at most four on Linux; so each has a cache line of its own."""
FUNCTIONS = ("clock_gettime", "sem_clockwait", "sem_post", "memcpy", "memcmp")
MILLISECONDS_HERE = 20
"""Time that the run waits for an answer before it checks signals, limits and the process, ms."""
MILLISECONDS_THERE = 1000
"""Time that a participant's process waits for a message before it checks whether the run exists, ms."""


def exclude_from_forks(shared: mmap.mmap) -> None:
    """Exclude memory from forked processes, which then cannot disturb the messages."""
    if hasattr(mmap, "MADV_DONTFORK"):
        shared.madvise(mmap.MADV_DONTFORK)


def has_semaphores() -> bool:
    """Whether they can wait by a monotonic clock: in Linux with glibc from 2.30 on."""
    if sys.platform != "linux":
        return False
    try:
        return bool(c_functions(*FUNCTIONS))
    except AttributeError:
        return False


class MessageMemory:
    """Shared memory: two semaphores, the lengths of a message and of its answer, the message, the answer.

    Parameters
    ----------
    folder : Path
        The folder of the answering process.
    inputs, outputs : int
    is_new : bool
        Whether this process creates the memory, and answers messages. The other process opens its file, whose
        name is removed then.

    Attributes
    ----------
    wire : Wire
    request_at, answer_at : int
        Addresses.
    room : int
        Bytes for a message, and for an answer.

    Raises
    ------
    OSError
        There is not enough memory for it.
    """

    def __init__(self, folder: Path, inputs: int, outputs: int, *, is_new: bool = False) -> None:
        words = (FIRST + INTEGER * (HEAD_ROOM + ANSWER_ROOM)) // WORD + 3 + max(2 * inputs, outputs)
        lengths = 2 * SEMAPHORE
        first = lengths + SEMAPHORE
        path = folder / FILE
        if is_new:
            path.unlink(missing_ok=True)
        with path.open("xb+" if is_new else "r+b") as file:
            if is_new:
                os.posix_fallocate(file.fileno(), 0, WORD * (first + 2 * words))
            self._map = mmap.mmap(file.fileno(), WORD * (first + 2 * words))
        exclude_from_forks(self._map)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        semaphores = base, base + WORD * SEMAPHORE
        self._library = ctypes.CDLL(None)
        if is_new:
            for semaphore in semaphores:
                self._library.sem_init(ctypes.c_void_p(semaphore), 1, 0)
        else:
            with suppress(OSError):
                path.unlink()
        self.room = WORD * words
        self.request_at = base + WORD * first
        self.answer_at = self.request_at + self.room
        lengths_at = base + WORD * lengths, base + WORD * (lengths + 1)
        self._deadline = (ctypes.c_int64 * 2)()
        self.wire = Wire(
            patience=MILLISECONDS_THERE if is_new else MILLISECONDS_HERE,
            sent_length_at=lengths_at[is_new],
            arrived_length_at=lengths_at[not is_new],
            sent_at=semaphores[is_new],
            arrives_at=semaphores[not is_new],
            deadline_at=ctypes.addressof(self._deadline),
            **c_functions(*FUNCTIONS),
        )

    def announce(self) -> None:
        """The next message of this side goes over the channel: the other side waits here."""
        self._library.sem_post(ctypes.c_void_p(self.wire.sent_at))

    def answer(self) -> bytes:
        """The answer to a message in this memory; empty if none has come, or it comes over the channel."""
        length = receive_bytes(self.wire, 0, 0)
        if length != NOTHING_CAME:
            self.wire.is_pending = 0
        return ctypes.string_at(self.answer_at, max(0, length))


class LocalChannel(Channel):
    """A channel that may use shared memory as well; messages keep their order across both.

    Attributes
    ----------
    memory : MessageMemory or None
    """

    memory: MessageMemory | None = None

    def share(self, memory: MessageMemory | None) -> None:
        """Use this memory for messages of numbers from now on; None for the channel alone."""
        self.memory = memory
        self.most_numbers = max(MOST_NUMBERS, 0 if memory is None else memory.room // WORD)


class CallingChannel(LocalChannel):
    """The channel of the calling process."""

    def wait(self, seconds: float) -> bool:
        """Whether something arrives within some seconds, or the other end is closed."""
        memory = self.memory
        while memory is not None and memory.wire.is_pending and len(self._unread) < HEAD.size:
            is_closed = super().wait(0.0)  # asked first: its last answer may be in memory
            self.put_back(memory.answer())
            if is_closed and memory.wire.is_pending:
                return True
            seconds -= 1e-3 * memory.wire.patience
            if seconds < 0.0 and memory.wire.is_pending:
                return False
        return super().wait(max(0.0, seconds))

    def write(self, data: bytes) -> None:
        """Write all of them."""
        if self.memory is not None:
            self.memory.announce()
        super().write(data)


class AnsweringChannel(LocalChannel):
    """The channel of the answering process."""

    def write(self, data: bytes) -> None:
        """Write all of them."""
        if self.memory is not None and self.memory.wire.is_pending:
            self.memory.wire.is_pending = 0
            self.memory.announce()
        super().write(data)
