"""Private folders for temporary files; those of a process that was killed are removed by a later one."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

from cosim.process_lock import SECONDS_TO_LOCK, has_locks, remove_if_abandoned, try_to_lock

PREFIX, NEW = "cosim-run-", "cosim-new-"
"""Prefixes of folders, and of folders whose process is about to lock them."""
LOCK = "in-use"
_searched_places: set[str] = set()
_folders_lock = threading.Lock()
_process_folders: dict[tuple[int, str], _ProcessFolder] = {}
"""The folder of this process in a folder for temporary files; a process that was forked makes its own."""


class _ProcessFolder:
    """A folder of this process, locked as long as it lives, with the private folders in it."""

    def __init__(self, place: str) -> None:
        self.count, self.made, self._lock = 0, 0, -1
        self.path = Path(tempfile.mkdtemp(prefix=NEW, dir=place))
        if not has_locks():
            return
        lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        if try_to_lock(lock):
            self._lock = lock
            self.path = self.path.rename(self.path.with_name(PREFIX + self.path.name.removeprefix(NEW)))
        else:  # a file system that knows no locks: the name says nothing, and others leave the folder alone
            os.close(lock)

    def remove(self) -> None:
        """Remove the folder with its contents, and the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            with suppress(OSError):  # code of an FMU may have closed it
                os.close(self._lock)


def private_folder(prefix: str) -> Path:
    """A new folder that only this user can enter; the caller removes it with `remove_folder`.

    It stands in a folder of this process, beside a file that the process holds locked as long as it lives.
    The first call removes such folders of this user whose lock is free: their processes have ended
    without doing it.

    Parameters
    ----------
    prefix : str
        How the name of the folder begins.
    """
    place = tempfile.gettempdir()
    if place not in _searched_places:
        _searched_places.add(place)
        remove_abandoned_folders(Path(place))
    with _folders_lock:
        key = os.getpid(), place
        process_folder = _process_folders.get(key)
        if process_folder is None:
            process_folder = _process_folders[key] = _ProcessFolder(place)
        process_folder.count += 1
        process_folder.made += 1
        folder = process_folder.path / f"{prefix}-{process_folder.made}"
    folder.mkdir(mode=0o700)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder that `private_folder` has made; that of the process goes with the last one."""
    shutil.rmtree(folder, ignore_errors=True)
    with _folders_lock:
        for key, process_folder in list(_process_folders.items()):
            if process_folder.path == folder.parent and key[0] == os.getpid():
                process_folder.count -= 1
                if process_folder.count == 0:
                    del _process_folders[key]
                    process_folder.remove()


def remove_abandoned_folders(place: Path) -> None:
    """Remove the private folders in a folder whose processes have ended."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith((PREFIX, NEW)):
                path = Path(entry.path)
                remove = partial(shutil.rmtree, ignore_errors=True)
                least_age = SECONDS_TO_LOCK if entry.name.startswith(NEW) else 0.0
                remove_if_abandoned(path, path / LOCK, remove, least_age=least_age)
