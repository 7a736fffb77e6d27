"""FMUs that runs on other machines have sent, in a folder of this user."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import cosim

HAS, SEND = "has", "send"
"""Calls: whether a file is here, and the next piece of one."""
PIECE = 1 << 20
"""Bytes of a piece."""
LARGEST_FILE, LARGEST_FOLDER = 4 << 30, 16 << 30
"""Size limits of one file and of all files, bytes; the least recently used files are removed."""
DIGEST = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[^\w .()+-]")
"""Characters that names of files here cannot have."""
LONGEST_NAME = 100
SUFFIX, ARRIVING = ".fmu", "arriving-"
SECONDS_TO_ARRIVE = 3600.0


def store_folder() -> Path:
    """The folder of received files: in ``COSIM_CACHE_DIR``, or below ``~/.cache/cosim``; created if missing.

    Raises
    ------
    CosimError
        Others could write to it.
    """
    root = os.environ.get("COSIM_CACHE_DIR")
    base = Path(root).absolute() if root else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "cosim"
    folder = base.expanduser() / "fmus"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise cosim.CosimError(f"{folder}: other users can write to this folder: FMUs are not stored there")
    return folder


class SentFmus:
    """Makes participants of files that a run has sent, and takes these files.

    A file is named by its SHA-256, which is compared whenever it is used.

    Parameters
    ----------
    folder : Path
        The folder of this process.
    client : str
        The other end, in the log.
    open_fmu : callable
        Makes a participant of a file.
    """

    def __init__(self, folder: Path, client: str, open_fmu: Callable[..., Any]) -> None:
        self._folder, self._client_name, self._open_fmu = folder, client, open_fmu
        self._log = os.dup(2)  # what FMUs print goes elsewhere
        self._store = store_folder()
        self._arriving: dict[str, _ArrivingFile] = {}

    def make(self, number: int, arguments: list[Any]) -> cosim.Participant:
        """A participant: digest, name of the file, name of the instance, options."""
        digest, file, name, options = arguments
        stored = self._path(digest)
        with _locked(self._store):
            if not stored.is_file() or _digest_of(stored) != digest:
                raise cosim.CosimError("this FMU has not been sent")
            os.utime(stored)
            link = self._folder / f"fmu-{number}" / (NAME.sub("_", Path(str(file)).name)[-LONGEST_NAME:])
            link.parent.mkdir()
            try:
                os.link(stored, link)  # it stays until the end of this process
            except OSError:
                link.symlink_to(stored)
        log(self._log, self._client_name, f"opens {link.name} (sha256 {digest[:12]}…)")
        instance = self._open_fmu(link, name, **options)
        instance.show_as(str(file))
        participant: cosim.Participant = instance
        return participant

    def serve(self, name: str, arguments: list[Any]) -> Any:
        """Receive a file, piece after piece."""
        if name == HAS:
            return self._has(*arguments)
        if name == SEND:
            return self._receive_piece(*arguments)
        raise cosim.CosimError(f"unknown call {name}: do both machines run the same version of cosim?")

    def _path(self, digest: Any) -> Path:
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise cosim.CosimError("this is not a SHA-256 of a file")
        return self._store / f"{digest}{SUFFIX}"

    def _has(self, digest: str, size: int) -> bool:
        """Whether a file is here; one that is damaged is not."""
        path = self._path(digest)
        if size > LARGEST_FILE:
            raise cosim.CosimError(f"this FMU has {size} bytes; at most {LARGEST_FILE} are accepted")
        with suppress(FileNotFoundError):
            if _digest_of(path) == digest:
                os.utime(path)
                return True
        return False

    def _receive_piece(self, digest: str, data: bytes, is_last: bool) -> None:
        """Receive a piece of a file; the last one completes it."""
        path = self._path(digest)
        arriving = self._arriving.pop(digest, None) or _ArrivingFile(self._store)
        try:
            arriving.append(data)
            if not is_last:
                self._arriving[digest] = arriving
                return
            arriving.complete(digest, path)
        except BaseException:
            arriving.remove()
            raise
        log(self._log, self._client_name, f"has sent an FMU of {arriving.size} bytes (sha256 {digest[:12]}…)")
        with _locked(self._store):
            remove_oldest(self._store, LARGEST_FOLDER)


class _ArrivingFile:
    """A file whose pieces arrive, under a name of its own until it is complete."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.NamedTemporaryFile(dir=folder, prefix=ARRIVING, delete=False)  # noqa: SIM115
        self._hash = hashlib.sha256()
        self.size = 0

    def append(self, data: bytes) -> None:
        """Write the next piece; `CosimError` if the file becomes too large."""
        self.size += len(data)
        if self.size > LARGEST_FILE:
            raise cosim.CosimError(f"more than {LARGEST_FILE} bytes are refused")
        self._file.write(data)
        self._hash.update(data)

    def complete(self, digest: str, path: Path) -> None:
        """Move the complete file to a path; `CosimError` if its SHA-256 is another one."""
        self._file.close()
        if self._hash.hexdigest() != digest:
            raise cosim.CosimError("the FMU was damaged on its way: its SHA-256 differs")
        os.replace(self._file.name, path)

    def remove(self) -> None:
        """Remove the file."""
        self._file.close()
        Path(self._file.name).unlink(missing_ok=True)


def remove_oldest(folder: Path, limit: int) -> None:
    """Remove the files that were not used for the longest time until at most `limit` bytes remain.

    The newest file stays, whatever its size. Files that are incomplete after an hour are removed, too.
    """
    files = []
    for path in folder.iterdir():
        with suppress(OSError):
            facts = path.stat()
            if path.suffix == SUFFIX:
                files.append((facts.st_mtime, facts.st_size, path))
            elif path.name.startswith(ARRIVING) and time.time() - facts.st_mtime > SECONDS_TO_ARRIVE:
                path.unlink()
    used = sum(size for _, size, _ in files)
    for _, size, path in sorted(files)[:-1]:
        if used > limit:
            path.unlink(missing_ok=True)
            used -= size


def log(handle: int, client: str, text: str) -> None:
    """Write a line to the log of a server: the time, the other end, what has happened."""
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {client} {text}"
    with suppress(OSError):
        os.write(handle, "".join(c if c.isprintable() else "?" for c in line).encode() + b"\n")


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Exclude other processes from the folder."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
