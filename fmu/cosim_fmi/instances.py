"""The life of FMUs in this process: saved states, instances kept for the next run, unpacked files."""

from __future__ import annotations

import functools
import os
import shutil
import weakref
from collections.abc import Callable
from contextlib import suppress
from ctypes import addressof, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim.kit import remove_folder, without_collection
from cosim_fmi.binding import fmu_output, modes
from cosim_fmi.binding.fmu_instance import FmuInstance, SavedState
from cosim_fmi.binding.fmu_library import FmiError, FmuLibrary, open_library
from cosim_fmi.binding.process_guard import undisturbed
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.description.read_interface import read_interface
from cosim_fmi.fmu_archive import FmuArchive


class FmuState:
    """Token of `save`; it belongs to the instance that made it.

    Freed with the instance, or as soon as no reference to it is left.

    Attributes
    ----------
    saved : SavedState
    owner : object
        The participant.
    more : object
        What the participant itself has saved beside it.
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
    """Free a saved state; an error is kept in `FmuInstance.untold`, since a finalizer cannot raise it."""
    if instance.component and instance.mode != modes.FATAL and saved.pointer:
        try:
            instance.free_state(saved)
        except FmiError as error:
            instance.untold = instance.untold or error


SERIALIZED_MODES = (
    modes.STEPPING,
    modes.INITIALIZING,
    modes.CONTINUOUS,
    modes.EVENT,
    modes.INSTANTIATED,
    modes.TERMINATED,
)
"""Modes by the first byte of a serialized state."""


class StateFunctions(NamedTuple):
    """Addresses by which compiled code saves and restores the state of an instance.

    Attributes
    ----------
    save, restore, free : int
        Functions of the FMU.
    state : int
        The place of the pointer to the saved state.
    """

    save: int
    restore: int
    free: int
    state: int


class InstanceStates:
    """The saved states of one instance.

    Parameters
    ----------
    instance : FmuInstance
    owner : object
        The participant.
    guard : callable
        Calls a function with arguments; its errors name the FMU.

    Attributes
    ----------
    tokens : WeakSet of FmuState
        The states that Python has saved.
    """

    def __init__(self, instance: FmuInstance, owner: object, guard: Callable[..., Any]) -> None:
        self._instance, self._owner, self._guard = instance, owner, guard
        self.tokens: weakref.WeakSet[FmuState] = weakref.WeakSet()
        self._native: FmuState | None = None  # the state that compiled code saves

    def save(self) -> FmuState:
        """Save the state."""
        return self._token(self._guard(self._instance.save))

    def restore(self, token: FmuState) -> None:
        """Restore a saved state."""
        self._guard(self._instance.restore, token.saved)

    def serialize(self, token: FmuState) -> bytes:
        """A saved state as bytes of the FMU's own format, after one byte for the mode."""
        data: bytes = self._guard(self._instance.serialize, token.saved)
        return bytes((SERIALIZED_MODES.index(token.saved.mode),)) + data

    def deserialize(self, data: bytes) -> FmuState | None:
        """The token of a serialized state; None if the bytes begin with no mode."""
        if not data or data[0] >= len(SERIALIZED_MODES):
            return None
        mode = SERIALIZED_MODES[data[0]]
        return self._token(self._guard(self._instance.deserialize, data[1:], mode))

    def _token(self, saved: SavedState) -> FmuState:
        token = FmuState(saved, self._owner, self._instance)
        self.tokens.add(token)
        return token

    def native_functions(self, mode: str) -> StateFunctions | None:
        """The addresses for compiled code in this mode; None if the library lacks a function."""
        names, library = self._instance.state_functions, self._instance.library
        if not names:
            return None
        save, restore, free = (library.address(names[kind]) for kind in ("get", "set", "free"))
        if not (save and restore and free):
            return None
        self._native = FmuState(SavedState(c_void_p(), mode), self._owner, self._instance)
        return StateFunctions(save, restore, free, addressof(self._native.saved.pointer))

    def check_native_call(self, verb: str, status: int) -> None:
        """Raise what `save` or `restore` would have raised, for a status that compiled code received."""
        names = self._instance.state_functions
        # a save frees the state before it; compiled code does not tell which of the two calls has failed
        free = self._instance.name_of(names["free"])
        function = names["set"] if verb == "restore" else f"{names['get']} or {free}"
        self._guard(self._instance.check, function, status)

    def free_all(self) -> None:
        """Free all saved states, before the instance is freed."""
        for token in (*self.tokens, self._native):
            if token is not None:
                token.free()


class KeptInstance:
    """Holds a terminated instance with its library for reuse; frees it when it is discarded, or at exit."""

    def __init__(self) -> None:
        self._instance: FmuInstance | None = None
        self._unpacked: UnpackedFmu | None = None
        self._made_for: Any = None
        self._free: Any = None

    def store(self, instance: FmuInstance, unpacked: UnpackedFmu, made_for: Any) -> None:
        """Store an instance for later use.

        Parameters
        ----------
        instance : FmuInstance
        unpacked : UnpackedFmu
            Its files, which stay as long.
        made_for : object
            The options for which it was made; other options need a new instance.
        """
        self.discard()
        self._instance, self._unpacked, self._made_for = instance, unpacked, made_for
        self._free = weakref.finalize(self, _free_instance, instance)  # also at exit, before the library

    def reset(
        self, unpacked: UnpackedFmu, made_for: Any, add: Callable[[int, str], None]
    ) -> FmuInstance | None:
        """The instance, reset and with another receiver of messages; None where there is none for this."""
        instance = self._instance
        if instance is None or unpacked is not self._unpacked or made_for != self._made_for:
            self.discard()
            return None
        instance.receiver.add = add
        try:
            instance.reset()
        except Exception:  # it has no reset, or fails: a new instance takes its place
            self.discard()
            return None
        self._free.detach()
        self._instance = self._unpacked = None
        return instance

    def discard(self) -> None:
        """Free the kept instance, if there is one."""
        if self._instance is not None:
            self._free()
            self._instance = self._unpacked = None


def _free_instance(instance: FmuInstance) -> None:
    with suppress(Exception):
        instance.free()


Identity = tuple[Path, int, int, int]
"""Path, inode, size and time of change (ns): another file of the same name is another FMU."""


class UnpackedFmu:
    """A private folder with the contents of an FMU; removed when no reference to this object is left.

    Instances of one FMU share it, and so the library that is loaded from it: FMI asks of a library to serve
    several instances, unless its description says that it can be instantiated only once.

    Parameters
    ----------
    archive : FmuArchive
    wine : bool
        Whether its library for Windows is wanted, under wine.

    Raises
    ------
    FmuError
        Damaged members or a full disk.
    """

    def __init__(self, archive: FmuArchive, wine: bool = False) -> None:
        self._wine = wine
        self.folder = archive.unpack(place_of_library(archive.version, wine)[0])
        self._libraries: dict[str, FmuLibrary] = {}
        self._remove = weakref.finalize(self, _remove, self.folder, self._libraries)

    def library(self, interface: FmuInterface) -> FmuLibrary:
        """The library, loaded once.

        Raises
        ------
        FmiError
            It cannot be loaded, or lacks a function without which the FMU cannot be simulated.
        """
        interface_type = "ModelExchange" if interface.is_model_exchange else "CoSimulation"
        if interface_type not in self._libraries:
            path = _library_file(self.folder, interface, self._wine)
            fmu_output.format_with(log_helper())
            open_function: Callable[..., FmuLibrary] = open_library
            if self._wine:
                from cosim_fmi.wine.wine_library import open_wine_library as open_function
            library_of_fmu = open_function(path, interface.version, interface.identifier, interface_type)
            self._libraries[interface_type] = library_of_fmu
        return self._libraries[interface_type]


def _library_file(folder: Path, interface: FmuInterface, wine: bool) -> Path:
    """The library for this machine; the only one there is copied to the name that the standard asks for."""
    place, suffix = place_of_library(interface.version, wine)
    library = folder / "binaries" / place / f"{interface.identifier}{suffix}"
    if not library.exists():
        libraries = [*library.parent.glob(f"*{suffix}")]
        if len(libraries) == 1:
            shutil.copyfile(libraries[0], library)
    return library


def place_of_library(version: str, wine: bool = False) -> tuple[str, str]:
    """The folder below ``binaries`` for this machine, and how names of libraries end: "linux64", ".so"."""
    if wine:
        return "x86_64-windows" if version == "3.0" else "win64", ".dll"
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


_unpacked: weakref.WeakValueDictionary[tuple[Identity, bool], UnpackedFmu] = weakref.WeakValueDictionary()


def read_fmu(path: Path, wanted: str = "CoSimulation", wine: bool = False) -> tuple[FmuArchive, FmuInterface]:
    """The checked archive and its declarations; nothing is unpacked or loaded.

    Parameters
    ----------
    path : Path
    wanted : str
        Which interface where there are both: "CoSimulation" or "ModelExchange".
    wine : bool
        Whether its library for Windows is wanted, under wine.
    """
    with without_collection():  # there may be very many variables
        return _read(identity(path), wanted, wine)


def probe_fmu(path: Path, wanted: str = "CoSimulation", wine: bool = False) -> tuple[FmuInterface, str]:
    """The declarations of an FMU, and why it cannot run here; "" if it can."""
    try:
        return read_fmu(path, wanted, wine)[1], ""
    except cosim.FmuError as error:
        archive = FmuArchive(path)  # an error of the archive is raised
        return read_interface(archive, archive.choose(wanted)), str(error).removeprefix(f"{error.fmu}: ")


def unpack_fmu(path: Path, wine: bool = False) -> UnpackedFmu:
    """The folder of an FMU; the same as long as it is in use."""
    key = identity(path), wine
    unpacked = _unpacked.get(key)
    if unpacked is None:
        unpacked = _unpacked[key] = UnpackedFmu(_archive(key[0]), wine)
    return unpacked


def identity(path: Path) -> Identity:
    """The identity of a file, which changes if another file replaces it; zeros if there is no file."""
    try:
        facts = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    return Path(os.path.realpath(path)), facts.st_ino, facts.st_size, facts.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _archive(key: Identity) -> FmuArchive:
    """The checked archive of a file, read once."""
    return FmuArchive(key[0])


@functools.lru_cache(maxsize=64)
def _read(key: Identity, wanted: str, wine: bool) -> tuple[FmuArchive, FmuInterface]:
    """The archive and the declarations of a file that can run here, read once."""
    archive = _archive(key)
    interface = archive.choose(wanted)
    archive.check_binary(interface, *place_of_library(archive.version, wine))
    if wine:
        _check_wine(archive)
    return archive, read_interface(archive, interface)


def _check_wine(archive: FmuArchive) -> None:
    """Raise an error where an FMU cannot run under wine, or there is none."""
    from cosim_fmi.wine.programs import NoWineError, wine_program

    if archive.version == "1.0":
        raise cosim.FmuError(str(archive.path), "an FMU of FMI 1.0 cannot run under wine: 2.0 and 3.0 can")
    try:
        wine_program()
    except NoWineError as error:
        raise cosim.FmuError(str(archive.path), str(error)) from None
