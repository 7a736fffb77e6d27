"""Every function of the product that belongs to no model is printed as LLVM's text, as C and as plain Python.

Writes how many there were, and what could not be printed.
"""

from __future__ import annotations

import json
from typing import Any

from corpus import use_all

from cosim_compiler import units
from cosim_compiler.code import text_for_llvm, text_in_c
from cosim_compiler.language.program import Program
from cosim_compiler.printers.llvm_lowered import text_of
from cosim_compiler.printers.plain_text import shown

digest = units._digest
used: dict[tuple[Any, ...], None] = {}


def noted_digest(what: str, wanted: Any) -> str:
    """Also notes whose digest is asked for."""
    for item in wanted:
        used[what, *item] = None
    return digest(what, wanted)


def print_all(function: Any, signature: str) -> None:
    program = Program()
    root = program.root(function, signature)
    assert text_for_llvm(program, [("cosim_entry", root, signature)])
    assert text_in_c(program, [("cosim_entry", root, signature)])
    assert all(map(shown, program.functions))


units._digest = noted_digest
use_all()
faults = []
for what, function, signature in used:
    try:
        if what == units.TEXTS:
            assert text_of([(function, signature)])
        else:
            print_all(function, signature)
    except Exception as error:
        faults.append(f"{function.__qualname__} {signature}: {type(error).__name__}: {error}")
print(json.dumps({"functions": len(used), "faults": faults}))
