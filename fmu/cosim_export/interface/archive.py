"""Archives that have the same bytes whenever they have the same content."""

from __future__ import annotations

import functools
import io
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import IO

import cosim
from cosim.kit import replaced_file

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of all files in an archive: the earliest that zip can store."""


def read_archive(path: Path) -> dict[str, bytes]:
    """The contents of all files of a zip archive by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def check_place(path: Path, suffix: str) -> None:
    """Refuse a path that cannot be written, or has the wrong suffix, before the work is done.

    Parameters
    ----------
    path : Path
    suffix : str
        The suffix of names of such files: ".fmu".

    Raises
    ------
    cosim.CosimError
        The name has another suffix, or is a folder, or no file can be written in its folder.
    """
    file_kind = f"an {suffix[1:].upper()}"
    if path.is_dir():
        raise cosim.CosimError(f"{path}: this is a folder; {file_kind} is a file")
    if path.suffix.lower() != suffix:
        raise cosim.CosimError(f"{path}: the name of {file_kind} ends in {suffix}")
    folder = next(parent for parent in (path.parent, *path.parent.absolute().parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise cosim.CosimError(f"{path}: cannot be written ({reason}); choose another folder") from error


def write_archive(
    path: Path, files: Mapping[str, bytes | Path], level: int = 6, shared: Collection[str] = ()
) -> None:
    """Write a zip archive with sorted names, equal dates and equal permissions.

    Contents are bytes or files, compressed by zlib with `level`. The archive is written to a temporary file,
    which replaces an older one when it is complete.

    `shared` names the files that the next archive is likely to have, too: they come first, and their
    compressed form is cached for the next archive.
    """
    contents = [
        (name, content.read_bytes() if isinstance(content, Path) else content)
        for name, content in sorted(files.items(), key=lambda entry: entry[0])
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_file(path) as draft, draft.open("w+b") as file:
        if shared:
            file.write(_packed(tuple(entry for entry in contents if entry[0] in shared), level))
        _pack(file, (entry for entry in contents if entry[0] not in shared), level)


@functools.lru_cache(maxsize=1)
def _packed(contents: tuple[tuple[str, bytes], ...], level: int) -> bytes:
    """An archive of these files; the last one is cached."""
    archive = io.BytesIO()
    _pack(archive, contents, level)
    return archive.getvalue()


def _pack(file: IO[bytes], contents: Iterable[tuple[str, bytes]], level: int) -> None:
    """Write files into an archive; without files it is empty."""
    with zipfile.ZipFile(file, "a") as archive:
        for name, content in contents:
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system, info.external_attr = 3, 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content, compresslevel=level)
