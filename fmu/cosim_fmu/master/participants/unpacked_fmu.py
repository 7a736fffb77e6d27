"""FMU files that are open: read once and unpacked once, however many instances they have."""

from __future__ import annotations

import functools
import shutil
import weakref
from pathlib import Path

import cosim
from cosim_fmu.master.participants.fmu_archive import FmuArchive
from cosim_fmu.master.participants.fmu_interface import FmuInterface, read_interface

Identity = tuple[Path, int, int, int]
"""Path, inode, size and time of change (ns): another file of the same name is another FMU."""


class UnpackedFmu:
    """A private folder with the contents of an FMU; removed when nobody holds this object any more.

    Instances of one FMU share it, and so the library that is loaded from it, as FMI means it: a library
    has to bear several instances unless its description says that it can be instantiated only once.

    Parameters
    ----------
    archive : FmuArchive

    Raises
    ------
    FmuError
        Damaged members or a full disk.
    """

    def __init__(self, archive: FmuArchive) -> None:
        self.folder = archive.unpack()
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, True)


_unpacked: weakref.WeakValueDictionary[Identity, UnpackedFmu] = weakref.WeakValueDictionary()


def read_fmu(path: Path, wanted: str = "CoSimulation") -> tuple[FmuArchive, FmuInterface]:
    """The checked archive and what it declares; nothing is unpacked or loaded.

    Parameters
    ----------
    path : Path
    wanted : str
        Which interface where there are both: "CoSimulation" or "ModelExchange".
    """
    return _read(identity(path), wanted)


def look_at_fmu(path: Path, wanted: str = "CoSimulation") -> tuple[FmuInterface, str]:
    """What an FMU declares, also one that cannot run here, and why it cannot ("" when it can)."""
    try:
        return read_fmu(path, wanted)[1], ""
    except cosim.FmuError as error:
        archive = FmuArchive(path)  # what hinders this, too, is said
        return read_interface(archive, archive.choose(wanted)), str(error).removeprefix(f"{error.fmu}: ")


def unpack_fmu(path: Path) -> UnpackedFmu:
    """The folder of an FMU; the same as long as somebody holds it."""
    key = identity(path)
    found = _unpacked.get(key)
    if found is None:
        found = _unpacked[key] = UnpackedFmu(FmuArchive(key[0]))
    return found


def identity(path: Path) -> Identity:
    """What tells a file from another one that takes its place; zeros when there is none."""
    try:
        facts = path.stat()
    except OSError:
        return path, 0, 0, 0
    return path.resolve(), facts.st_ino, facts.st_size, facts.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _read(key: Identity, wanted: str) -> tuple[FmuArchive, FmuInterface]:
    from fmpy import platform, platform_tuple, sharedLibraryExtension

    archive = FmuArchive(key[0])
    interface = archive.choose(wanted)
    archive.check_binary(
        interface, platform_tuple if archive.version == "3.0" else platform, sharedLibraryExtension
    )
    return archive, read_interface(archive, interface)
