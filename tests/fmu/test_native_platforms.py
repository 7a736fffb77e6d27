"""Libraries for other platforms have the right form and functions, and run under wine and qemu."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from export_parts import Oscillator
from export_tools import running
from native_tools import needs_compiler

import cosim
from cosim_export.native.universal_library import FAT_MAGIC, universal_library

pytestmark = [needs_compiler, pytest.mark.thorough]
FUNCTIONS = {
    "fmi2Instantiate",
    "fmi2DoStep",
    "fmi2GetReal",
    "fmi2SerializeFMUstate",
    "fmi2GetEventIndicators",
}
# Mach-O: the magic number of 64 bits, load commands, types of processors
MACHO = 0xFEEDFACF
SYMTAB, LOAD_DYLIB, CODE_SIGNATURE = 0x2, 0xC, 0x1D
X86_64, ARM64 = 0x01000007, 0x0100000C
SYMBOLS_OF_THE_LINKER = {"__mh_dylib_header", "___dso_handle"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("ziglang")
    model = cosim.Model("oscillator")
    model.add(Oscillator, "osc")
    target = tmp_path_factory.mktemp("platforms") / "oscillator.fmu"
    return Path(model.export_fmu(target, native=True, platforms="all", all=True))


def library(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def text_at(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def macho_commands(data: bytes) -> list[tuple[int, int]]:
    """The load commands of a Mach-O file: each command and its offset."""
    magic, _, _, _, count, _ = struct.unpack_from("<6I", data)
    assert magic == MACHO
    offset, commands = 32, []  # after the header
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, offset)
        commands.append((command, offset))
        offset += size
    return commands


def macho_symbols(data: bytes) -> dict[str, bool]:
    """The external symbols of a Mach-O file, and whether it defines them."""
    (offset,) = (offset for command, offset in macho_commands(data) if command == SYMTAB)
    symbols, count, strings, _ = struct.unpack_from("<4I", data, offset + 8)
    is_defined = {}
    for i in range(count):
        name, kind, section, _, _ = struct.unpack_from("<IBBHQ", data, symbols + 16 * i)
        if kind & 0x11 == 1:  # external, and not private
            is_defined[text_at(data, strings + name)] = section != 0
    return is_defined


def zig_host(target: str, folder: Path) -> Path:
    """The host of ``c/host.c`` for another platform."""
    program = folder / ("host.exe" if "windows" in target else "host")
    source = Path(__file__).parent / "c" / "host.c"
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-O1"]
    subprocess.run([*zig, str(source), "-o", str(program)], check=True)
    return program


def check_values(path: Path, command: list[str], library: Path, environment: dict[str, str]) -> None:
    """The host computes the values that the FMU has here, except for rounding of another C library."""
    with running(path) as fmu:
        names = ["osc.position", "osc.acceleration"]
        references = [str(fmu.references[name]) for name in names]
        arguments = [str(library), "file:///nowhere", fmu.description.guid, "20", "0.01", "1", *references]
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, env=environment, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines() if line.strip()]
        assert len(rows) == 20
        fmu.start()
        for i in range(20):
            fmu.steps(i, i + 1)
            assert rows[i] == pytest.approx([fmu[name] for name in names], rel=1e-12, abs=1e-14)


def test_the_macos_library_has_both_processors_and_imports_only_the_c_library(path: Path) -> None:
    data = library(path, "binaries/darwin64/oscillator.dylib")
    magic, count = struct.unpack_from(">II", data)
    assert (magic, count) == (FAT_MAGIC, 2)
    processors = set()
    for i in range(count):
        processor, _, start, size, _ = struct.unpack_from(">5I", data, 8 + 20 * i)
        processors.add(processor)
        part = data[start : start + size]
        symbols = macho_symbols(part)
        defined = {name for name, is_defined in symbols.items() if is_defined} - SYMBOLS_OF_THE_LINKER
        assert {f"_{name}" for name in FUNCTIONS} <= defined
        assert all(name.startswith("_fmi2") for name in defined)
        imported = {name for name, is_defined in symbols.items() if not is_defined}
        assert not any("Py" in name or "fmi2" in name or "cosim" in name for name in imported)
        commands = macho_commands(part)
        libraries = [
            text_at(part, offset + struct.unpack_from("<I", part, offset + 8)[0])
            for command, offset in commands
            if command == LOAD_DYLIB
        ]
        assert libraries == ["/usr/lib/libSystem.B.dylib"]
        assert processor != ARM64 or CODE_SIGNATURE in dict(commands)  # ARM64 runs signed code only
    assert processors == {X86_64, ARM64}


def test_arm_linux_is_a_shared_library_with_the_functions(path: Path) -> None:
    data = library(path, "binaries/aarch64-linux/oscillator.so")
    assert data[:4] == b"\x7fELF" and struct.unpack_from("<HH", data, 16) == (3, 183)  # ET_DYN, EM_AARCH64
    assert all(name.encode() + b"\0" in data for name in FUNCTIONS)


def test_no_library_holds_a_path_of_the_build(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("binaries/")]
        assert len(names) == 4 and not any(b"cosim_export_" in archive.read(name) for name in names)


def test_a_universal_library_of_one_processor_is_that_library() -> None:
    assert universal_library([b"abc"]) == b"abc"


def test_windows_under_wine(path: Path, tmp_path: Path) -> None:
    data = library(path, "binaries/win64/oscillator.dll")
    assert data[:2] == b"MZ" and all(name.encode() + b"\0" in data for name in FUNCTIONS)
    wine = shutil.which("wine64") or shutil.which("wine") or shutil.which("/usr/lib/wine/wine64")
    if wine is None:
        pytest.skip("no wine here")
    dll = tmp_path / "oscillator.dll"
    dll.write_bytes(data)
    host = zig_host("x86_64-windows-gnu", tmp_path)
    environment = {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "PATH": "/usr/bin:/bin"}
    check_values(path, [wine, str(host)], dll, environment)


def test_arm_linux_under_qemu(path: Path, tmp_path: Path) -> None:
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    root = Path(qemu or "/usr/bin/qemu").parents[1] / "aarch64-linux-gnu"  # Debian: libc6-arm64-cross
    if qemu is None or not (root / "lib" / "ld-linux-aarch64.so.1").exists():
        pytest.skip("no qemu-user with the C library of arm64 here")
    shared = tmp_path / "oscillator.so"
    shared.write_bytes(library(path, "binaries/aarch64-linux/oscillator.so"))
    host = zig_host("aarch64-linux-gnu.2.28", tmp_path)
    check_values(path, [qemu, "-L", str(root), str(host)], shared, {"PATH": "/usr/bin:/bin"})
