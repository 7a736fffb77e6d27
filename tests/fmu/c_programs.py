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
    included = [path for folder in (SOURCES, *headers) for path in sorted(folder.glob("*.h"))]
    digest = hashlib.sha256(repr([_version(), list(flags)]).encode())
    for path in (*files, *included):
        content = path.read_bytes()
        digest.update(f"{path.suffix} {len(content)}\0".encode() + content)
    program = kit.kept(digest.hexdigest())
    if program is None:
        libraries = [flag for flag in flags if flag.startswith("-l")]
        others = [flag for flag in flags if not flag.startswith("-l")]
        given = [*others, *(f"-I{folder}" for folder in headers), "-o", str(target), *map(str, files)]
        subprocess.run([c_compiler(), *given, *libraries], check=True, capture_output=True, text=True)
        kit.keep(digest.hexdigest(), target.read_bytes())
    else:
        target.write_bytes(program)
        target.chmod(0o755)
    return target


@functools.cache
def _version() -> str:
    return subprocess.run([c_compiler(), "--version"], capture_output=True, text=True, check=True).stdout
