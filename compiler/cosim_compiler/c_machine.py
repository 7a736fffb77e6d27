"""Machine code of C: by the C compiler of this computer, as a shared library, loaded into this process."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from cosim_compiler.child_process import run_process
from cosim_compiler.errors import ContractError

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-shared", "-fPIC", "-x", "c")

_libraries: list[Any] = []


@functools.cache
def compiler() -> str:
    """The C compiler: that of ``CC``, or the first of `COMPILERS` that is installed.

    Raises
    ------
    ContractError
        There is none.
    """
    for name in (os.environ.get("CC", ""), *COMPILERS):
        program = shutil.which(name) if name else None
        if program is not None:
            return program
    raise ContractError(f"there is no C compiler (CC, {', '.join(COMPILERS)}): install one, or set CC")


@functools.cache
def versions() -> str:
    """The C compiler and its version: machine code depends on them besides the text."""
    version = run_process([compiler(), "--version"], capture_output=True, text=True)
    version.check_returncode()
    return repr((compiler(), version.stdout))


get_ready = versions
"""Ask the C compiler once for its version, not in each process that is forked from this one."""


def library_of(text: str, flags: tuple[str, ...]) -> bytes:
    """The shared library of a file of C.

    Raises
    ------
    ContractError
        The C compiler refuses it: a mistake of ours.
    """
    with tempfile.TemporaryDirectory(prefix="cosim-c-") as folder:
        library = Path(folder) / "unit.so"
        words = [compiler(), *flags, *FLAGS, "-o", str(library), "-", "-lm"]
        outcome = run_process(words, input=text.encode(), capture_output=True)
        if outcome.returncode != 0:
            raise ContractError(
                f"{compiler()} refuses C that was written here:\n{outcome.stderr.decode()[:2000]}"
            )
        return library.read_bytes()


def load(code: bytes) -> None:
    """Load a shared library; others may call its symbols."""
    with tempfile.TemporaryDirectory(prefix="cosim-c-") as folder:
        path = Path(folder) / "unit.so"
        path.write_bytes(code)
        _libraries.append(ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL))


def address_of(symbol: str) -> int:
    """The address of a function of a loaded library."""
    for library in reversed(_libraries):
        function = getattr(library, symbol, None)
        if function is not None:
            return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
    raise ContractError(f"no library that is loaded has a function {symbol}")
