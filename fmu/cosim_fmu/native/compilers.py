"""C compilers: zig's, which makes libraries for every platform, or the machine's own, for its own."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import cosim
from cosim.kit import MachineCode
from cosim_fmu.native.platforms import PLATFORMS, Platform, Target, own_platform

FLAGS = (
    "-std=c11",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",  # a product and a sum stay two roundings, as in Python
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
)
LINK_FLAGS = ("-shared", "-s")
INSTALL = "Install one for all platforms: pip install 'cosim-framework[native]'"


class Compiler(ABC):
    """Makes shared libraries of C files and of compiled functions."""

    name: ClassVar[str]

    @abstractmethod
    def platforms(self) -> list[str]:
        """Names of the platforms that it makes libraries for."""

    @abstractmethod
    def library(
        self,
        sources: Sequence[Path],
        headers: Path,
        code: MachineCode,
        target: Target,
        suffix: str,
        folder: Path,
    ) -> Path:
        """Build a library in a folder.

        Raises
        ------
        cosim.CosimError
            The compiler refuses, with what it says.
        """


class ZigCompiler(Compiler):
    """The C compiler in the package ``ziglang``: every platform from one machine."""

    name: ClassVar[str] = "ziglang"

    def platforms(self) -> list[str]:
        """All."""
        return list(PLATFORMS)

    def library(
        self,
        sources: Sequence[Path],
        headers: Path,
        code: MachineCode,
        target: Target,
        suffix: str,
        folder: Path,
    ) -> Path:
        """By ``python -m ziglang cc``."""
        text = folder / "code.ll"
        text.write_text(str(code), "utf-8")
        library = folder / f"library{suffix}"
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "cc",
            "-target",
            target.zig,
            *FLAGS,
            *LINK_FLAGS,
            f"-I{headers}",
        ]
        if suffix == ".dylib":  # else it would hold the path of this folder
            command.append(f"-Wl,-install_name,@rpath/{library.name}")
        _run([*command, "-Wno-override-module", "-o", str(library), *map(str, sources), str(text)], folder)
        return library


class OwnCompiler(Compiler):
    """The machine's own ``cc``, ``gcc`` or ``clang``."""

    name: ClassVar[str] = "the machine's C compiler"

    def __init__(self, command: str) -> None:
        self.command = command

    def platforms(self) -> list[str]:
        """The one of this machine."""
        own = own_platform()
        return [] if own is None or own == "darwin64" else [own]

    def library(
        self,
        sources: Sequence[Path],
        headers: Path,
        code: MachineCode,
        target: Target,
        suffix: str,
        folder: Path,
    ) -> Path:
        """LLVM writes the object file of the compiled functions, the compiler the rest."""
        functions = folder / "code.o"
        functions.write_bytes(code.object_file())
        library = folder / f"library{suffix}"
        last = ["-o", str(library), *map(str, sources), str(functions), "-lm"]
        _run([self.command, *FLAGS, *LINK_FLAGS, f"-I{headers}", "-Wl,--build-id=none", *last], folder)
        return library


@cache
def available_compilers() -> tuple[Compiler, ...]:
    """Those of this machine, best first."""
    found: list[Compiler] = []
    if importlib.util.find_spec("ziglang") is not None:
        found.append(ZigCompiler())
    command = next((c for name in ("cc", "gcc", "clang") if (c := shutil.which(name))), None)
    if command is not None and sys.platform != "win32":
        found.append(OwnCompiler(command))
    return tuple(found)


def compilers_for(platforms: Sequence[Platform], available: Sequence[Compiler]) -> dict[str, Compiler]:
    """A compiler for each platform, the first that fits.

    Raises
    ------
    ModelError
        For every platform that none here makes libraries for.
    """
    chosen = {p.name: next((c for c in available if p.name in c.platforms()), None) for p in platforms}
    missing = [name for name, compiler in chosen.items() if compiler is None]
    if missing:
        here = [name for c in available for name in c.platforms()]
        text = "there is no C compiler here. "
        if here:
            text = (
                f"no C compiler here makes a library for it: the machine's own does for {', '.join(here)}. "
            )
        raise cosim.ModelError([cosim.Problem(f"platform {name}", text + INSTALL) for name in missing])
    return {name: compiler for name, compiler in chosen.items() if compiler is not None}


def default_platforms() -> list[str]:
    """That of this machine; `ModelError` where no compiler here makes a library for it."""
    here = {name for compiler in available_compilers() for name in compiler.platforms()}
    own = own_platform()
    if not here:
        raise cosim.ModelError.of("native", f"there is no C compiler here. {INSTALL}")
    if own is None or own not in here:
        raise cosim.ModelError.of("native", f"there is no C compiler here for this machine. {INSTALL}")
    return [own]


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise cosim.CosimError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).splitlines()[:20])
        raise cosim.CosimError(f"the C compiler failed ({' '.join(command[:4])} …):\n{said}")
