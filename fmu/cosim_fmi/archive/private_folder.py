"""Temporary folders of our own, and archives that are not trusted, unpacked into them."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Sequence
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


LARGEST_ARCHIVE = 4 * 2**30
MOST_MEMBERS = 100_000
HARMLESS, LARGEST_RATIO = 128 * 2**20, 200
"""What is larger than this, unpacked, must not be that many times smaller as an archive."""
DAMAGES = (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What Python's `zipfile` raises for damaged members, and a disk that is full."""


def check_members(members: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse what is too large, leaves the folder that it is unpacked into, is a link, or is encrypted.

    Raises
    ------
    ValueError
        With a sentence.
    """
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"has {len(members)} members, at most {MOST_MEMBERS} are unpacked")
    total = sum(member.file_size for member in members)
    if total > LARGEST_ARCHIVE:
        raise ValueError(
            f"unpacks to {total / 2**30:.1f} GiB, at most {LARGEST_ARCHIVE / 2**30:.0f} are unpacked"
        )
    packed = sum(member.compress_size for member in members)
    if total > HARMLESS and total > LARGEST_RATIO * packed:
        raise ValueError(
            f"unpacks from {packed / 2**20:.1f} to {total / 2**20:.0f} MiB, more than {LARGEST_RATIO} "
            "times as much: refused"
        )
    for member in members:
        if leaves_folder(member.filename) or "\0" in member.orig_filename:
            name = member.filename
            raise ValueError(f"member {name!r} would leave the folder that it is unpacked into: refused")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ValueError(f"member {member.filename!r} is a symbolic link: refused")
        if member.flag_bits & 0x1:
            raise ValueError(f"member {member.filename!r} is encrypted: refused")


def leaves_folder(name: str) -> bool:
    """Whether a path is absolute, names a drive, or goes up."""
    parts = parts_of(name.replace("\\", "/"))
    return name.startswith(("/", "\\")) or ".." in parts or bool(parts and ":" in parts[0])


def parts_of(name: str) -> list[str]:
    """The folders of a member, and its name; what `PurePosixPath` gives, sooner.

    Examples
    --------
    >>> parts_of("binaries//linux64/./part.so")
    ['binaries', 'linux64', 'part.so']
    """
    return [part for part in name.split("/") if part not in ("", ".")]


def unpack(path: Path, members: Sequence[zipfile.ZipInfo], what: str) -> Path:
    """Unpack members that were checked into a new folder that only this user can enter.

    Parameters
    ----------
    path : Path
    members : sequence of ZipInfo
    what : str
        Name of the folder; the caller removes it with `remove_folder`.

    Raises
    ------
    OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError
        `DAMAGES`; nothing stays behind.
    """
    folder = private_folder(what)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in members:
                archive.extract(member, folder)
    except BaseException:
        remove_folder(folder)
        raise
    return folder
