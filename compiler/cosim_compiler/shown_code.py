"""A kernel function as the compiler reads it, and as C, for readers."""

from __future__ import annotations

import types

from cosim_compiler.language.program import Program
from cosim_compiler.language.types import type_of_letter
from cosim_compiler.printers import c99
from cosim_compiler.printers.plain_text import shown


def typed_code(function: types.FunctionType, letters: str) -> str:
    """The function in typed form, behind the helpers that it calls.

    Parameters
    ----------
    function : function
    letters : str
        One for each argument, as in signatures.
    """
    return "\n\n".join(map(shown, _program(function, letters).functions))


def code_in_c(function: types.FunctionType, letters: str) -> str:
    """The same as C99, without the head that all files of C have."""
    module = c99.module_of(_program(function, letters))
    pieces = [*module.types.structures.values(), *module.declared.values(), *module.functions]
    return "\n".join(pieces).rstrip()


def _program(function: types.FunctionType, letters: str) -> Program:
    program = Program()
    program.function(function, tuple(map(type_of_letter, letters)))
    return program
