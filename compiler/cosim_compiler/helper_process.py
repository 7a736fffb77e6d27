"""Helper processes end with the process that started them, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

SECONDS_BETWEEN_LOOKS = 0.5
SET_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2)."""
SYNCHRONIZE, INFINITE = 0x0010_0000, 0xFFFF_FFFF
"""Of Windows: the right to wait for a process, and for how long."""


def kill_with_parent(parent: int) -> None:
    """Have the operating system kill this helper process when the thread that started it ends.

    It works whatever the helper is doing, also inside C code that holds the interpreter's lock. The kernel
    watches the starting *thread*: call this only where that thread lives as long as it waits for the helper.
    Other systems than Linux have no such signal; there a thread watches (`end_with_parent`).

    Parameters
    ----------
    parent : int
        Id of the process that started this one.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the call
            os._exit(1)
    else:
        end_with_parent(parent)


def wait_for_end(parent: int) -> None:
    """Return when the process that started this one, or the first thread of this one, has ended.

    Parameters
    ----------
    parent : int
        Its id.
    """
    if os.name == "nt":  # here the id of the parent does not change when the parent ends
        kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
        kernel.OpenProcess.restype = ctypes.c_void_p
        kernel.WaitForSingleObject.argtypes = ctypes.c_void_p, ctypes.c_uint32
        handle = kernel.OpenProcess(SYNCHRONIZE, False, parent)
        if handle:  # else it has ended already
            kernel.WaitForSingleObject(handle, INFINITE)
        return
    while os.getppid() == parent and not _first_thread_has_ended():
        time.sleep(SECONDS_BETWEEN_LOOKS)


def end_with_parent(parent: int, last: Callable[[], None] = lambda: None) -> None:
    """Start a thread that ends this helper process when its parent, or its own first thread, has ended.

    Foreign code may end the first thread; the process would then live on without answering.

    Parameters
    ----------
    parent : int
        Id of the process that started this one.
    last : callable
        Called before the process is ended.
    """

    def watch() -> None:
        wait_for_end(parent)
        try:
            last()
        finally:
            os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


def _first_thread_has_ended() -> bool:
    """Whether only other threads keep this process alive; always False where there is no /proc."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return False
