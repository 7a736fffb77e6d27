"""Other co-simulation tools, each in an environment of the benchmarks.

Without ``COSIM_PEERS`` the environments are made, which takes long and needs a package index.
"""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pluggy

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CLIENTS = {  # environment, script, step, whether variables are numbers there, packages that it lacks
    "libcosim": ("libcosimpy", "client_libcosim.py", "10000000", True, (np, pluggy)),
    "ecos": ("ecospy", "client_ecos.py", "0.01", False, (np, pluggy)),
    "CoFMUPy": ("cofmupy", "client_cofmupy.py", "0.01", False, (pluggy,)),
}


def peers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers_of_benchmarks", BENCHMARKS / "peers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
