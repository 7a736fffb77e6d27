"""Compile what belongs to no model into the package that is used here: ``python release/ship.py [--all]``.

Without ``--all`` what most runs need: the Step, the method that is taken where none is named, constraints.
"""

from __future__ import annotations

import os
import sys
import time

from cosim.registration.plugin_index import index_to_ship
from cosim.registration.shipped_index import INDEX
from cosim_compiler import machine, shipped, units
from cosim_compiler.sources import clean_sources
from cosim_export.native.compilers import OBJECTS

os.environ[machine.PLAINEST] = "1"
os.environ["COSIM_COMPILER"] = "llvm"


def main() -> None:
    """Use the functions, and keep what was used."""
    import corpus

    began = time.process_time()
    others = {}
    if "--all" in sys.argv[1:]:
        corpus.use_all()
        others[OBJECTS] = corpus.shell_objects()
    else:
        corpus.use_the_step()
    others[INDEX] = index_to_ship()
    others[shipped.FACTS] = clean_sources.facts_of_sources()
    for kind, pieces in {**units.used, **others}.items():
        path = shipped.write(kind, pieces)
        print(f"{path}: {len(pieces)}, {path.stat().st_size // 1024} kB")
    print(f"{time.process_time() - began:.0f} s")


if __name__ == "__main__":
    main()
