"""Bodies of kernel functions in a plainer form: without calls of short helpers and ``a if c else b``."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Mapping
from typing import Any

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import definition_of


def with_helpers(
    body: list[ast.stmt], names: dict[str, Any], is_wanted: Callable[[types.FunctionType], bool]
) -> list[ast.stmt]:
    """The statements with the returned expression in place of each call of a helper that only returns one.

    The names that these expressions read are added to `names`. If a name has another value there, the call
    stays.
    """
    return [_Inliner(names, is_wanted).visit(statement) for statement in body]


class _Inliner(ast.NodeTransformer):
    """Replaces calls of helpers by the expressions that these return."""

    def __init__(self, names: dict[str, Any], is_wanted: Callable[[types.FunctionType], bool]) -> None:
        self.names, self.is_wanted = names, is_wanted

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        helper = self.names.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if not isinstance(helper, types.FunctionType) or not self.is_wanted(helper):
            return node
        tree = definition_of(helper)
        if len(node.args) != len(tree.args.args):
            return node  # the compiler reports this fault
        last = tree.body[-1]
        helper_names = environment(helper)
        is_short = len(tree.body) == 1 + (ast.get_docstring(tree) is not None)
        is_known = all(self.names.get(name, value) is value for name, value in helper_names.items())
        if not is_short or not is_known or not isinstance(last, ast.Return) or last.value is None:
            return node
        self.names.update(helper_names)
        arguments = dict(zip((a.arg for a in tree.args.args), node.args, strict=True))
        inner = _Replaced(arguments, node.lineno).visit(copy.deepcopy(last.value))
        return self.visit(inner) if isinstance(inner, ast.Call) else inner


class _Replaced(ast.NodeTransformer):
    """Replaces names by expressions; all nodes get one line."""

    def __init__(self, arguments: Mapping[str, ast.expr], line: int) -> None:
        self.arguments, self.line = arguments, line

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr):
            node.lineno = self.line
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802
        return copy.deepcopy(self.arguments.get(node.id, node))


def plain_branches(body: list[ast.stmt]) -> list[ast.stmt]:
    """Assignments of ``a if c else b`` written with if and else."""
    result: list[ast.stmt] = []
    for statement in body:
        for name in ("body", "orelse"):
            if isinstance(inner := getattr(statement, name, None), list):
                setattr(statement, name, plain_branches(inner))
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AugAssign)) and isinstance(value, ast.IfExp):
            branches = []
            for chosen in (value.body, value.orelse):
                branch = copy.deepcopy(statement)
                branch.value = copy.deepcopy(chosen)
                branches.append(plain_branches([branch]))
            result.append(ast.copy_location(ast.If(value.test, *branches), statement))
        else:
            result.append(statement)
    return result
