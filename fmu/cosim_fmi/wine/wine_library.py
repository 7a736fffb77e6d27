"""The library of an FMU for Windows, called in a process under wine."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from cosim.kit import start_process
from cosim_fmi.binding.fmu_library import FmiError, FmuLibrary, MissingFunctionError, instance_class
from cosim_fmi.wine.programs import NoWineError, compiled_programs, wine_program

SECONDS_TO_END = 5.0
QUIET = {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree=;mshtml="}
"""Settings against debugging messages, and against windows that offer Mono or Gecko."""


class WineLibrary(FmuLibrary):
    """A library for Windows; its process ends with it.

    The process has a folder of wine's own in the cache, unless ``WINEPREFIX`` names one. Its functions can
    be called by address, as those of every library.

    Raises
    ------
    FmiError
        There is no wine, it cannot be loaded, or lacks a function.
    """

    _process: subprocess.Popen[bytes] | None = None

    def _open(self, path: Path) -> Any:
        try:
            wine = wine_program()
            bridge, program = compiled_programs()
        except NoWineError as error:
            raise FmiError(str(error)) from None
        server, own = path.with_name("cosim-wine.exe"), path.with_suffix(".wine.so")
        server.write_bytes(program)
        own.write_bytes(bridge)  # one of its own: each has its own connection
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = start_process(
                    [wine, str(server), f"Z:{path}"],
                    stdin=theirs,
                    stdout=theirs,
                    stderr=subprocess.DEVNULL,
                    env=_environment(),
                    start_new_session=True,  # Ctrl-C is for this program
                )
            except OSError as error:
                ours.close()
                raise FmiError(f"wine cannot be started: {error.strerror or error}") from None
        self._connection = ours
        dll = ctypes.CDLL(str(own))
        dll.bridge_open.restype = ctypes.c_char_p
        if why := dll.bridge_open(ours.fileno()).decode("utf-8", "replace"):
            self._end()
            raise FmiError(why)
        self._has = dll.bridge_has
        return dll

    def has(self, name: str) -> bool:
        """Whether the library exports a function, named without its prefix."""
        return bool(self._has(self.symbol(name).encode()))

    def function(self, name: str) -> Any:
        """The function, ready to be called; `MissingFunctionError` where the FMU does not export it."""
        if not self.has(name):
            raise MissingFunctionError(self.table.prefix + name)
        return super().function(name)

    def unload(self) -> None:
        """Release the library, and end its process."""
        super().unload()
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
        if process.poll() is None:
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    root = os.environ.get("COSIM_CACHE_DIR") or Path.home() / ".cache" / "cosim"
    prefix = Path(root).expanduser().absolute() / "wine"
    if "WINEPREFIX" not in os.environ:
        prefix.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {"WINEPREFIX": str(prefix), **os.environ, **QUIET}


def open_wine_library(path: Path, version: str, identifier: str, interface: str) -> FmuLibrary:
    """Load a library for Windows; the parameters are those of `open_library`."""
    return WineLibrary(path, instance_class(version).table, identifier, interface)
