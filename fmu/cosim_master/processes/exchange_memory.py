"""The memory of two processes in which they exchange numbers, and the semaphores by which they wait."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from cosim_master.processes.shared_exchange import (
    EXCHANGE,
    FLAGS,
    TAKEN_STEP,
    Exchange,
    Semaphores,
    TakenStep,
)

FILE = "exchange"
"""Its name in the folder of the process."""
SEMAPHORE = 8
"""Words for a ``sem_t``: those of the C libraries of Linux take four; a line of a cache for each."""
FUNCTIONS = ("clock_gettime", "sem_clockwait", "sem_post")


def keep_from_forks(shared: mmap.mmap) -> None:
    """Leave memory out of processes that are forked from this one: what comes back from a fork ends there."""
    if hasattr(mmap, "MADV_DONTFORK"):
        shared.madvise(mmap.MADV_DONTFORK)


@functools.cache
def semaphore_functions() -> dict[str, int] | None:
    """Addresses of functions of the C library, as fields of `Semaphores`; None where one lacks.

    Semaphores that wait by a monotonic clock are in Linux with glibc from 2.30 on.
    """
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    try:
        functions = [getattr(library, name) for name in FUNCTIONS]
    except AttributeError:
        return None
    places = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
    return {f"{name}_at": place for name, place in zip(FUNCTIONS, places, strict=True)}


class ExchangeMemory:
    """Two semaphores, a record, inputs, their slopes, and outputs, one after the other.

    Parameters
    ----------
    folder : Path
        Of the process that serves the exchange.
    inputs, outputs : int
    is_new : bool
        Whether this process makes it; the other one finds it there, and its name is gone then.

    Attributes
    ----------
    exchange : Exchange
    step : TakenStep
    flags : ndarray, shape (5,)
        Those of `NativeCalls`, in the record.
    inputs, slopes, outputs : ndarray

    Raises
    ------
    OSError
        There is no room for it.
    """

    def __init__(self, folder: Path, inputs: int, outputs: int, *, is_new: bool = False) -> None:
        first = 2 * SEMAPHORE
        head = first + EXCHANGE + TAKEN_STEP
        size = 8 * (head + 2 * inputs + outputs)
        path = folder / FILE
        if is_new:
            path.unlink(missing_ok=True)
        with path.open("xb+" if is_new else "r+b") as file:
            if is_new:
                os.posix_fallocate(file.fileno(), 0, size)
            self._map = mmap.mmap(file.fileno(), size)
        keep_from_forks(self._map)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        if is_new:
            library = ctypes.CDLL(None)
            for semaphore in (0, SEMAPHORE):
                library.sem_init(ctypes.c_void_p(self._base + 8 * semaphore), 1, 0)
        else:
            with suppress(OSError):
                path.unlink()
        numbers = np.frombuffer(self._map, dtype=np.float64)
        self._first, self._head = first, head
        self.exchange = Exchange.from_buffer(self._map, 8 * first)
        self.step = TakenStep.from_buffer(self._map, 8 * (first + EXCHANGE))
        self.flags = numbers[head - FLAGS : head]
        self.inputs, self.slopes, self.outputs = np.split(numbers[head:], [inputs, 2 * inputs])
        self._deadline = (ctypes.c_int64 * 2)()

    def places(self) -> dict[str, int]:
        """Addresses of its parts in this process, as fields of a record."""
        first = self._base + 8 * self._head
        return {
            "exchange_at": self._base + 8 * self._first,
            "inputs_at": first,
            "slopes_at": first + self.inputs.nbytes,
            "outputs_at": first + 2 * self.inputs.nbytes,
        }

    def semaphores(self, seconds: float) -> Semaphores:
        """For compiled code, which waits so long at most before Python looks around."""
        functions = semaphore_functions()
        assert functions is not None
        return Semaphores(
            asked_at=self._base,
            answered_at=self._base + 8 * SEMAPHORE,
            nanoseconds=int(1e9 * seconds),
            deadline_at=ctypes.addressof(self._deadline),
            **functions,
        )
