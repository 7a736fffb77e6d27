"""What a kernel function returns, and whether it may raise, read from its source."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping, Sequence

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kept_reading import KeptReading, as_written
from cosim_compiler.sources.kernel_source import definition_of, statements
from cosim_compiler.sources.recursion import is_recursive
from cosim_compiler.sources.tree_walk import tree_nodes

MOST_ASSIGNMENTS = 10
"""Assignments of one name to another that are followed to find out whether a value is a condition."""


@functools.cache
def line_of_returned_value(function: types.FunctionType) -> int:
    """The first line that returns something other than None; 0 if there is none."""
    reading = KeptReading(*as_written(function), "returned")
    if reading.fact is not None:
        line: int = reading.fact
        return line
    line = _read_line_of_returned_value(function)
    reading.remember(line)
    return line


def _read_line_of_returned_value(function: types.FunctionType) -> int:
    for node in statements(definition_of(function)):
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            return value.lineno
    return 0


def returns_value(function: types.FunctionType) -> bool:
    """Whether the function returns something other than None."""
    return line_of_returned_value(function) != 0


@functools.cache
def may_raise(function: types.FunctionType) -> bool:
    """Whether the function, or a helper of it, raises an exception or asserts something."""
    nodes = tree_nodes(definition_of(function))
    if is_recursive(function):
        return True  # it is not followed
    if any(isinstance(node, (ast.Raise, ast.Assert)) for node in nodes):
        return True
    helpers = [h for h in environment(function).values() if isinstance(h, types.FunctionType)]
    return any(helper is not function and may_raise(helper) for helper in helpers)


@functools.cache
def returns_condition(function: types.FunctionType) -> bool:
    """Whether everything that the function returns is true or false."""
    tree = definition_of(function)
    assigned: dict[str, list[ast.expr]] = {}
    for node in tree_nodes(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(node.value)
    returned = [node.value for node in tree_nodes(tree) if isinstance(node, ast.Return)]
    return bool(returned) and all(_is_condition(value, assigned) for value in returned)


def _is_condition(value: ast.expr | None, assigned: Mapping[str, Sequence[ast.expr]], depth: int = 0) -> bool:
    """Whether a value is true or false; a name is if all values are that are assigned to it."""
    if isinstance(value, ast.BoolOp):
        return all(_is_condition(operand, assigned, depth) for operand in value.values)
    if isinstance(value, ast.IfExp):
        return all(_is_condition(branch, assigned, depth) for branch in (value.body, value.orelse))
    if isinstance(value, ast.Name) and depth < MOST_ASSIGNMENTS:
        sources = assigned.get(value.id, ())
        return bool(sources) and all(_is_condition(source, assigned, depth + 1) for source in sources)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "bool"
    is_not = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    is_constant = isinstance(value, ast.Constant) and isinstance(value.value, bool)
    return is_not or is_constant or isinstance(value, ast.Compare)
