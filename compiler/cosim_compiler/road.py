"""How kernel functions are compiled: the environment variable ``COSIM_COMPILER``."""

from __future__ import annotations

import functools
import os

from cosim_compiler.errors import ContractError

VARIABLE = "COSIM_COMPILER"
LLVM, C, PLAIN = "llvm", "c", "plain"
ROADS = {
    LLVM: "machine code, by LLVM",
    C: "machine code, by C and the C compiler of this computer",
    PLAIN: "none: kernel functions run as plain Python",
}


@functools.cache
def road() -> str:
    """The road that the environment named when this process asked first; LLVM if it named none.

    Raises
    ------
    ContractError
    """
    named = os.environ.get(VARIABLE, "") or LLVM
    if named not in ROADS:
        listed = "; ".join(f"{name} ({description})" for name, description in ROADS.items())
        raise ContractError(f"{VARIABLE}={named}: there is no such compiler; there are {listed}")
    return named
