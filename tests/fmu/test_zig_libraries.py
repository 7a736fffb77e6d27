"""Libraries that zig links for Linux need the C library alone, and are linked from shipped object files."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

import cosim
from cosim_compiler import shipped
from cosim_export.native import compilers
from cosim_export.native.compilers import OBJECTS, Library, ZigCompiler
from cosim_export.native.platforms import PLATFORMS, own_platform

pytest.importorskip("ziglang")
LINUX = PLATFORMS["linux64"]
DECLARATION = '#include <math.h>\n__attribute__((visibility("default"))) double wave(double x);\n'
SINE = DECLARATION + "double wave(double x) { return sin(x); }\n"
UNDEFINED_FUNCTION = DECLARATION + "double tide(double x);\ndouble wave(double x) { return tide(x); }\n"


def link_library(source_text: str, folder: Path) -> bytes:
    """The library for Linux that zig links from ``wave.c`` with this text."""
    source = folder / "wave.c"
    source.write_text(source_text, "utf-8")
    library = Library([source], folder, [], LINUX.targets[0], LINUX.suffix)
    return ZigCompiler().build(library, folder).read_bytes()


@pytest.fixture
def empty_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The archive of shipped files is empty, in a folder of the test."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    monkeypatch.delenv("COSIM_NO_SHIPPED", raising=False)
    shipped._archive.cache_clear()
    yield
    shipped._archive.cache_clear()


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Each command of zig that the test runs: its words, of paths the last part."""
    commands: list[list[str]] = []
    run = compilers._run

    def record_and_run(command: list[str], folder: Path) -> None:
        commands.append([Path(word).name for word in command])
        run(command, folder)

    monkeypatch.setattr(compilers, "_run", record_and_run)
    return commands


@pytest.mark.usefixtures("empty_archive")
def test_shipped_object_files_are_linked_in_place_of_their_sources(
    tmp_path: Path, commands: list[list[str]]
) -> None:
    """The library has the same bytes either way; a source that was edited since is compiled again."""
    # ship an object file for each target
    (tmp_path / "wave.c").write_text(SINE, "utf-8")
    objects = ZigCompiler().shell_objects([tmp_path / "wave.c"], tmp_path)
    assert len(objects) == sum(len(platform.targets) for platform in PLATFORMS.values())
    commands.clear()

    # link without the shipped files, with them, and with them after an edit
    compiled_library = link_library(SINE, tmp_path)
    shipped._archive.cache_clear()
    shipped.write(OBJECTS, objects)
    linked_library = link_library(SINE, tmp_path)
    link_library(SINE + "/* edited */", tmp_path)
    inputs = [("wave.c" in command, "wave.o" in command) for command in commands]
    assert inputs == [(True, False), (False, True), (True, False)]
    assert linked_library == compiled_library

    # the library computes a sine
    path = tmp_path / "linked.so"
    path.write_bytes(linked_library)
    if own_platform() == LINUX.name:
        wave = ctypes.CDLL(str(path)).wave
        wave.restype, wave.argtypes = ctypes.c_double, [ctypes.c_double]
        assert wave(0.5) == math.sin(0.5)


def test_zig_compiles_no_runtime_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions like sin come from libm; zig's cache has no libcompiler_rt.a and the like."""
    cache = tmp_path / "cache"
    for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        monkeypatch.setenv(name, str(cache))
    library = link_library(SINE, tmp_path)
    assert library.startswith(b"\x7fELF")
    assert b"libm.so.6\0" in library
    assert [path.name for path in cache.rglob("lib*_rt.a")] == []


def test_a_function_that_no_library_defines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cosim.CosimError, match="tide"):
        link_library(UNDEFINED_FUNCTION, tmp_path)
