"""Compiling one function by the compiler of the kernel language, in the process of the tests."""

from __future__ import annotations

import itertools
from typing import Any

from cosim_compiler import machine
from cosim_compiler.called import Called
from cosim_compiler.language.program import Program
from cosim_compiler.printers.llvm import module_of
from cosim_compiler.printers.llvm_entries import add_entry
from cosim_compiler.units import Unit, symbol_in

_numbers = itertools.count(1)


def compiled(function: Any, signature: str) -> Called:
    """The function as Python calls it."""
    program = Program()
    typed = program.root(function, signature)
    module = module_of(program)
    digest = f"test{next(_numbers)}"
    add_entry(module, symbol_in(digest, 0), typed, signature)
    machine.load(machine.object_of(module.text(), 2))
    return Called(function, signature, Unit(digest, tuple(program.failures)), 0)
