"""The installed pythonfmu, with the folder of its libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def installed_pythonfmu() -> Iterator[ModuleType]:
    """Import the installed pythonfmu, whatever FMUs have run in this process; restore the process afterwards.

    Every FMU of pythonfmu contains a copy without binaries. If one has run before pythonfmu was imported,
    that copy is the pythonfmu of the process, and an FMU built with it would have no binaries.

    Yields
    ------
    module
        The package, with its folder of binaries.
    """
    path = list(sys.path)
    loaded = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "pythonfmu"}
    is_copy = bool(loaded) and not binaries(loaded["pythonfmu"]).is_dir()
    try:
        if is_copy:
            for name in loaded:
                del sys.modules[name]
            sys.path[:] = [entry for entry in path if not (Path(entry) / "slavemodule.txt").exists()]
            importlib.invalidate_caches()
        yield importlib.import_module("pythonfmu")
    finally:
        sys.path[:] = path
        if is_copy:
            for name in [name for name in sys.modules if name.partition(".")[0] == "pythonfmu"]:
                del sys.modules[name]
            sys.modules.update(loaded)


def binaries(pythonfmu: ModuleType) -> Path:
    """The folder of pythonfmu's libraries, which has a folder for each platform."""
    return Path(str(pythonfmu.__file__)).parent / "resources" / "binaries"
