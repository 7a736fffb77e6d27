"""Machine code of a program, by LLVM or by the C compiler of this computer.

The printers of programs are imported when something has to be compiled.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cosim_compiler import c_machine, machine
from cosim_compiler.road import C, road

if TYPE_CHECKING:
    from cosim_compiler.language.program import Program
    from cosim_compiler.language.typed_form import Function

    Entry = tuple[str, Function, str]
    """Symbol, function and signature of what others call."""


class Machine(Protocol):
    """Loads machine code into this process."""

    def load(self, code: bytes, /) -> Any:
        """Load machine code, so that its functions can be called."""

    def address_of(self, symbol: str, /) -> int:
        """The address of a function of what was loaded."""

    def versions(self) -> Any:
        """The versions of everything that the machine code depends on."""

    def get_ready(self) -> Any:
        """Do once what each of several forked processes would do before it compiles."""


@dataclass(frozen=True)
class Coder:
    """One way to machine code.

    Attributes
    ----------
    text : callable
        Returns the text of a program with its entries.
    code : callable
        Returns the machine code of a text, which is stored and loaded.
    machine : module
        Loads machine code, and has the addresses of its functions.
    """

    text: Callable[[Program, Iterable[Entry]], str]
    code: Callable[[str], bytes]
    machine: Machine


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


def _library_of(text: str) -> bytes:
    from cosim_compiler.printers import c99

    return c_machine.library_of(text, c99.FLAGS)


BY_LLVM = Coder(text_for_llvm, machine.object_of, machine)
BY_C = Coder(text_in_c, _library_of, c_machine)


@functools.cache
def coder() -> Coder:
    """The coder of this process."""
    return BY_C if road() == C else BY_LLVM
