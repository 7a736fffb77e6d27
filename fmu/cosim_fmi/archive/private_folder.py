"""Temporary folders of our own; those that a killed process has left are removed by the next one."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX, NEW = "cosim-run-", "cosim-new-"
"""Of folders, and of those whose process is about to lock them."""
LOCK = "in-use"
SECONDS_TO_LOCK = 60.0
_looked: set[str] = set()
_guard = threading.Lock()
_outer: dict[tuple[int, str], _Outer] = {}
"""The folder of this process in a folder for temporary files; a process that was forked makes its own."""


class _Outer:
    """A folder of this process, locked as long as it lives, with the private folders in it."""

    def __init__(self, place: str) -> None:
        self.count, self.made, self._lock = 0, 0, -1
        self.path = Path(tempfile.mkdtemp(prefix=NEW, dir=place))
        if fcntl is None:
            return
        lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # a file system that knows no locks: its name says nothing, and it is left alone
            os.close(lock)
        else:
            self._lock = lock
            self.path = self.path.rename(self.path.with_name(PREFIX + self.path.name.removeprefix(NEW)))

    def remove(self) -> None:
        """All that is in it, and the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)


def private_folder(what: str) -> Path:
    """A new folder that only this user can enter; the caller removes it with `remove_folder`.

    It stands in a folder of this process, beside a file that the process holds locked as long as it lives.
    The first call removes such folders of this user whose lock is free: their processes have ended
    without doing it.

    Parameters
    ----------
    what : str
        How the name of the folder begins.
    """
    place = tempfile.gettempdir()
    if place not in _looked:
        _looked.add(place)
        remove_left_behind(Path(place))
    with _guard:
        key = os.getpid(), place
        outer = _outer.get(key)
        if outer is None:
            outer = _outer[key] = _Outer(place)
        outer.count, outer.made = outer.count + 1, outer.made + 1
        folder = outer.path / f"{what}-{outer.made}"
    folder.mkdir(mode=0o700)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder that `private_folder` has made; that of the process goes with the last one."""
    shutil.rmtree(folder, ignore_errors=True)
    with _guard:
        for key, outer in list(_outer.items()):
            if outer.path == folder.parent and key[0] == os.getpid():
                outer.count -= 1
                if outer.count == 0:
                    del _outer[key]
                    outer.remove()


def remove_left_behind(place: Path) -> None:
    """Remove the private folders in a folder whose processes have ended."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith((PREFIX, NEW)):
                with suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _remove_if_left(outer: Path) -> None:
    facts = outer.lstat()
    is_young = time.time() - facts.st_mtime < SECONDS_TO_LOCK
    if facts.st_uid != os.getuid() or (outer.name.startswith(NEW) and is_young):
        return
    lock = os.open(outer / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: it is in use
        shutil.rmtree(outer, ignore_errors=True)
    finally:
        os.close(lock)
