"""Whether the result of a function is a sum of some of its arguments, times constants, or one of them."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import definition_of

CONSTANT, STRAIGHT, CURVED = range(3)
"""How an expression depends on the moving arguments: not at all, linearly, or otherwise."""


@functools.cache
def is_straight(function: types.FunctionType, moving: frozenset[str]) -> bool:
    """Whether a function returns a number that is straight in the arguments `moving`; others are constants.

    It has to consist of assignments to names and one ``return``, with ``+``, ``-``, ``*`` and ``/``: of any
    other function the answer is no.

    Examples
    --------
    >>> def gap(x, y, share):
    ...     return x - share * y
    >>> is_straight(gap, frozenset("xy")), is_straight(gap, frozenset(["x", "y", "share"]))
    (True, False)
    """
    definition = definition_of(function)
    degrees = {a.arg: STRAIGHT if a.arg in moving else CONSTANT for a in definition.args.args}
    for name, value in environment(function).items():
        if isinstance(value, (int, float)):
            degrees.setdefault(name, CONSTANT)
    for statement in definition.body:
        if _is_text(statement):
            continue
        if isinstance(statement, ast.Return) and statement.value is not None:
            return _degree(statement.value, degrees) < CURVED
        if not (
            isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets)
        ):
            return False
        degree = _degree(statement.value, degrees)
        degrees |= {name.id: degree for name in statement.targets if isinstance(name, ast.Name)}
    return False


@functools.cache
def shown_argument(function: types.FunctionType) -> str:
    """The argument that a function returns as it is, and does nothing else; empty: none.

    Examples
    --------
    >>> def height(q):
    ...     return q
    >>> shown_argument(height)
    'q'
    """
    definition = definition_of(function)
    statements = [s for s in definition.body if not _is_text(s)]
    if len(statements) != 1 or not isinstance(statements[0], ast.Return):
        return ""
    result = statements[0].value
    names = {a.arg for a in definition.args.args}
    return result.id if isinstance(result, ast.Name) and result.id in names else ""


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a constant: a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _degree(node: ast.expr, degrees: Mapping[str, int]) -> int:
    """How an expression depends on the moving arguments: CONSTANT, STRAIGHT or CURVED."""
    if isinstance(node, ast.Constant):
        return CONSTANT if type(node.value) in (int, float) else CURVED
    if isinstance(node, ast.Name):
        return degrees.get(node.id, CURVED)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        return _degree(node.operand, degrees)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return _degree(node.value, degrees) if _degree(node.slice, degrees) == CONSTANT else CURVED
    if isinstance(node, ast.BinOp):
        left, right = _degree(node.left, degrees), _degree(node.right, degrees)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return max(left, right)
        if isinstance(node.op, ast.Mult):
            return min(left + right, CURVED)
        if isinstance(node.op, ast.Div) and right == CONSTANT:
            return left
    return CURVED
