"""Compile what belongs to no model into the package that is installed here: ``python release/ship.py``.

Needs the package with its dependencies; see `ship_units`. With ``COSIM_COMPILER=numba`` it makes what numba
finds, and needs a C compiler that links; see `shipping`. What was compiled before is found again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # asking must compile nothing

import shipping

from cosim_compiler import kernel_cache, shipped, shipped_texts, shipped_units
from cosim_compiler.road import NUMBA, road

ROOT = Path(__file__).parents[1]
PATHS = shipped.PATH, shipped_texts.PATH


def digest_of_all(root: Path = ROOT) -> str:
    """Of every source, every package and what links: all that the library depends on."""
    packages = {f"{found.name} {found.version}" for found in importlib.metadata.distributions()}
    said = [sys.version, platform.platform(), shipping.linker(), *sorted(packages)]
    digest = hashlib.sha256(repr(said).encode())
    for name in ("cosim", "compiler", "plugins", "fmu", "release"):
        for path in sorted((root / name).rglob("*.py")):
            digest.update(repr((path.relative_to(root).as_posix(), path.read_bytes())).encode())
    return digest.hexdigest()


def make() -> None:
    """Make the library, and say what it is."""
    import corpus
    import ship_units

    began, shown = time.perf_counter(), sys.stdout.isatty()
    with shipping.collected() as wanted:
        corpus.ask_for_all()
    print(f"{len(wanted)} functions are asked for ({time.perf_counter() - began:.0f} s)", flush=True)

    def progress(done: int, of: int) -> None:
        if shown:
            print(f"\r{done} of {of}", end="", flush=True)

    paths: tuple[Path, ...] = (shipped_units.PATH,)
    if road() == NUMBA:
        paths, counts = PATHS, shipping.make_library(wanted, *PATHS, progress=progress)
    else:
        counts = (ship_units.make_units(wanted, *paths, progress=progress),)
    for path, count in zip(paths, counts, strict=True):
        print(f"\r{path}: {count} functions, {path.stat().st_size // 1024} kB")
    print(f"{time.perf_counter() - began:.0f} s")


def main() -> None:
    """Make the units; find numba's library, or make and keep it."""
    if road() != NUMBA:
        make()
        return
    digest = digest_of_all()
    kept = kernel_cache.kept(digest)
    if kept is None:
        make()
        library, texts = (path.read_bytes() for path in PATHS)
        kernel_cache.keep(digest, b"%d\n" % len(library) + library + texts)
        return
    size, _, rest = kept.partition(b"\n")
    for path, content in zip(PATHS, (rest[: int(size)], rest[int(size) :]), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        shipping.write_anew(path, content)
        print(f"{path}: found, {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
