"""Machine code of a program, by LLVM or by the C compiler of this computer.

What reads and prints programs is imported when something has to be compiled.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cosim_compiler import c_machine, machine
from cosim_compiler.road import C, road

if TYPE_CHECKING:
    from cosim_compiler.language.program import Program
    from cosim_compiler.language.typed_form import Function

    Entry = tuple[str, Function, str]
    """Symbol, function and signature of what others call."""


@dataclass(frozen=True)
class Coder:
    """One way to machine code.

    Attributes
    ----------
    text : callable
        The text of a program and of its entries.
    code : callable
        What is kept and loaded, of a text; how often passes run.
    machine : module
        `load`, `address_of` and `versions`.
    """

    text: Any
    code: Any
    machine: Any


def text_for_llvm(program: Program, entries: Iterable[Entry]) -> str:
    """LLVM's text, for the processor of this computer."""
    from cosim_compiler.printers import llvm, llvm_entries

    module = llvm.module_of(program)
    for entry in entries:
        llvm_entries.add_entry(module, *entry)
    return module.text(platform.machine())


def text_in_c(program: Program, entries: Iterable[Entry]) -> str:
    """A file of C99."""
    from cosim_compiler.printers import c99, c_entries

    module = c99.module_of(program)
    for entry in entries:
        c_entries.add_entry(module, *entry)
    return module.text()


def _library_of(text: str, passes: int) -> bytes:
    from cosim_compiler.printers import c99

    return c_machine.library_of(text, c99.FLAGS)


BY_LLVM = Coder(text_for_llvm, machine.object_of, machine)
BY_C = Coder(text_in_c, _library_of, c_machine)


@functools.cache
def coder() -> Coder:
    """The coder of this process."""
    return BY_C if road() == C else BY_LLVM
