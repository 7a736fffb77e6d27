"""The folder in which compiled kernels are kept from one run to the next.

One file for each digest of everything that the code depends on, so that nothing stale can be found there.
A file begins with a checksum of its digest and of its content. A damaged entry is made again, a read-only
folder is only read, and entries that were not used for a while are removed. What is read here is run as
machine code: therefore folder and entries must belong to the user alone, and where others could write to a
folder another one is used.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger("cosim.native")

KEEP_DAYS = 60
DAY = 86400.0
FOLDERS = 9
"""How many folders are tried, each when others could write to those before."""
CHECKSUM_SIZE = 32
REMEDY = "COSIM_CACHE_DIR may name another folder"

_complaints: set[tuple[str, str | None]] = set()
"""What this process has warned of: where one entry fails, hundreds do for the same reason."""


@functools.cache
def folder() -> Path | None:
    """The cache folder (in ``COSIM_CACHE_DIR``, or the platform's place), or None when it cannot be used."""
    if os.environ.get("COSIM_CACHE_DIR"):
        root = Path(os.environ["COSIM_CACHE_DIR"]).absolute()
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "cosim" / "cache"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "cosim"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cosim"
    path = root / "kernels"
    try:
        path = _private_folder(root)
    except OSError as error:
        log.warning("compiled kernels are not kept: %s: %s; %s", path, error.strerror or error, REMEDY)
        return None
    prune(path)
    return path


def _private_folder(root: Path) -> Path:
    """The first of cosim's folders in `root` to which no other user could write; it is made if necessary."""
    root.mkdir(parents=True, exist_ok=True)
    for number in range(1, FOLDERS + 1):
        path = root / ("kernels" if number == 1 else f"kernels-{number}")
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        reason = _distrust(path)
        if reason is None:
            return path
        log.warning(
            "compiled kernels in %s are not used, since %s; check who uses this folder, and delete it",
            path,
            reason,
        )
    raise PermissionError(f"{FOLDERS} folders are open to others")


def _distrust(path: Path) -> str | None:
    """Why the entries of a folder may come from another user; None if they cannot."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if sys.platform == "win32":
        return None
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    if stat.S_IMODE(status.st_mode) & 0o077:
        return "it is open to other users"
    return None  # an entry is checked when it is read: there may be thousands


def _is_own(status: os.stat_result) -> bool:
    """Whether it is a file of the user that no other user can write."""
    if sys.platform == "win32":
        return True
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _open(path: str, flags: int) -> int:
    """Open the file of this name itself: no link is followed, and no pipe is waited for."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def read_cached(digest: str) -> bytes | None:
    """The content under a digest; None if there is none, or if its checksum is wrong."""
    root = folder()
    if root is None:
        return None
    path = root / digest
    try:
        with open(path, "rb", opener=_open) as file:
            status = os.fstat(file.fileno())
            data = file.read()
        if time.time() - status.st_mtime > DAY:
            with contextlib.suppress(OSError):  # a folder may be read-only
                os.utime(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _complain("%s is compiled again: %s", path, error.strerror)
        return None
    content = data[CHECKSUM_SIZE:]
    if not _is_own(status) or data[:CHECKSUM_SIZE] != _checksum(digest, content):
        _complain("%s is compiled again: %s", path, "damaged, or open to other users")
        return None
    return content


def has(digest: str) -> bool:
    """Whether something is kept under a digest."""
    root = folder()
    return root is not None and (root / digest).exists()


def can_keep() -> bool:
    """Whether there is a folder that takes entries; a read-only one does not."""
    root = folder()
    if root is None:
        return False
    probe = root / f".probe-{os.getpid()}"
    try:
        _write(probe, b"")
        probe.unlink()
    except OSError as error:
        log.debug("nothing is kept: %s", error)
        return False
    return True


@contextlib.contextmanager
def alone(digest: str) -> Iterator[None]:
    """A block for one process at a time, for each digest.

    The operating system frees the lock of a process that is killed.
    """
    root = folder()
    if root is None or sys.platform == "win32":
        yield
        return
    import fcntl

    path = root / f".lock-{digest}"
    try:
        file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        log.debug("no lock: %s", error)
        yield
        return
    try:
        with contextlib.suppress(OSError):  # file systems over a network may have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(file)


def write_cached(digest: str, content: bytes) -> None:
    """Store this under a digest, if there is a folder for it."""
    root = folder()
    if root is None:
        return
    path = root / digest
    part = root / f".part-{digest}-{os.getpid()}-{threading.get_ident()}"
    try:
        _write(part, _checksum(digest, content) + content)
        part.replace(path)
    except OSError as error:
        _complain("%s is not kept: %s; " + REMEDY, path, error.strerror)
        with contextlib.suppress(OSError):
            part.unlink()


def _complain(text: str, path: Path, reason: str | None) -> None:
    """Warn of the first entry that fails so; later ones of the same reason are logged at level debug."""
    level = logging.DEBUG if (text, reason) in _complaints else logging.WARNING
    _complaints.add((text, reason))
    log.log(level, "compiled kernel " + text, path, reason)


def _checksum(digest: str, content: bytes) -> bytes:
    return hashlib.sha256(digest.encode() + b"\0" + content).digest()


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb", opener=functools.partial(os.open, mode=0o600)) as file:
        file.write(data)


def prune(path: Path) -> None:
    """Remove entries that were not used for `KEEP_DAYS` days; searches at most once a day."""
    stamp = path / ".pruned"
    now = time.time()
    try:
        if stamp.exists() and now - stamp.stat().st_mtime < DAY:
            return
        _write(stamp, b"")
        os.utime(stamp)
        for entry in path.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process removed it
                if now - entry.lstat().st_mtime > KEEP_DAYS * DAY:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    except OSError as error:
        log.debug("pruning: %s", error)
