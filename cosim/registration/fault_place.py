"""The file and the line of a fault in a plugin, and whether it was a fault or an interrupt."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

KERNEL = Path(__file__).parents[1]


def fault_place(fault: BaseException, entry_point: str) -> str:
    """``file:line`` of the plugin's own code that raised; empty if none of its code ran.

    Parameters
    ----------
    fault : BaseException
    entry_point : str
        ``package.module``. The place is the innermost frame in this package, else the innermost one outside
        the kernel and the import system.
    """
    if isinstance(fault, SyntaxError) and fault.filename is not None:
        return f"{fault.filename}:{fault.lineno}"
    package = entry_point.partition(":")[0].partition(".")[0].strip()
    frames = [
        (frame.f_code.co_filename, line, str(frame.f_globals.get("__name__", "")).partition(".")[0])
        for frame, line in traceback.walk_tb(fault.__traceback__)
    ]
    in_package = [f"{file}:{line}" for file, line, module in frames if module == package]
    foreign = [f"{file}:{line}" for file, line, _ in frames if not _is_ours(file)]
    return next(iter([*in_package[-1:], *foreign[-1:]]), "")


def raise_interrupt(fault: BaseException) -> None:
    """Raise the interrupt that caused an error, if one did: before Python 3.12 ``__set_name__`` wraps it."""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            raise cause
        cause = cause.__cause__


def _is_ours(file: str) -> bool:
    """Whether a file belongs to the machinery that loads plugins."""
    if file.startswith("<frozen"):
        return True
    path = Path(file)
    loading = [sys.modules.get(name) for name in ("importlib", "importlib.metadata", "pluggy")]
    return KERNEL in path.parents or path.parent in {
        Path(str(module.__file__)).parent for module in loading if module is not None
    }
