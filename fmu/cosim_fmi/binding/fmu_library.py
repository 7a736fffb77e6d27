"""The library of an FMU: what its functions are called and take, and what is wrong with a call."""

from __future__ import annotations

import _ctypes
import ctypes
import functools
import os
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from ctypes import POINTER, c_double, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosim_fmi.binding import process_guard
from cosim_fmi.binding.statuses import FATAL, PENDING, STATUS_WORDS

if TYPE_CHECKING:
    from cosim_fmi.binding.fmu_instance import FmuInstance

LOADABLE_SEGMENT = 1
"""PT_LOAD: the type of a segment in an ELF file that is mapped into memory."""


class FmiError(Exception):
    """A call that failed, was not allowed, or is missing in the library.

    Attributes
    ----------
    function : str
        Name of the C function, "" where none is meant.
    status : int or None
        The returned status.
    """

    def __init__(self, text: str, function: str = "", status: int | None = None) -> None:
        self.function, self.status = function, status
        super().__init__(text)

    @classmethod
    def of_status(cls, function: str, status: int) -> FmiError:
        """The function returned a status that is worse than a warning."""
        if status == PENDING:
            text = "returned pending, but asynchronous steps are not supported"
        else:
            word = STATUS_WORDS[status] if 0 <= status < len(STATUS_WORDS) else status
            text = f"failed with status {word}"
        return cls(text, function, status)


def is_fatal(error: BaseException | None) -> bool:
    """Whether a call answered *fatal*: no instance of the FMU in this process is to be trusted any more."""
    while error is not None and not (isinstance(error, FmiError) and error.status == FATAL):
        error = error.__cause__
    return error is not None


class MissingFunctionError(FmiError):
    """The library does not export a function."""

    def __init__(self, function: str) -> None:
        super().__init__("the library does not export this function", function)


class CallOrderError(FmiError):
    """The standard does not allow the call in the mode that the instance is in."""

    def __init__(self, function: str, mode: str) -> None:
        super().__init__(f"is not allowed while the instance is {mode}", function)


Signature = tuple[Any, tuple[Any, ...]]
"""The ctypes result of a function, and the ctypes of its arguments."""


def access_signatures(c_types: Mapping[str, Any], *more: Any) -> dict[str, Signature]:
    """Signatures of the functions that read and write variables, one of each for each type.

    Parameters
    ----------
    c_types : mapping of str to ctypes type
        `Enumeration` has no functions of its own.
    *more
        Types of further arguments, behind the values.
    """
    return {
        f"{verb}{kind}": (c_int, (c_void_p, POINTER(c_uint), c_size_t, POINTER(c_type), *more))
        for verb in ("Get", "Set")
        for kind, c_type in c_types.items()
        if kind != "Enumeration"
    }


def instance_signatures(*names: str) -> dict[str, Signature]:
    """Signatures of functions that take the instance alone."""
    return dict.fromkeys(names, (c_int, (c_void_p,)))


def array_signatures(*names: str) -> dict[str, Signature]:
    """Signatures of functions that take, or fill, an array of doubles."""
    return dict.fromkeys(names, (c_int, (c_void_p, POINTER(c_double), c_size_t)))


@dataclass(frozen=True)
class FunctionTable:
    """The functions of one version.

    Attributes
    ----------
    version : str
        "1.0", "2.0" or "3.0".
    prefix : str
        The prefix of the names of functions: "fmi2".
    signatures : mapping of str to tuple
        For each name, without its prefix: the ctypes result, and those of the arguments.
    needed : mapping of str to tuple of str
        For each interface ("CoSimulation", "ModelExchange") what no library may lack.
    with_identifier : bool
        Whether the model identifier stands before each name in the library, as in FMI 1.0.
    """

    version: str
    prefix: str
    signatures: Mapping[str, Signature]
    needed: Mapping[str, tuple[str, ...]]
    with_identifier: bool = False

    def symbol(self, name: str, identifier: str) -> str:
        """The name of a function in a library."""
        return f"{identifier}_{self.prefix}{name}" if self.with_identifier else self.prefix + name


INTERFACE_NAMES = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}


class FmuLibrary:
    """A loaded library; its functions are looked up when they are first called.

    All instances of an FMU share it. Whoever loads it does so inside `undisturbed`: what it runs while it
    is loaded may change the process.

    Parameters
    ----------
    path : Path
        Absolute.
    table : FunctionTable
    identifier : str
        The model identifier.
    interface : str
        "CoSimulation" or "ModelExchange".

    Raises
    ------
    FmiError
        It cannot be loaded, or lacks a function without which it cannot be simulated.
    """

    def __init__(self, path: Path, table: FunctionTable, identifier: str, interface: str) -> None:
        self.path, self.table, self.identifier, self.interface = path, table, identifier, interface
        process_guard.watch_exit()
        process_guard.loaded.add(self)
        try:
            if hasattr(os, "add_dll_directory"):
                os.add_dll_directory(str(path.parent))
            os.chdir(path.parent)  # some expect their own libraries in the present folder
            with process_guard.in_library(identifier, "loading its library"):
                self._dll: Any = self._open(path)
        except OSError as error:
            raise FmiError(f"the library cannot be loaded: {error}") from error
        self._functions: dict[str, Any] = {}
        missing = [table.symbol(name, identifier) for name in table.needed[interface] if not self.has(name)]
        if missing:
            self.unload()
            raise FmiError(
                f"the library does not export {', '.join(missing)}: no FMI {table.version} "
                f"{INTERFACE_NAMES[interface]} FMU"
            )

    def _open(self, path: Path) -> Any:
        return ctypes.CDLL(str(path))

    def symbol(self, name: str) -> str:
        """The name of a function in the library."""
        return self.table.symbol(name, self.identifier)

    def has(self, name: str) -> bool:
        """Whether the library exports a function, named without its prefix."""
        return hasattr(self._dll, self.symbol(name))

    def function(self, name: str) -> Any:
        """The function, ready to be called; `MissingFunctionError` where it is not exported."""
        function = self._functions.get(name)
        if function is None:
            try:
                function = getattr(self._dll, self.symbol(name))
            except AttributeError:
                raise MissingFunctionError(self.table.prefix + name) from None
            function.restype, function.argtypes = self.table.signatures[name]
            self._functions[name] = function
        return function

    def address(self, name: str) -> int:
        """The address of a function, for compiled code; 0 if it is not exported."""
        if not self.has(name):
            return 0
        return int(ctypes.cast(self.function(name), ctypes.c_void_p).value or 0)

    def unload(self) -> None:
        """Release the library; the operating system unloads it if no other object holds it."""
        dll, self._dll, self._functions = self._dll, None, {}
        if dll is not None:
            with suppress(OSError), process_guard.in_library(self.identifier, "unloading its library"):
                (_ctypes.FreeLibrary if os.name == "nt" else _ctypes.dlclose)(vars(dll)["_handle"])  # type: ignore[attr-defined,unused-ignore]
        process_guard.loaded.discard(self)  # not before: what it runs while it is unloaded may call exit


@functools.cache
def instance_class(version: str) -> type[FmuInstance]:
    """The class of instances of a version of FMI: "1.0", "2.0" or "3.0"; others are not loaded."""
    if version == "1.0":
        from cosim_fmi.binding.fmi1_instance import Fmi1Instance

        return Fmi1Instance
    if version == "2.0":
        from cosim_fmi.binding.fmi2_instance import Fmi2Instance

        return Fmi2Instance
    from cosim_fmi.binding.fmi3_instance import Fmi3Instance

    return Fmi3Instance


def is_cut_off(path: Path) -> bool:
    """Whether an ELF file of 64 bit ends before its segments do.

    The loader maps such a file without looking, and the process dies at the first page that is not there. Of
    other files the loader says itself what is wrong. Source: System V ABI, generic part (gABI), chapter 5,
    "Program Header".
    """
    with path.open("rb") as file:
        head, length = file.read(64), os.fstat(file.fileno()).st_size
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return False
        (table,) = struct.unpack_from("<Q", head, 32)
        width, count = struct.unpack_from("<HH", head, 54)
        if table + width * count > length:
            return True
        file.seek(table)
        data = file.read(width * count)
    for entry in range(0, width * count, max(width, 1)):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data.ljust(entry + 56, b"\0"), entry)
        if kind == LOADABLE_SEGMENT and offset + size > length:
            return True
    return False


def open_library(path: Path, version: str, identifier: str, interface: str) -> FmuLibrary:
    """Load a library.

    Parameters
    ----------
    path : Path
    version : str
        "1.0", "2.0" or "3.0".
    identifier : str
        The model identifier.
    interface : str
        "CoSimulation" or "ModelExchange".

    Raises
    ------
    FmiError
        It cannot be loaded, or lacks a function without which the FMU cannot be simulated.
    """
    if is_cut_off(path):
        raise FmiError(
            f"the library cannot be loaded: {path.name} is incomplete: copy or unpack the FMU again"
        )
    return FmuLibrary(path, instance_class(version).table, identifier, interface)


def new_instance(library: FmuLibrary, log: Callable[[int, str], None]) -> FmuInstance:
    """An instance that is to be instantiated.

    Parameters
    ----------
    library : FmuLibrary
    log : callable
        Called with status and text of each message.
    """
    return instance_class(library.table.version)(library, log)
