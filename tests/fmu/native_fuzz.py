"""Programs that call a native FMU at random, built with checks of memory and of undefined behavior."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_programs import SOURCES
from c_programs import build as build_program
from native_tools import write_sources

from cosim_export.native.fmu_array import arrays_of
from cosim_export.native.native_sources import SHELL, NativeSources

SANITIZERS = [
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
]


def build(sources: NativeSources, folder: Path, name: str, *flags: str, driver: str = "fuzz2") -> Path:
    """A program of the C files of an FMU, its lowered functions and ``c/<driver>.c``."""
    program = folder / name
    files = [SOURCES / f"{driver}.c", *write_sources(sources, folder)]
    try:
        return build_program(program, ["-std=c11", *flags, "-lm"], files, [SHELL])
    except subprocess.CalledProcessError as error:
        if "san" in error.stderr:
            pytest.skip(f"no sanitizers here: {error.stderr[-200:]}")
        raise AssertionError(error.stderr) from error


def arguments(sources: NativeSources, seed: int, calls: int) -> list[str]:
    """The command line of the drivers ``fuzz2`` and ``fuzz3`` for a number of random calls."""
    states = sum(bool(v.derivative_of) for v in sources.interface.variables)
    indicators = len(sources.indicators)
    numbers = (len(sources.interface.variables), states, indicators, seed, calls)
    sizes = {a.reference: len(a.elements) for a in arrays_of(sources.interface.variables)}
    sizes_by_reference = ",".join(str(sizes.get(i, 0)) for i in range(numbers[0]))
    return [sources.token, *map(str, numbers), *([sizes_by_reference] if sources.version == 3 else [])]
