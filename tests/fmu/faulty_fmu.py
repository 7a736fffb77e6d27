"""FMUs of the C sources with a fault in any of their functions, chosen by the environment (``c/fault.h``)."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

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


def make_faulty(fmu: Path, library: Path) -> Path:
    """The FMU with another library in place of its own."""
    other = fmu.with_name("faulty.fmu")
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(other, "w") as new:
        for entry in old.namelist():
            new.writestr(entry, library.read_bytes() if entry.startswith("binaries/") else old.read(entry))
    return other


@functools.cache
def faulty_library(kind: str, *macros: str) -> Path:
    """Compile it, once in a run."""
    folder = Path(tempfile.mkdtemp())
    source, library = folder / f"{kind}.c", folder / f"{kind}.so"
    source.write_text(with_faults(kind))
    flags = ["-O2", "-std=gnu99", "-fPIC", "-shared", "-ffp-contract=off"]
    words = [shutil.which("gcc") or "cc", *flags, *(f"-D{macro}" for macro in macros), str(source)]
    subprocess.run([*words, "-o", str(library), "-lm"], check=True)
    return library
