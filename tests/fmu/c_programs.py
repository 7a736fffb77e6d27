"""Programs and libraries in C that tests use: compiled once on a machine, then kept."""

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
    """The machine's own; the test is skipped where there is none."""
    found = shutil.which("gcc") or shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler (gcc or cc)")
    return found


def build(target: Path, flags: Sequence[str], files: Sequence[Path], headers: Sequence[Path] = ()) -> Path:
    """Compile and link files of C and objects into `target`, which a run before may have made.

    Parameters
    ----------
    target : Path
    flags : sequence of str
        No folders among them: what counts is what is in the files.
    files : sequence of Path
        In the order in which the linker is given them, ahead of libraries (``-l…``) among the flags.
    headers : sequence of Path
        Folders.
    """
    program = kit.read_cached(digest := _digest([*flags], files, headers))
    if program is None:
        libraries = [flag for flag in flags if flag.startswith("-l")]
        others = [flag for flag in flags if not flag.startswith("-l")]
        given: Sequence[Path] = files
        if len(files) > 1:  # several programs have most of them
            given = [_compiled(file, others, headers, target.parent) for file in files]
        _run([*others, *(f"-I{folder}" for folder in headers), "-o", target, *given, *libraries])
        kit.write_cached(digest, target.read_bytes())
    else:
        target.write_bytes(program)
        target.chmod(0o755)
    return target


def _compiled(file: Path, flags: Sequence[str], headers: Sequence[Path], folder: Path) -> Path:
    """The object file of a file of C, in a folder; other files are what they are."""
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
    included = [path for folder in (SOURCES, *headers) for path in sorted(folder.glob("*.h"))]
    digest = hashlib.sha256(repr([_version(), list(flags)]).encode())
    for path in (*files, *included):
        content = path.read_bytes()
        digest.update(f"{path.suffix} {len(content)}\0".encode() + content)
    return digest.hexdigest()


def _run(words: Sequence[str | Path]) -> None:
    subprocess.run([c_compiler(), *map(str, words)], check=True, capture_output=True, text=True)


@functools.cache
def _version() -> str:
    return subprocess.run([c_compiler(), "--version"], capture_output=True, text=True, check=True).stdout
