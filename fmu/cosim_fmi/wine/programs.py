"""The library for Linux and the program for Windows, compiled by zig when they are wanted first."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from cosim.kit import python_command, read_cached, run_process, write_cached

SOURCES = Path(__file__).parent
SHARED = ("functions.h", "bytes.c")
FLAGS = ("-std=gnu11", "-O2", "-s")
PROGRAM = ("server.c", "x86_64-windows-gnu", ())
BRIDGE = ("bridge.c", "x86_64-linux-gnu.2.17", ("-shared", "-fPIC", "-fvisibility=hidden", "-pthread"))
SECONDS_TO_COMPILE = 900.0
"""The first time zig compiles Windows' start-up code, too."""
INSTALL_WINE = "install it: apt install wine (Debian, Ubuntu), dnf install wine (Fedora)"
INSTALL_ZIG = "pip install 'cosim-framework[native]'"


class NoWineError(Exception):
    """Why no FMU for Windows runs here."""


def wine_program() -> str:
    """Path of wine.

    Raises
    ------
    NoWineError
    """
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"):
        raise NoWineError("wine = true works only on Linux on x86-64")
    program = shutil.which("wine64") or shutil.which("wine")
    if program is None:
        raise NoWineError(f"needs wine, which is not installed here: {INSTALL_WINE}")
    return program


@cache
def compiled_programs() -> tuple[bytes, bytes]:
    """The library for Linux, and the program for Windows.

    Raises
    ------
    NoWineError
    """
    if importlib.util.find_spec("ziglang") is None:
        raise NoWineError(f"needs the compiler zig once, which is not installed here: {INSTALL_ZIG}")
    return _compiled(*BRIDGE), _compiled(*PROGRAM)


def _compiled(source: str, target: str, options: tuple[str, ...]) -> bytes:
    made_of = [(SOURCES / name).read_text("utf-8") for name in (source, *SHARED)]
    version = f"ziglang {importlib.metadata.version('ziglang')}"
    digest = hashlib.sha256("\0".join(["wine", version, target, *FLAGS, *options, *made_of]).encode())
    name = digest.hexdigest()
    program = read_cached(name)
    if program is not None:
        return program
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "made"
        files = [str(SOURCES / file) for file in (source, "bytes.c")]
        words = python_command("-m", "ziglang", "cc", "-target", target, *FLAGS, *options)
        try:
            done = run_process(
                [*words, "-o", str(result), *files],
                capture_output=True,
                text=True,
                timeout=SECONDS_TO_COMPILE,
            )
        except subprocess.TimeoutExpired:
            raise NoWineError(f"zig did not compile {source} within {SECONDS_TO_COMPILE:g} s") from None
        if done.returncode or not result.exists():
            raise NoWineError(f"zig cannot compile {source}: {done.stderr.strip()[-500:]}")
        program = result.read_bytes()
    write_cached(name, program)
    return program
