"""A kernel function as the compiler reads it, and as C, for readers."""

from __future__ import annotations

import types
from collections.abc import Sequence

from cosim_compiler.language.program import Program
from cosim_compiler.language.types import Type
from cosim_compiler.printers import c99
from cosim_compiler.printers.plain_text import shown


def typed_code(function: types.FunctionType, kinds: Sequence[Type]) -> str:
    """The function in typed form, behind the helpers that it calls.

    Parameters
    ----------
    function : function
    kinds : sequence of Type
        Of the arguments.
    """
    return "\n\n".join(map(shown, _program(function, kinds).functions))


def code_in_c(function: types.FunctionType, kinds: Sequence[Type]) -> str:
    """The code of a function as C99, without the head that all files have."""
    module = c99.module_of(_program(function, kinds))
    pieces = [*module.types.structures.values(), *module.declared.values(), *module.functions]
    return "\n".join(pieces).rstrip()


def _program(function: types.FunctionType, kinds: Sequence[Type]) -> Program:
    program = Program()
    program.function(function, tuple(kinds))
    return program
