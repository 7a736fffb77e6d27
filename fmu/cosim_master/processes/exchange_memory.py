"""The memory of two processes in which they exchange numbers."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import numpy as np

from cosim_master.processes.shared_exchange import EXCHANGE, FLAGS, TAKEN_STEP, Exchange, TakenStep

FILE = "exchange"
"""Its name in the folder of the process."""


def keep_from_forks(shared: mmap.mmap) -> None:
    """Leave memory out of processes that are forked from this one: what comes back from a fork ends there."""
    if hasattr(mmap, "MADV_DONTFORK"):
        shared.madvise(mmap.MADV_DONTFORK)


class ExchangeMemory:
    """A record, inputs, their slopes, and outputs, one after the other.

    Parameters
    ----------
    folder : Path
        Of the process that serves the exchange.
    inputs, outputs : int
    is_new : bool
        Whether this process makes it; the other one finds it there.

    Attributes
    ----------
    exchange : Exchange
    step : TakenStep
    flags : ndarray, shape (5,)
        Those of `NativeCalls`, in the record.
    inputs, slopes, outputs : ndarray
    byte_at : int
        Address of a byte that goes through pipes.
    """

    def __init__(self, folder: Path, inputs: int, outputs: int, *, is_new: bool = False) -> None:
        self._head = EXCHANGE + TAKEN_STEP
        count = self._head + 2 * inputs + outputs
        path = folder / FILE
        if is_new:
            path.unlink(missing_ok=True)
            path.write_bytes(bytes(8 * count))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8 * count)
        if is_new:
            keep_from_forks(self._map)
        numbers = np.frombuffer(self._map, dtype=np.float64)
        self.exchange = Exchange.from_buffer(self._map)
        self.step = TakenStep.from_buffer(self._map, 8 * EXCHANGE)
        self.flags = numbers[self._head - FLAGS : self._head]
        self.inputs, self.slopes, self.outputs = np.split(numbers[self._head :], [inputs, 2 * inputs])
        self._byte = ctypes.create_string_buffer(b"\1", 1)
        self.byte_at = ctypes.addressof(self._byte)

    def places(self) -> dict[str, int]:
        """Addresses of its parts in this process, as fields of a record."""
        base = ctypes.addressof(self.exchange)
        first = base + 8 * self._head
        return {
            "exchange_at": base,
            "inputs_at": first,
            "slopes_at": first + self.inputs.nbytes,
            "outputs_at": first + 2 * self.inputs.nbytes,
        }
