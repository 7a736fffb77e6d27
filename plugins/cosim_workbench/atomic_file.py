"""Files that are replaced only when the new one is whole."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import cosim
from cosim.kit import NotWrittenError, check_folder, is_device

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SECONDS_TO_LOCK = 60.0
LONGEST = 50
"""Characters of the name of a file that the name of its draft has: 200 bytes, of 255."""


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A path in the same folder to write to; it replaces `path` when the block succeeds.

    A device or a pipe stays what it is and gets the contents; of a link, the file that it leads to is
    replaced. What killed processes have left of earlier attempts at the same file is removed; on Windows it
    stays.

    Raises
    ------
    CosimError
        When the folder is not there or cannot be written to; a `NotWrittenError` when the disk is full.
    """
    check_folder(path)
    if is_device(path):
        with tempfile.TemporaryDirectory() as folder:
            finished = Path(folder) / path.name
            yield finished
            try:
                with finished.open("rb") as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)
            except OSError as error:
                raise NotWrittenError(f"{path}: cannot be written: {error.strerror or error}") from None
        return
    place = Path(os.path.realpath(path))
    remove_left_behind(path, place.parent)
    try:
        handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=_prefix(path), dir=place.parent)
    except OSError as error:
        raise cosim.CosimError(f"{path}: cannot be written: {error.strerror}") from None
    if fcntl is None:
        os.close(handle)
    else:  # locked as long as this process lives
        with suppress(OSError):  # a file system that knows no locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        os.replace(draft, place)
    except OSError as error:
        raise NotWrittenError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            draft.unlink()
        if fcntl is not None:
            os.close(handle)


def remove_left_behind(path: Path, folder: Path) -> None:
    """Remove unlocked drafts of a file, which processes that were killed have left."""
    if fcntl is None:
        return
    name = re.compile(re.escape(_prefix(path)) + "[a-z0-9_]{8}" + re.escape(path.suffix))
    with suppress(OSError):
        for entry in os.scandir(folder):
            if name.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(entry)


def _remove_if_left(entry: os.DirEntry[str]) -> None:
    facts = entry.stat(follow_symlinks=False)
    if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < SECONDS_TO_LOCK:
        return
    handle = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: it is being written
        os.unlink(entry.path)
    finally:
        os.close(handle)


def is_draft(name: str) -> bool:
    """Whether a file has a name that `replaced_file` gives to drafts.

    >>> is_draft(".part-00000003-draft-a1b2c3d4.csv"), is_draft(".gitignore")
    (True, False)
    """
    return re.fullmatch(r"\..+-draft-[a-z0-9_]{8}(\..*)?", name) is not None


def _prefix(path: Path) -> str:
    """The beginning of the names of drafts, which are no longer than systems allow where `path` is not."""
    return f".{path.stem[:LONGEST]}-draft-"


def _umask() -> int:
    """The umask of this process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
