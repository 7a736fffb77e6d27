"""Compile functions of tests with the compiler of the kernel language, without its cache."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable
from typing import Any

from cosim_compiler.called import Called
from cosim_compiler.code import BY_LLVM, Coder
from cosim_compiler.language.program import Program
from cosim_compiler.units import Unit, symbol_in

_numbers = itertools.count(1)


def compiled(function: Any, signature: str, coder: Coder = BY_LLVM) -> Called:
    """A function as compiled code that Python can call."""
    return compiled_together([function], signature, coder)[0]


def compiled_together(functions: Iterable[Any], signature: str, coder: Coder = BY_LLVM) -> list[Called]:
    """Functions of one signature, compiled in one module."""
    program, digest = Program(), f"test{next(_numbers)}"
    functions = list(functions)
    entries = [
        (symbol_in(digest, i), program.root(function, signature), signature)
        for i, function in enumerate(functions)
    ]
    coder.machine.load(coder.code(coder.text(program, entries)))
    unit = Unit(digest, tuple(program.failures))
    return [Called(function, signature, unit, i, coder) for i, function in enumerate(functions)]


def is_same(first: Any, second: Any) -> bool:
    """Whether two numbers are equal to the last bit; all NaN are equal."""
    if isinstance(first, float) and isinstance(second, float):
        return (first != first and second != second) or struct.pack("d", first) == struct.pack("d", second)
    return bool(first == second)
