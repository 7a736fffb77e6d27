"""Arrays that a kernel function makes: not in a loop, and none of them is returned.

Such an array lies in the memory of the call. In a loop, each turn would make the same array; when the
function ends, the array is gone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from cosim_compiler.sources.tree_walk import tree_nodes
from cosim_compiler.tables import zeros


def faults_of_arrays(tree: ast.FunctionDef, names: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Line and text of a fault for each array that is made in a loop, or returned."""
    calls = [node for node in tree_nodes(tree) if isinstance(node, ast.Call) and _makes(node, names)]
    if not calls:
        return
    loops = [node for node in tree_nodes(tree) if isinstance(node, (ast.For, ast.While))]
    ids_in_loops = {id(node) for loop in loops for node in tree_nodes(loop)}
    for node in calls:
        if id(node) in ids_in_loops:
            shown = ast.unparse(node)
            yield node.lineno, f"`{shown}` in a loop: make the array before it, and set its elements in here"
    arrays = arrays_made(tree, names)
    for statement in tree_nodes(tree):
        if (
            isinstance(statement, ast.Return)
            and statement.value is not None
            and _leaves(statement.value, arrays, calls)
        ):
            shown = f"`{ast.unparse(statement)}`: an array that a function makes ends with it"
            yield statement.lineno, f"{shown}: hand one in as an argument, and write into it"


def arrays_made(tree: ast.AST, names: Mapping[str, Any]) -> set[str]:
    """The names to which an array that is made in these statements, or a part of one, is assigned."""
    call_ids = {id(node) for node in tree_nodes(tree) if isinstance(node, ast.Call) and _makes(node, names)}
    return set(_names_of(tree, call_ids)) if call_ids else set()


def _makes(node: ast.Call, names: Mapping[str, Any]) -> bool:
    """Whether a call makes an array."""
    return isinstance(node.func, ast.Name) and names.get(node.func.id) is zeros


def _names_of(tree: ast.AST, call_ids: set[int]) -> Iterator[str]:
    """The names to which the value of one of these calls, or a part of it, is assigned."""
    for node in (node for node in tree_nodes(tree) if isinstance(node, ast.Assign)):
        for target in node.targets:
            for assigned, value in _pairs(target, node.value):
                if any(id(inner) in call_ids for inner in tree_nodes(value)):
                    yield from (name.id for name in tree_nodes(assigned) if isinstance(name, ast.Name))


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Pairs of a target and its value: item by item, where both are tuples."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _leaves(value: ast.expr, arrays: set[str], calls: list[ast.Call]) -> bool:
    """Whether a returned value is an array, or a part of one; an element is a number."""
    if isinstance(value, (ast.Tuple, ast.IfExp)):
        items = [item for item in ast.iter_child_nodes(value) if isinstance(item, ast.expr)]
        return any(_leaves(item, arrays, calls) for item in items)
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice) and _leaves(value.value, arrays, calls)
    return value in calls or (isinstance(value, ast.Name) and value.id in arrays)
