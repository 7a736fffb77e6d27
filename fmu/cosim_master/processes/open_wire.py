"""The functions by which compiled code sends and receives over handles of the operating system."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from cosim_master.processes.wire import Wire

MOST_PATIENCE = 100
"""Time that compiled code waits for an answer, ms; then Python does, which notices Ctrl-C and losses."""
FOR_EVER = -1
POLLIN = 1


class _Watched(ctypes.Structure):
    """`struct pollfd`."""

    _fields_ = (("handle", ctypes.c_int), ("wanted", ctypes.c_short), ("found", ctypes.c_short))


@functools.cache
def c_functions(*names: str) -> dict[str, int]:
    """Addresses of functions of the C library, by the fields of a `Wire`.

    Raises
    ------
    AttributeError
        There is no such function.
    """
    library = ctypes.CDLL(None)
    fields = {"memcpy": "copy_at", "memcmp": "compare_at"}
    return {
        fields.get(name, f"{name}_at"): int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
        for name in names
    }


def supports_native_messages() -> bool:
    """Whether messages of numbers can be written and read by compiled code on this machine."""
    return os.name == "posix" and sys.byteorder == "little"


def wire_over(reading: int, writing: int, patience: int) -> tuple[Wire, Any]:
    """The record of a connection, and the objects that it needs.

    Parameters
    ----------
    reading, writing : int
        Handles.
    patience : int
        ms, or `FOR_EVER`.
    """
    watched = _Watched(reading, POLLIN, 0)
    functions = c_functions("read", "write", "poll", "memcpy", "memcmp")
    wire = Wire(reading=reading, writing=writing, patience=patience, **functions)
    wire.watched_at = ctypes.addressof(watched)
    return wire, watched
