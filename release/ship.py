"""Compile what belongs to no model into the package that is installed here: ``python release/ship.py``.

Needs the package with its dependencies, and a C compiler that links. See `shipping`.
"""

from __future__ import annotations

import os
import sys
import time

os.environ["NUMBA_DISABLE_JIT"] = "1"  # asking must compile nothing

import corpus
import shipping

from cosim.compiled import shipped, shipped_texts


def main() -> None:
    """Make the library, and say what it is."""
    began, shown = time.perf_counter(), sys.stdout.isatty()
    with shipping.collected() as wanted:
        corpus.ask_for_all()
    print(f"{len(wanted)} functions are asked for ({time.perf_counter() - began:.0f} s)", flush=True)

    def progress(done: int, of: int) -> None:
        if shown:
            print(f"\r{done} of {of}", end="", flush=True)

    paths = shipped.PATH, shipped_texts.PATH
    counts = shipping.make_library(wanted, *paths, progress=progress)
    for path, count in zip(paths, counts, strict=True):
        print(f"\r{path}: {count} functions, {path.stat().st_size // 1024} kB")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
