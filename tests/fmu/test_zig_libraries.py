"""Libraries that zig links for Linux need the C library alone; zig compiles nothing of its own for them."""

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
DECLARED = '#include <math.h>\n__attribute__((visibility("default"))) double wave(double x);\n'
SINE = DECLARED + "double wave(double x) { return sin(x); }\n"
UNKNOWN = DECLARED + "double tide(double x);\ndouble wave(double x) { return tide(x); }\n"


def built(text: str, folder: Path) -> bytes:
    source = folder / "wave.c"
    source.write_text(text, "utf-8")
    parts = Library([source], folder, [], LINUX.targets[0], LINUX.suffix)
    return ZigCompiler().build(parts, folder).read_bytes()


@pytest.fixture
def empty_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing has come with the package."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    monkeypatch.delenv("COSIM_NO_SHIPPED", raising=False)
    shipped._archive.cache_clear()
    yield
    shipped._archive.cache_clear()


@pytest.mark.usefixtures("empty_package")
def test_object_files_that_came_are_linked_in_place_of_their_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wave.c").write_text(SINE, "utf-8")
    objects = ZigCompiler().shell_objects([tmp_path / "wave.c"], tmp_path)
    assert len(objects) == sum(len(platform.targets) for platform in PLATFORMS.values())
    linked = list[list[str]]()
    run = compilers._run

    def watched(command: list[str], folder: Path) -> None:
        linked.append([Path(word).name for word in command])
        run(command, folder)

    monkeypatch.setattr(compilers, "_run", watched)
    made_here = built(SINE, tmp_path)
    shipped._archive.cache_clear()
    shipped.write(OBJECTS, objects)
    of_objects = built(SINE, tmp_path)
    built(SINE + "/* edited */", tmp_path)
    assert [("wave.c" in words, "wave.o" in words) for words in linked] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert of_objects == made_here
    library = tmp_path / "came.so"
    library.write_bytes(of_objects)
    if own_platform() == LINUX.name:
        wave = ctypes.CDLL(str(library)).wave
        wave.restype, wave.argtypes = ctypes.c_double, [ctypes.c_double]
        assert wave(0.5) == math.sin(0.5)


def test_zig_compiles_no_functions_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        monkeypatch.setenv(name, str(cache))
    library = built(SINE, tmp_path)
    assert library.startswith(b"\x7fELF")
    assert b"libm.so.6\0" in library
    assert [path.name for path in cache.rglob("lib*_rt.a")] == []


def test_a_function_that_no_library_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cosim.CosimError, match="tide"):
        built(UNKNOWN, tmp_path)
