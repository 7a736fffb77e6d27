"""Of the Python files that FMUs carry, one copy serves all FMUs that are unpacked.

An FMU with Python inside carries some 700 files; to unpack them takes 140 ms of CPU time, to link them 10.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

Key = tuple[str, int, int]
unpack = ZipFile.extractall


class UnpackedOnce:
    """Files that were unpacked, by their names and contents.

    Parameters
    ----------
    place : Path
        An empty folder for one link to each of them, so that they outlive where they were unpacked.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._files: dict[Key, Path] = {}
        self._stamps: dict[Path, tuple[int, int]] = {}

    def extractall(
        self, archive: ZipFile, path: Any = None, members: Iterable[Any] | None = None, pwd: Any = None
    ) -> None:
        """As `ZipFile.extractall`; a Python file that was unpacked before is linked."""
        folder = Path(path or os.getcwd())
        given = archive.namelist() if members is None else members
        infos = [member if isinstance(member, ZipInfo) else archive.getinfo(member) for member in given]
        rest = [info for info in infos if not self._is_linked(info, folder)]
        unpack(archive, folder, rest, pwd)
        for info in rest:
            self._keep(info, folder)

    def written_since(self) -> list[str]:
        """The names of files that somebody wrote into: each FMU has them."""
        return [key[0] for key, path in self._files.items() if _stamp(path) != self._stamps[path]]

    def _is_linked(self, info: ZipInfo, folder: Path) -> bool:
        kept = self._files.get(_key(info))
        if kept is None:
            return False
        target = os.path.join(folder, info.filename)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            return False
        try:
            os.link(kept, target)
        except OSError:  # on another disk
            return False
        return True

    def _keep(self, info: ZipInfo, folder: Path) -> None:
        source, key = folder / info.filename, _key(info)
        if not info.filename.endswith(".py") or key in self._files or not source.is_file():
            return
        kept = self._place / f"{len(self._files)}.py"
        try:
            os.link(source, kept)
        except OSError:
            return
        self._files[key], self._stamps[kept] = kept, _stamp(kept)


def _key(info: ZipInfo) -> Key:
    return info.filename, info.CRC, info.file_size


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
