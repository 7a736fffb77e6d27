"""Calls and branches with kinks in the source of a kernel function.

``abs(e)`` has a kink where e is zero. ``max(a, b)``, ``min(a, b)`` and a branch on ``a < b`` have one where a
- b is zero. ``interp(a, x, y)`` has kinks where a passes a point of the table.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cosim_compiler.sources.source_slices import names_given
from cosim_compiler.sources.tree_walk import tree_nodes

MOST_ROUNDS = 16
"""Rounds of loops around a kink, in each of which it counts as a kink of its own."""
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
LOCATED = ("abs", "fabs", "max", "min")
CALLS = (*LOCATED, "interp")
"""Functions with kinks; those of a table (`interp`) are reported, but not located."""


@dataclass(eq=False)
class KinkPlace:
    """A call or a branch with kinks.

    Attributes
    ----------
    statement : ast.stmt
        The statement that contains it.
    node : ast.expr
        The call, or the condition of the branch.
    numbers : list of ast.expr
        Expressions that are zero at the kinks.
    loops : tuple of ast.stmt
        The loops around the statement, the outermost first.
    """

    statement: ast.stmt
    node: ast.expr
    numbers: list[ast.expr]
    loops: tuple[ast.stmt, ...]


def moving_names(body: list[ast.stmt], arguments: set[str]) -> set[str]:
    """The names whose values change during a run: these arguments, and all names computed from them."""
    moving, before = set(arguments), -1
    while len(moving) != before:
        before = len(moving)
        for node in tree_nodes(ast.Module(body, [])):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
                source = node.iter if isinstance(node, ast.For) else node.value
                if source is not None and varies(source, moving):
                    moving |= names_given(node)
    return moving


def varies(node: ast.AST, moving: set[str]) -> bool:
    """Whether an expression depends on one of these names; lengths and shapes of arrays do not."""
    if isinstance(node, ast.Name):
        return node.id in moving
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return False
    return any(varies(child, moving) for child in ast.iter_child_nodes(node))


def kink_calls(tree: ast.AST, moving: set[str]) -> Iterator[ast.Call]:
    """The calls with a kink, except those whose result is only compared."""
    if isinstance(tree, ast.Call) and _has_kink(tree, moving):
        yield tree
    if not isinstance(tree, ast.Compare):
        for child in ast.iter_child_nodes(tree):
            yield from kink_calls(child, moving)


def _has_kink(node: ast.Call, moving: set[str]) -> bool:
    """Whether a call has a kink in an argument that varies."""
    if node.keywords:
        return False
    name = _name_of(node)
    if name not in CALLS or (name in ("max", "min") and len(node.args) < 2):
        return False
    return any(varies(argument, moving) for argument in node.args)


def _name_of(node: ast.Call) -> str:
    """The name of the called function, without that of its module."""
    name: str = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name


def kink_places(
    body: list[ast.stmt], moving: set[str], loops: tuple[ast.stmt, ...] = ()
) -> Iterator[KinkPlace]:
    """The calls and branches with kinks in a body, in order; `loops` are the loops around it."""
    for statement in body:
        inner_loops = (*loops, statement) if isinstance(statement, (ast.For, ast.While)) else loops
        for part in ("body", "orelse"):
            yield from kink_places(getattr(statement, part, []), moving, inner_loops)
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)) and value is not None:
            for node in _always_computed(value):
                if isinstance(node, ast.IfExp):
                    yield KinkPlace(statement, node, _numbers_of_test(node.test, moving), loops)
                elif _name_of(node) in LOCATED and _has_kink(node, moving):
                    yield KinkPlace(statement, node, _numbers_of_call(node), loops)
        if isinstance(statement, ast.If) and not all(isinstance(s, ast.Raise) for s in statement.body):
            yield KinkPlace(statement, statement.test, _numbers_of_test(statement.test, moving), loops)


def _always_computed(node: ast.AST) -> Iterator[ast.Call | ast.IfExp]:
    """The calls and branches in an expression that are evaluated whenever the expression is."""
    if isinstance(node, (ast.Call, ast.IfExp)):
        yield node
    if isinstance(node, (ast.IfExp, ast.Compare)):
        return
    children = node.values[:1] if isinstance(node, ast.BoolOp) else ast.iter_child_nodes(node)
    for child in children:
        yield from _always_computed(child)


def _numbers_of_call(call: ast.Call) -> list[ast.expr]:
    """Expressions that are zero at the kinks of a call."""
    if len(call.args) == 1:
        return [call.args[0]]
    differences: list[ast.expr] = []
    extreme = call.args[0]
    for argument in call.args[1:]:
        differences.append(ast.BinOp(extreme, ast.Sub(), argument))
        extreme = ast.Call(call.func, [extreme, argument], [])
    return differences


def _numbers_of_test(test: ast.expr, moving: set[str]) -> list[ast.expr]:
    """Expressions that are zero where the first comparison of a test changes its result."""
    if isinstance(test, ast.BoolOp):
        return _numbers_of_test(test.values[0], moving)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _numbers_of_test(test.operand, moving)
    if not isinstance(test, ast.Compare) or not all(isinstance(op, ORDERS) for op in test.ops):
        return []
    terms = [test.left, *test.comparators]
    pairs = [ast.BinOp(a, ast.Sub(), b) for a, b in itertools.pairwise(terms)]
    return [pair for pair in pairs if varies(pair, moving)]


def loop_rounds(loops: Iterable[ast.stmt]) -> list[dict[str, int]]:
    """The rounds of nested loops, each as values of the loops' variables.

    If they are not known, or more than `MOST_ROUNDS`, one empty round stands for all of them.
    """
    rounds: list[dict[str, int]] = [{}]
    for loop in loops:
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            return [{}]
        bounds, is_range = loop.iter.args, ast.unparse(loop.iter.func) == "range"
        numbers = [a.value for a in bounds if isinstance(a, ast.Constant) and isinstance(a.value, int)]
        if not is_range or len(numbers) != len(bounds) or not isinstance(loop.target, ast.Name):
            return [{}]
        rounds = [{**turn, loop.target.id: i} for turn in rounds for i in range(*numbers)]
    return rounds if len(rounds) <= MOST_ROUNDS else [{}]
