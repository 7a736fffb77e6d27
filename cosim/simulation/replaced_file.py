"""Files that are replaced only when the new one is whole."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cosim.errors import NotWrittenError
from cosim.process_lock import SECONDS_TO_LOCK, has_locks, remove_if_abandoned, try_to_lock
from cosim.simulation.own_files import check_folder, is_device

LONGEST = 50
"""Characters of the name of a file that the name of its draft has: 200 bytes, of 255."""


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A path in the same folder to write to; it replaces `path` when the block succeeds.

    A device or a pipe stays what it is and gets the contents; of a link, the file that it leads to is
    replaced. A file that is replaced hands its permissions on. What killed processes have left of earlier
    attempts at the same file is removed; on Windows it stays.

    Raises
    ------
    CosimError
        When the folder is not there or cannot be written to; a `NotWrittenError` when the disk is full.
    """
    check_folder(path)
    with _draft_of(path) as draft:
        yield draft


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that replaces the former one only when it is whole; devices and links stay what they are.

    Raises
    ------
    NotWrittenError
        The disk is full, or the file cannot be written; the former one is unchanged.
    """
    with _draft_of(path) as draft:
        draft.write_bytes(content)


@contextmanager
def _draft_of(path: Path) -> Iterator[Path]:
    """A path to write to; what is written there replaces the file when the block succeeds."""
    try:
        if is_device(path):
            with tempfile.TemporaryDirectory() as folder:
                finished = Path(folder) / path.name
                yield finished
                with finished.open("rb") as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)
            return
        place = Path(os.path.realpath(path))
        _remove_abandoned_drafts(path, place.parent)
        mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=_prefix(path), dir=place.parent)
        draft = Path(name)
        if not has_locks():
            os.close(handle)
        else:
            try_to_lock(handle)
        try:
            yield draft
            draft.chmod(mode)
            os.replace(draft, place)
        finally:
            with suppress(OSError):
                draft.unlink()
            if has_locks():
                os.close(handle)
    except OSError as error:
        raise NotWrittenError(f"{path}: cannot be written: {error.strerror or error}") from None


def _remove_abandoned_drafts(path: Path, folder: Path) -> None:
    """Remove drafts of a file that processes have left which were killed."""
    name = re.compile(re.escape(_prefix(path)) + "[a-z0-9_]{8}" + re.escape(path.suffix))
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                draft = Path(entry.path)
                remove_if_abandoned(draft, draft, Path.unlink, least_age=SECONDS_TO_LOCK)


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
