"""FMU files that are open, instances that wait for the next run, and saved states."""

from __future__ import annotations

import functools
import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import cosim
from cosim_fmi.archive import FmuArchive, is_cut_off, remove_folder
from cosim_fmi.binding import fmu_output, modes
from cosim_fmi.binding.fmu_instance import FmuInstance, SavedState
from cosim_fmi.binding.fmu_library import FmiError, FmuLibrary, open_library
from cosim_fmi.binding.process_guard import process_lock, undisturbed
from cosim_fmi.description.fmu_interface import FmuInterface, read_interface


class FmuState:
    """Token of `save`; it belongs to the instance that made it.

    Freed with the instance, or as soon as no reference to it is left.

    Attributes
    ----------
    saved : SavedState
    owner : object
        The participant.
    more : object
        What the participant itself has to remember with it.
    free : callable
        Gives the memory back; does nothing the second time.
    """

    __slots__ = ("__weakref__", "free", "more", "owner", "saved")

    def __init__(self, saved: SavedState, owner: object, instance: FmuInstance) -> None:
        self.saved, self.owner = saved, owner
        self.more: Any = None
        self.free = weakref.finalize(self, _free_state, instance, saved)
        self.free.atexit = False

    @property
    def initializing(self) -> bool:
        """Whether the instance was in its initialization mode."""
        return self.saved.mode == modes.INITIALIZING


def _free_state(instance: FmuInstance, saved: SavedState) -> None:
    if instance.component and instance.mode != modes.FATAL and saved.pointer:
        try:
            instance.free_state(saved)
        except FmiError as error:
            instance.untold = instance.untold or error


class KeptInstance:
    """Keeps an instance that was terminated, with its library; freed when it is given up, or at exit."""

    def __init__(self) -> None:
        self._instance: FmuInstance | None = None
        self._unpacked: UnpackedFmu | None = None
        self._made_for: Any = None
        self._free: Any = None

    def keep(self, instance: FmuInstance, unpacked: UnpackedFmu, made_for: Any) -> None:
        """Take an instance.

        Parameters
        ----------
        instance : FmuInstance
        unpacked : UnpackedFmu
            Its files, which stay as long.
        made_for : object
            What it was made for; with anything else a new instance is needed.
        """
        self.give_up()
        self._instance, self._unpacked, self._made_for = instance, unpacked, made_for
        self._free = weakref.finalize(
            self, _free_instance, instance
        )  # at exit before the library is unloaded

    def reset(
        self, unpacked: UnpackedFmu, made_for: Any, add: Callable[[int, str], None]
    ) -> FmuInstance | None:
        """The instance, reset and with another receiver of messages; None where there is none for this."""
        instance = self._instance
        if instance is None or unpacked is not self._unpacked or made_for != self._made_for:
            self.give_up()
            return None
        instance.receiver.add = add
        try:
            instance.reset()
        except Exception:  # one that has no reset, or fails: a new instance does
            self.give_up()
            return None
        self._free.detach()
        self._instance = self._unpacked = None
        return instance

    def give_up(self) -> None:
        """Free it."""
        if self._instance is not None:
            self._free()
            self._instance = self._unpacked = None


def _free_instance(instance: FmuInstance) -> None:
    with suppress(Exception):
        instance.free()


@contextmanager
def same_folder() -> Iterator[None]:
    """Come back to the present folder, whatever FMUs change: the names of files may start from it.

    Where it has been removed there is nothing to come back to.
    """
    folder = ""
    with process_lock, suppress(OSError):
        folder = os.getcwd()
    try:
        yield
    finally:
        with process_lock, suppress(OSError):
            os.chdir(folder)


Identity = tuple[Path, int, int, int]
"""Path, inode, size and time of change (ns): another file of the same name is another FMU."""


class UnpackedFmu:
    """A private folder with the contents of an FMU; removed when no reference to this object is left.

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
        self.folder = archive.unpack(place_of_library(archive.version)[0])
        self._libraries: dict[str, FmuLibrary] = {}
        self._remove = weakref.finalize(self, _remove, self.folder, self._libraries)

    def library(self, interface: FmuInterface) -> FmuLibrary:
        """The library, loaded once.

        Raises
        ------
        FmiError
            It cannot be loaded, or lacks a function without which the FMU cannot be simulated.
        """
        what = "ModelExchange" if interface.model_exchange else "CoSimulation"
        if what not in self._libraries:
            path = _library_file(self.folder, interface)
            if is_cut_off(path):
                raise FmiError(f"the library cannot be loaded: {path.name} is cut off")
            fmu_output.format_with(log_helper())
            made = open_library(path, interface.version, interface.identifier, what)
            self._libraries[what] = made
        return self._libraries[what]


def _library_file(folder: Path, interface: FmuInterface) -> Path:
    """The library for this machine; a lone one of another name than the standard asks for will do."""
    place, suffix = place_of_library(interface.version)
    wanted = folder / "binaries" / place / f"{interface.identifier}{suffix}"
    if not wanted.exists():
        libraries = [*wanted.parent.glob(f"*{suffix}")]
        if len(libraries) == 1:
            shutil.copyfile(libraries[0], wanted)
    return wanted


def place_of_library(version: str) -> tuple[str, str]:
    """The folder below ``binaries`` for this machine, and how names of libraries end: "linux64", ".so"."""
    from fmpy import platform, platform_tuple, sharedLibraryExtension

    return platform_tuple if version == "3.0" else platform, sharedLibraryExtension


@functools.cache
def log_helper() -> str:
    """Fmpy's native library that puts variadic arguments into log messages."""
    import fmpy

    name = f"logging{fmpy.sharedLibraryExtension}"
    return str(Path(fmpy.__file__).parent / "logging" / fmpy.platform / name)


def _remove(folder: Path, libraries: dict[str, FmuLibrary]) -> None:
    with undisturbed():
        for library in libraries.values():
            library.unload()
    remove_folder(folder)


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
    """The folder of an FMU; the same as long as it is in use."""
    key = identity(path)
    found = _unpacked.get(key)
    if found is None:
        found = _unpacked[key] = UnpackedFmu(_archive(key))
    return found


def identity(path: Path) -> Identity:
    """What tells a file from another one that takes its place; zeros when there is none."""
    try:
        facts = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    return Path(os.path.realpath(path)), facts.st_ino, facts.st_size, facts.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _archive(key: Identity) -> FmuArchive:
    return FmuArchive(key[0])


@functools.lru_cache(maxsize=64)
def _read(key: Identity, wanted: str) -> tuple[FmuArchive, FmuInterface]:
    archive = _archive(key)
    interface = archive.choose(wanted)
    archive.check_binary(interface, *place_of_library(archive.version))
    return archive, read_interface(archive, interface)
