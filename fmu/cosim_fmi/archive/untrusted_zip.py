"""ZIP archives that are not trusted: looked through, then unpacked into a private folder."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from cosim_fmi.archive.private_folder import private_folder, remove_folder

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
