"""Which compiler makes machine code: ``COSIM_COMPILER``."""

from __future__ import annotations

import functools
import os

from cosim_compiler.errors import ContractError

VARIABLE = "COSIM_COMPILER"
NUMBA, OWN, C, PLAIN = "numba", "own", "c", "plain"
ROADS = {
    NUMBA: "numba",
    OWN: "the compiler of the kernel language, by LLVM",
    C: "the compiler of the kernel language, by C and the C compiler of this computer",
    PLAIN: "none: kernel functions run as plain Python",
}


OWN_ROADS = (OWN, C)
"""Those on which the compiler of the kernel language reads what is compiled."""


@functools.cache
def road() -> str:
    """The one that the environment names when this process asks first; `own` unless it names one.

    Raises
    ------
    ContractError
    """
    named = os.environ.get(VARIABLE, "") or OWN
    if named not in ROADS:
        known = "; ".join(f"{name} ({what})" for name, what in ROADS.items())
        raise ContractError(f"{VARIABLE}={named}: there is no such compiler; there are {known}")
    return named
