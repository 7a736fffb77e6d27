"""A process: prints every model-independent function of the product as LLVM IR, as C and as plain Python.

Writes the number of functions and the faults of those that cannot be printed.
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

GROUP = 50
"""The number of functions of one program; all functions in one program would take ten times as long."""
Member = Any
"""A function and its signature."""
digest_of = unit_digests.digest_of
used: dict[tuple[Any, ...], None] = {}


def listing_digest_of(kind: str, members: Any) -> str:
    """The digest of a unit; also lists its functions as used."""
    for member in members:
        used[kind, *member] = None
    return digest_of(kind, members)


def print_all(members: Sequence[Member]) -> None:
    """Print functions as one program, so that helpers of several functions are read and printed once."""
    program = Program()
    roots = [(program.root(*each), each[1]) for each in members]
    entries = [(f"cosim_entry_{i}", *root) for i, root in enumerate(roots)]
    assert text_for_llvm(program, entries)
    assert text_in_c(program, entries)
    assert all(map(shown, program.functions))


def faults_of(print_members: Callable[[Sequence[Member]], object], members: Sequence[Member]) -> list[str]:
    """The functions that cannot be printed; if a group fails, each of its functions is printed alone."""
    try:
        print_members(members)
    except Exception as error:
        if len(members) > 1:
            return [fault for each in members for fault in faults_of(print_members, [each])]
        ((function, signature),) = members
        return [f"{function.__qualname__} {signature}: {type(error).__name__}: {error}"]
    return []


units.digest_of = unit_digests.digest_of = listing_digest_of
use_all()
lowered = [member for kind, *member in used if kind == units.TEXTS]
compiled = [member for kind, *member in used if kind != units.TEXTS]
faults = [
    fault
    for print_members, members in ((text_of, lowered), (print_all, compiled))
    for first in range(0, len(members), GROUP)
    for fault in faults_of(print_members, members[first : first + GROUP])
]
print(json.dumps({"functions": len(used), "faults": faults}))
