"""FMUs of the C sources with a fault in any of their functions, chosen by the environment (``c/fault.h``)."""

from __future__ import annotations

import atexit
import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "c"
FUNCTION = re.compile(
    r"(?P<name>\bfmi[23]?[A-Z]\w*(?:##\w+)?|\bNAME\(fmi\w+\))\((?:[^;{}()]|\([^;{}()]*\))*\)\s*(?:\\\n)?\{"
)


def with_faults(kind: str) -> str:
    """A C source with a call of the fault at the begin of each function of FMI."""
    text = (
        (SOURCES / f"{kind}.c")
        .read_text()
        .replace('#include "fmi2_slave.h"', (SOURCES / "fmi2_slave.h").read_text())
    )

    def insert(found: re.Match[str]) -> str:
        name = found["name"]
        if "GetVersion" in name or "TypesPlatform" in name:
            return found[0]
        made = "_MADE" if "Instantiate" in name else "_FREED" if re.search("Free.*Instance", name) else ""
        return f"{found[0]} FAULT{made}"

    return (SOURCES / "fault.h").read_text() + FUNCTION.sub(insert, text)


@functools.cache
def faulty_library(kind: str, *macros: str) -> Path:
    """Compile it, once in a run."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (gcc or cc) to build the test FMUs with")
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, library = folder / f"{kind}.c", folder / f"{kind}.so"
    source.write_text(with_faults(kind))
    flags = ["-O2", "-std=gnu99", "-fPIC", "-shared", "-ffp-contract=off"]
    words = [compiler, *flags, *(f"-D{macro}" for macro in macros), str(source)]
    subprocess.run([*words, "-o", str(library), "-lm"], check=True)
    return library
