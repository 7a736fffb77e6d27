"""Compiles C sources of FMUs so that an environment variable makes a function fail (``c/fault.h``)."""

from __future__ import annotations

import atexit
import functools
import re
import shutil
import tempfile
from pathlib import Path

from c_programs import SOURCES, build, c_compiler

FUNCTION = re.compile(
    r"(?P<name>\bfmi[23]?[A-Z]\w*(?:##\w+)?|\bNAME\(fmi\w+\))\((?:[^;{}()]|\([^;{}()]*\))*\)\s*(?:\\\n)?\{"
)


def with_faults(kind: str) -> str:
    """A C source with a macro of ``fault.h`` inserted at the start of each FMI function."""
    text = (
        (SOURCES / f"{kind}.c")
        .read_text()
        .replace('#include "fmi2_slave.h"', (SOURCES / "fmi2_slave.h").read_text())
    )

    def insert(function: re.Match[str]) -> str:
        name = function["name"]
        if "GetVersion" in name or "TypesPlatform" in name:
            return function[0]
        suffix = "_MADE" if "Instantiate" in name else "_FREED" if re.search("Free.*Instance", name) else ""
        return f"{function[0]} FAULT{suffix}"

    return (SOURCES / "fault.h").read_text() + FUNCTION.sub(insert, text)


@functools.cache
def faulty_library(kind: str, *macros: str) -> Path:
    """Compile a C source with faults, once per run of the tests."""
    c_compiler()
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, library = folder / f"{kind}.c", folder / f"{kind}.so"
    source.write_text(with_faults(kind))
    flags = ["-O2", "-std=gnu99", "-fPIC", "-shared", "-ffp-contract=off", "-lm"]
    return build(library, [*flags, *(f"-D{macro}" for macro in macros)], [source])
