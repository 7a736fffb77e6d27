"""Slices: the statements of a function on which one number depends, as source text."""

from __future__ import annotations

import ast
from collections.abc import Callable

from cosim_compiler.sources.tree_walk import tree_nodes

Insert = Callable[[], list[ast.stmt]]
"""Makes the statements that are inserted at a place."""


def names_read(tree: ast.AST) -> set[str]:
    """Names that an expression or a statement reads."""
    return {n.id for n in tree_nodes(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def names_given(statement: ast.AST) -> set[str]:
    """Names to which an assignment or a loop assigns."""
    names: set[str] = set()
    for name in ("targets", "target"):
        targets = getattr(statement, name, [])
        for target in targets if isinstance(targets, list) else [targets]:
            for node in tree_nodes(target):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
    return names


def slice_for(body: list[ast.stmt], at: ast.stmt, insert: Insert, result: str) -> tuple[list[ast.stmt], str]:
    """The statements of a body on which a result depends, and their text.

    Parameters
    ----------
    body : list of ast.stmt
    at : ast.stmt
        The statement before which those of `insert` are put.
    insert : callable
    result : str
        A name that the inserted statements assign. It is returned where the body returns or raises.
    """
    statements, before = _copy_statements(body, at, insert, result), ""
    while (text := ast.unparse(ast.fix_missing_locations(ast.Module(statements, [])))) != before:
        statements, before = _drop_unused(statements, result), text
    return statements, text


def _copy_statements(body: list[ast.stmt], at: ast.stmt, insert: Insert, result: str) -> list[ast.stmt]:
    """A copy of statements with what is inserted, and without what they store into arguments."""
    copied: list[ast.stmt] = []
    for statement in body:
        if statement is at:
            copied += insert()
        if isinstance(statement, (ast.If, ast.For, ast.While)):
            inner = _copied(statement)
            inner.body = _copy_statements(statement.body, at, insert, result)
            inner.orelse = _copy_statements(statement.orelse, at, insert, result)
            if inner.body or inner.orelse:
                inner.body = inner.body or [ast.Pass()]
                copied.append(inner)
        elif isinstance(statement, (ast.Return, ast.Raise)):
            copied.append(ast.Return(ast.Name(result, ast.Load())))
        elif isinstance(statement, (ast.Break, ast.Continue)) or names_given(statement):
            copied.append(statement)
    return copied


def _copied(statement: ast.If | ast.For | ast.While) -> ast.If | ast.For | ast.While:
    """A shallow copy of a statement, whose blocks can be replaced."""
    copied = type(statement)(**{name: getattr(statement, name) for name in statement._fields})
    return ast.copy_location(copied, statement)


def _drop_unused(body: list[ast.stmt], result: str) -> list[ast.stmt]:
    """Statements without assignments that nothing reads, and without branches that do nothing."""
    read = {result, *names_read(ast.Module(body, []))}

    def filtered(statements: list[ast.stmt]) -> list[ast.stmt]:
        used: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                if not names_given(statement) & read:
                    continue
            elif isinstance(statement, (ast.If, ast.For, ast.While)):
                statement.body, statement.orelse = filtered(statement.body), filtered(statement.orelse)
                if not statement.orelse and all(isinstance(s, ast.Pass) for s in statement.body):
                    continue
                statement.body = statement.body or [ast.Pass()]
            used.append(statement)
        return used

    return filtered(body)
