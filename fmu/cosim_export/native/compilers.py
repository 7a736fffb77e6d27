"""C compilers: zig's, which makes libraries for every platform, or the machine's own."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
import logging
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

import cosim
from cosim.kit import python_command, read_cached, run_process, shipped_content, write_cached
from cosim_export.native.platforms import PLATFORMS, Platform, Target, own_platform
from cosim_lowering.machine_code import MachineCode, own_target
from cosim_lowering.machine_code import Target as MachineTarget

log = logging.getLogger("cosim.native")
FLAGS = (
    "-std=c11",
    "-O1",  # the shell is seldom run, and compiled for each export: a third less time than -O2
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",  # a product and a sum stay two roundings, as in Python
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wno-unused-parameter",  # the signatures are those of FMI
)
LINK_FLAGS = ("-shared", "-s")
OBJECTS = "objects"
"""The kind of shipped contents that are object files of the shell."""
LOADING = ("-Wl,--as-needed", "-ldl")
"""Options for libraries that load others, in C libraries older than glibc 2.34."""
OF_LINUX = ("-nostdlib", "-lc", "-lm", "-Wl,-z,defs", *LOADING)
"""Link with the C library only: zig would first compile a runtime, which is not needed, as `defs` checks."""
INSTALL = "Install one for all platforms: pip install 'cosim-framework[native]'"


class Library(NamedTuple):
    """The parts of a shared library and its target."""

    sources: Sequence[Path]
    headers: Path
    codes: Sequence[MachineCode]
    target: Target
    suffix: str


class Compiler(ABC):
    """Makes shared libraries of C files and of compiled functions."""

    name: ClassVar[str]

    @abstractmethod
    def platforms(self) -> list[str]:
        """Names of the platforms for which it makes libraries."""

    @abstractmethod
    def version(self) -> str:
        """A text that changes with the compiler, on which its libraries depend."""

    @abstractmethod
    def build(self, parts: Library, folder: Path) -> Path:
        """Build a library in a folder.

        Raises
        ------
        cosim.CosimError
            The compiler fails; the error holds its output.
        """

    def library(self, parts: Library, folder: Path) -> bytes:
        """The content of a library that `build` makes, from the cache if all its inputs are the same."""
        texts = [source.read_text("utf-8") for source in parts.sources]
        inputs = [
            self.version(),
            _headers(parts.headers),
            texts,
            [code.digest for code in parts.codes],
            [parts.target.zig, parts.target.llvm],
        ]
        digest = _digest("library", *inputs, parts.suffix)
        library = read_cached(digest)
        if library is None:
            library = self.build(parts, folder).read_bytes()
            write_cached(digest, library)
        return library


def write_objects(codes: Sequence[MachineCode], target: MachineTarget, folder: Path) -> list[Path]:
    """Write the object files of compiled functions into a folder."""
    files = list[Path]()
    for code in codes:
        for data in code.objects(target):
            files.append(folder / f"code_{len(files)}.o")
            files[-1].write_bytes(data)
    return files


class ZigCompiler(Compiler):
    """The C compiler in the package ``ziglang``: every platform from one machine."""

    name: ClassVar[str] = "ziglang"

    def platforms(self) -> list[str]:
        """All platforms: it compiles for each of them."""
        return list(PLATFORMS)

    def version(self) -> str:
        """The version of the package, and of LLVM, which compiles the functions."""
        return "\n".join(f"{name} {importlib.metadata.version(name)}" for name in ("ziglang", "llvmlite"))

    def build(self, parts: Library, folder: Path) -> Path:
        """Compile and link by ``python -m ziglang cc``; LLVM writes objects of compiled functions."""
        library = folder / f"library{parts.suffix}"
        objects = write_objects(parts.codes, parts.target.machine, folder)
        command = [*python_command("-m", "ziglang", "cc", "-target", parts.target.zig), *FLAGS]
        command += [*LINK_FLAGS, f"-I{parts.headers}"]
        sources = [self._shipped_object(source, parts, folder) or source for source in parts.sources]
        link_options = OF_LINUX if parts.suffix == ".so" else ()
        if parts.suffix == ".dylib":  # otherwise the library would contain the path of this folder
            command.append(f"-Wl,-install_name,@rpath/{library.name}")
        _run([*command, "-o", str(library), *map(str, [*objects, *sources]), *link_options], folder)
        return library

    def shell_objects(self, sources: Sequence[Path], headers: Path) -> dict[str, bytes]:
        """Object files of the shell for every platform, by digest: the wheel of a release contains them."""
        targets = [target.zig for platform in PLATFORMS.values() for target in platform.targets]
        objects = {}
        with tempfile.TemporaryDirectory(prefix="cosim_shell_") as name:
            object_file = Path(name) / "shell.o"
            for target, source in itertools.product(targets, sources):
                command = [*python_command("-m", "ziglang", "cc", "-target", target), *FLAGS, "-g0"]
                _run([*command, f"-I{headers}", "-c", "-o", str(object_file), str(source)], Path(name))
                objects[self._digest_in_shell(source, headers, target)] = object_file.read_bytes()
        return objects

    def _shipped_object(self, source: Path, parts: Library, folder: Path) -> Path | None:
        """The object file of a C file of the shell, if the wheel contains it for this compiler."""
        digest = self._digest_in_shell(source, parts.headers, parts.target.zig)
        code = shipped_content(OBJECTS, digest)
        if code is None:
            return None
        target = folder / f"{source.stem}.o"
        target.write_bytes(code)
        return target

    def _digest_in_shell(self, source: Path, headers: Path, target: str) -> str:
        version = importlib.metadata.version("ziglang")
        return _digest(OBJECTS, version, _headers(headers), source.read_text("utf-8"), target)


class OwnCompiler(Compiler):
    """The machine's own ``cc``, ``gcc`` or ``clang``."""

    name: ClassVar[str] = "the machine's C compiler"

    def __init__(self, command: str) -> None:
        self.command = command

    def platforms(self) -> list[str]:
        """The platform of this machine."""
        platform = own_platform()
        return [] if platform is None or platform == "darwin64" else [platform]

    def version(self) -> str:
        """The version of the compiler, and of LLVM, which compiles the functions."""
        return f"{_read_version(self.command)}\nllvmlite {importlib.metadata.version('llvmlite')}"

    def build(self, parts: Library, folder: Path) -> Path:
        """Compile and link by the compiler; LLVM writes the object files of compiled functions."""
        objects = write_objects(parts.codes, own_target(), folder)
        for i, source in enumerate(parts.sources):
            log.info("building C file %d of %d, %s", i + 1, len(parts.sources), source.name)
            objects.append(folder / f"{source.stem}.o")
            objects[-1].write_bytes(self._object_file(source, parts.headers, folder))
        library = folder / f"library{parts.suffix}"
        files_and_libraries = ["-o", str(library), *map(str, objects), "-lm", *LOADING]
        _run([self.command, *LINK_FLAGS, "-Wl,--build-id=none", *files_and_libraries], folder)
        return library

    def _object_file(self, source: Path, headers: Path, folder: Path) -> bytes:
        """The object file of a C file, from the cache if it is there: all FMUs share most files."""
        digest = _digest("object", self.version(), _headers(headers), source.read_text("utf-8"))
        code = read_cached(digest)
        if code is None:
            target = folder / "compiled.o"
            _run([self.command, *FLAGS, f"-I{headers}", "-c", "-o", str(target), str(source)], folder)
            code = target.read_bytes()
            write_cached(digest, code)
        return code


@cache
def _read_version(command: str) -> str:
    return _capture([command, "--version"], None).stdout


@cache
def _headers(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.h"))}


def _digest(*inputs: object) -> str:
    """A digest of the inputs of a compilation, and of this file, which has the options."""
    options = Path(__file__).read_text("utf-8")
    return hashlib.sha256(json.dumps([options, *inputs]).encode()).hexdigest()


@cache
def available_compilers() -> tuple[Compiler, ...]:
    """The compilers of this machine, best first."""
    compilers: list[Compiler] = []
    if importlib.util.find_spec("ziglang") is not None:
        compilers.append(ZigCompiler())
    command = next((c for name in ("cc", "gcc", "clang") if (c := shutil.which(name))), None)
    if command is not None and sys.platform != "win32":
        compilers.append(OwnCompiler(command))
    return tuple(compilers)


def compilers_for(platforms: Sequence[Platform], available: Sequence[Compiler]) -> dict[str, Compiler]:
    """A compiler for each platform: the first of the available ones that makes libraries for it.

    Raises
    ------
    ModelError
        No compiler makes libraries for some platforms; the error names all of them.
    """
    chosen = {p.name: next((c for c in available if p.name in c.platforms()), None) for p in platforms}
    missing = [name for name, compiler in chosen.items() if compiler is None]
    if missing:
        served = [name for c in available for name in c.platforms()]
        text = "there is no C compiler here. "
        if served:
            text = (
                f"no C compiler here makes a library for it: the machine's own does for {', '.join(served)}. "
            )
        raise cosim.ModelError([cosim.Problem(f"platform {name}", text + INSTALL) for name in missing])
    return {name: compiler for name, compiler in chosen.items() if compiler is not None}


def default_platforms() -> list[str]:
    """The platform of this machine; `ModelError` where no compiler here makes a library for it."""
    served = {name for compiler in available_compilers() for name in compiler.platforms()}
    platform = own_platform()
    if not served:
        raise cosim.ModelError.of("native", f"there is no C compiler here. {INSTALL}")
    if platform is None or platform not in served:
        raise cosim.ModelError.of("native", f"there is no C compiler here for this machine. {INSTALL}")
    return [platform]


def _run(command: list[str], folder: Path) -> None:
    process = _capture(command, folder)
    if process.returncode != 0:
        output = "\n".join((process.stderr or process.stdout).splitlines()[:20])
        raise cosim.CosimError(f"the C compiler failed ({' '.join(command[:4])} …):\n{output}")


def _capture(command: list[str], folder: Path | None) -> subprocess.CompletedProcess[str]:
    try:
        return run_process(command, cwd=folder, capture_output=True, text=True)
    except OSError as error:
        raise cosim.CosimError(f"{command[0]} cannot be run: {error}") from error
