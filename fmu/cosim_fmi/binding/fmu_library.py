"""The library of an FMU, loaded."""

from __future__ import annotations

import _ctypes
import ctypes
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from cosim_fmi.binding import process_guard
from cosim_fmi.binding.function_table import FmiError, FunctionTable, MissingFunctionError

NAMES = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}


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
                self._dll: Any = ctypes.CDLL(str(path))
        except OSError as error:
            raise FmiError(f"the library cannot be loaded: {error}") from error
        self._functions: dict[str, Any] = {}
        missing = [table.symbol(name, identifier) for name in table.needed[interface] if not self.has(name)]
        if missing:
            self.unload()
            raise FmiError(
                f"the library does not export {', '.join(missing)}: no FMI {table.version} "
                f"{NAMES[interface]} FMU"
            )

    def symbol(self, name: str) -> str:
        """What a function is called in the library."""
        return self.table.symbol(name, self.identifier)

    def has(self, name: str) -> bool:
        """Whether the library exports a function, named without its prefix."""
        return hasattr(self._dll, self.symbol(name))

    def function(self, name: str) -> Any:
        """The function, ready to be called; `MissingFunctionError` where it is not exported."""
        found = self._functions.get(name)
        if found is None:
            try:
                found = getattr(self._dll, self.symbol(name))  # looked up once, by `has`
            except AttributeError:
                raise MissingFunctionError(self.table.prefix + name) from None
            found.restype, found.argtypes = self.table.signatures[name]
            self._functions[name] = found
        return found

    def address(self, name: str) -> int:
        """Of a function, for compiled code; 0 where it is not exported."""
        if not self.has(name):
            return 0
        return int(ctypes.cast(self.function(name), ctypes.c_void_p).value or 0)

    def unload(self) -> None:
        """Give it up; the operating system unloads it where no other holds it."""
        dll, self._dll, self._functions = self._dll, None, {}
        if dll is not None:
            with suppress(OSError), process_guard.in_library(self.identifier, "unloading its library"):
                (_ctypes.FreeLibrary if os.name == "nt" else _ctypes.dlclose)(vars(dll)["_handle"])  # type: ignore[attr-defined,unused-ignore]
        process_guard.loaded.discard(self)  # what it runs when it is unloaded may call exit, too
