"""Every function of the product that belongs to no model is printed as LLVM's text, as C and as plain Python.

Writes how many there were, and what could not be printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from corpus import use_all

from cosim_compiler import unit_digests, units
from cosim_compiler.code import text_for_llvm, text_in_c
from cosim_compiler.language.program import Program
from cosim_compiler.printers.llvm_lowered import text_of
from cosim_compiler.printers.plain_text import shown

TOGETHER = 50
"""So many functions are one program: of all of them it takes ten times as long."""
Wanted = Any
"""A function and its signature."""
digest = unit_digests.digest_of
used: dict[tuple[Any, ...], None] = {}


def noted_digest(kind: str, wanted: Any) -> str:
    """Also notes whose digest is asked for."""
    for item in wanted:
        used[kind, *item] = None
    return digest(kind, wanted)


def print_all(wanted: Sequence[Wanted]) -> None:
    """Functions as one program: helpers that several call are read and printed once."""
    program = Program()
    roots = [(program.root(*each), each[1]) for each in wanted]
    entries = [(f"cosim_entry_{i}", *root) for i, root in enumerate(roots)]
    assert text_for_llvm(program, entries)
    assert text_in_c(program, entries)
    assert all(map(shown, program.functions))


def faults_of(print_them: Callable[[Sequence[Wanted]], object], wanted: Sequence[Wanted]) -> list[str]:
    """What cannot be printed; where something cannot, each is printed alone."""
    try:
        print_them(wanted)
    except Exception as error:
        if len(wanted) > 1:
            return [fault for each in wanted for fault in faults_of(print_them, [each])]
        ((function, signature),) = wanted
        return [f"{function.__qualname__} {signature}: {type(error).__name__}: {error}"]
    return []


units.digest_of = unit_digests.digest_of = noted_digest
use_all()
lowered = [each for what, *each in used if what == units.TEXTS]
compiled = [each for what, *each in used if what != units.TEXTS]
faults = [
    fault
    for print_them, wanted in ((text_of, lowered), (print_all, compiled))
    for first in range(0, len(wanted), TOGETHER)
    for fault in faults_of(print_them, wanted[first : first + TOGETHER])
]
print(json.dumps({"functions": len(used), "faults": faults}))
