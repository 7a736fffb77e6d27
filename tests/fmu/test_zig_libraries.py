"""Libraries that zig links for Linux need the C library alone; zig compiles nothing of its own for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim
from cosim_export.native.compilers import PLATFORMS, Library, ZigCompiler

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
