"""C programs and libraries of tests, compiled once per machine and then kept in the cache of kernels."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from cosim import kit

SOURCES = Path(__file__).parent / "c"


def c_compiler() -> str:
    """Path of this machine's C compiler; without one, the test is skipped."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (gcc or cc)")
    return compiler


def build(target: Path, flags: Sequence[str], files: Sequence[Path], headers: Sequence[Path] = ()) -> Path:
    """Compile and link C files and objects into `target`, or copy it from the cache.

    Parameters
    ----------
    target : Path
    flags : sequence of str
        Without folders: the key in the cache depends on flags and on contents of files, not on their places.
    files : sequence of Path
        In link order; libraries (``-l…``) among the flags follow them.
    headers : sequence of Path
        Folders of header files.
    """
    program = kit.read_cached(digest := _digest([*flags], files, headers))
    if program is None:
        libraries = [flag for flag in flags if flag.startswith("-l")]
        others = [flag for flag in flags if not flag.startswith("-l")]
        inputs: Sequence[Path] = files
        if len(files) > 1:  # programs of many files share most of them, so each file is compiled once
            inputs = [_object_file(file, others, headers, target.parent) for file in files]
        _run([*others, *(f"-I{folder}" for folder in headers), "-o", target, *inputs, *libraries])
        kit.write_cached(digest, target.read_bytes())
    else:
        target.write_bytes(program)
        target.chmod(0o755)
    return target


def _object_file(file: Path, flags: Sequence[str], headers: Sequence[Path], folder: Path) -> Path:
    """Compile a C file to an object file in `folder`; other files are returned as they are."""
    if file.suffix != ".c":
        return file
    target = folder / f"{file.stem}.o"
    code = kit.read_cached(digest := _digest([*flags, "-c"], [file], headers))
    if code is None:
        _run([*flags, *(f"-I{folder}" for folder in headers), "-c", "-o", target, file])
        kit.write_cached(digest, target.read_bytes())
    else:
        target.write_bytes(code)
    return target


def _digest(flags: Sequence[str], files: Sequence[Path], headers: Sequence[Path]) -> str:
    """The key in the cache, from the compiler's version, the flags and the contents of all files."""
    included = [path for folder in (SOURCES, *headers) for path in sorted(folder.glob("*.h"))]
    digest = hashlib.sha256(repr([_version(), list(flags)]).encode())
    for path in (*files, *included):
        content = path.read_bytes()
        digest.update(f"{path.suffix} {len(content)}\0".encode() + content)
    return digest.hexdigest()


def _run(arguments: Sequence[str | Path]) -> None:
    subprocess.run([c_compiler(), *map(str, arguments)], check=True, capture_output=True, text=True)


@functools.cache
def _version() -> str:
    return subprocess.run([c_compiler(), "--version"], capture_output=True, text=True, check=True).stdout
