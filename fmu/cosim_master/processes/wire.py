"""What compiled code needs to send and receive over a handle of the operating system."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from cosim_master.processes.step_frames import Wire

MOST_PATIENCE = 100
"""ms; then Python waits for an answer, which notices Ctrl-C and signs of life."""
POLLIN = 1


class _Watched(ctypes.Structure):
    """`struct pollfd`."""

    _fields_ = (("handle", ctypes.c_int), ("wanted", ctypes.c_short), ("found", ctypes.c_short))


@functools.cache
def _functions() -> dict[str, int]:
    """Addresses of functions of the C library."""
    library = ctypes.CDLL(None)
    names = {"read_at": "read", "write_at": "write", "poll_at": "poll"}
    names |= {"copy_at": "memcpy", "compare_at": "memcmp"}
    return {
        field: int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
        for field, name in names.items()
    }


def can_go_natively() -> bool:
    """Whether messages of numbers can be written and read by compiled code on this machine."""
    return os.name == "posix" and sys.byteorder == "little"


def wire_over(reading: int, writing: int) -> tuple[Wire, Any]:
    """The record of a connection, and what it refers to.

    Parameters
    ----------
    reading, writing : int
        Handles.
    """
    watched = _Watched(reading, POLLIN, 0)
    wire = Wire(reading=reading, writing=writing, patience=MOST_PATIENCE, **_functions())
    wire.watched_at = ctypes.addressof(watched)
    return wire, watched
