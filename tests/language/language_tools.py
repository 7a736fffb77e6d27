"""Compiling one function by the compiler of the kernel language, in the process of the tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from cosim_compiler.called import Called
from cosim_compiler.code import BY_LLVM, Coder
from cosim_compiler.language.program import Program
from cosim_compiler.units import Unit, symbol_in

_numbers = itertools.count(1)


def compiled(function: Any, signature: str, coder: Coder = BY_LLVM) -> Called:
    """The function as Python calls it."""
    return compiled_together([function], signature, coder)[0]


def compiled_together(functions: Iterable[Any], signature: str, coder: Coder = BY_LLVM) -> list[Called]:
    """Functions of one signature, in one module."""
    program, digest = Program(), f"test{next(_numbers)}"
    functions = list(functions)
    entries = [
        (symbol_in(digest, i), program.root(function, signature), signature)
        for i, function in enumerate(functions)
    ]
    coder.machine.load(coder.code(coder.text(program, entries)))
    unit = Unit(digest, tuple(program.failures))
    return [Called(function, signature, unit, i, coder) for i, function in enumerate(functions)]
