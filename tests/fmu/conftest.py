"""Small FMUs, compiled from the C sources beside this file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from c_programs import SOURCES, build, c_compiler
from small_fmus import write_fmu


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile ``c/<kind>.c`` with the given macros defined; each variant once in a run."""
    c_compiler()
    folder = tmp_path_factory.mktemp("libraries")

    def compile_library(kind: str, *macros: str) -> Path:
        library = folder / ("_".join([kind, *macros]) + ".so")
        if not library.exists():
            flags = ["-O2", "-std=c99", "-Wall", "-fPIC", "-shared", "-ffp-contract=off", "-lm"]
            build(library, [*flags, *(f"-D{macro}" for macro in macros)], [SOURCES / f"{kind}.c"])
        return library

    return compile_library


@pytest.fixture
def make_fmu(tmp_path: Path, compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Make an FMU of a C source: ``make_fmu("gain", name="loud", macros=("ONLY_NEEDED",))``."""

    def make(kind: str, *, name: str = "", macros: tuple[str, ...] = (), **description: object) -> Path:
        return write_fmu(tmp_path / f"{name or kind}.fmu", kind, compiled(kind, *macros), **description)

    return make
