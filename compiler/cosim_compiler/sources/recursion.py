"""Functions that call themselves, directly or through others: the language has none."""

from __future__ import annotations

import ast
import types

from cosim_compiler.fingerprint import is_replaced
from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import definition_of, where
from cosim_compiler.sources.tree_walk import tree_nodes

_without_recursion: set[types.FunctionType] = set()
"""Functions that are known to reach no recursion."""


def recursion_fault(function: types.FunctionType) -> str:
    """A sentence with file and line if a function reaches one that calls itself; else empty."""
    return _fault(function, [])


def is_recursive(function: types.FunctionType) -> bool:
    """Whether a function reaches one that calls itself."""
    return bool(recursion_fault(function))


def _fault(function: types.FunctionType, callers: list[types.FunctionType]) -> str:
    """The fault of a function that is reached through these callers."""
    if function in _without_recursion:
        return ""
    callers = [*callers, function]
    for name, helper in environment(function).items():
        if not isinstance(helper, types.FunctionType) or is_replaced(helper):
            continue
        if helper in callers:
            line = _line_of(function, name)
            call_chain = " → ".join(f.__name__ for f in (*callers[callers.index(helper) :], helper))
            return (
                f"{where(function, line)}: {call_chain}: a kernel function cannot call itself: write a loop"
            )
        if fault := _fault(helper, callers):
            return fault
    _without_recursion.add(function)
    return ""


def _line_of(function: types.FunctionType, name: str) -> int:
    """The first line in which a function names another one."""
    named = (
        node for node in tree_nodes(definition_of(function)) if isinstance(node, ast.Name) and node.id == name
    )
    return min((node.lineno for node in named), default=function.__code__.co_firstlineno)
