"""Files that a process holds locked as long as it lives, so that others know what a killed one has left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SECONDS_TO_LOCK = 60.0
"""Time for a process between making a file and locking it, s."""


def has_locks() -> bool:
    """Whether files can be locked here; not on Windows."""
    return fcntl is not None


def try_to_lock(handle: int) -> bool:
    """Lock an open file until this process ends; False on a file system or a system without locks."""
    if not has_locks():
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_if_abandoned(
    path: Path, lock: Path, remove: Callable[[Path], object], *, least_age: float
) -> None:
    """Remove a file or folder of this user whose lock is free: the process that held it has ended.

    Parameters
    ----------
    path : Path
    lock : Path
        The file that its process holds locked.
    remove : callable
    least_age : float
        Time since its last change, s, before which it stays: `SECONDS_TO_LOCK` if its process may not have
        locked it yet, else 0.
    """
    if not has_locks():
        return
    with suppress(OSError):  # it is gone, or another process holds the lock
        facts = path.lstat()
        is_young = least_age > 0.0 and time.time() - facts.st_mtime < least_age
        if facts.st_uid != os.getuid() or is_young:
            return
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(path)
        finally:
            os.close(handle)
